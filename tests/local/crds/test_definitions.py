"""CustomResourceDefinitions: defaults, status, names, what an update may change, and tables."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tidegate.local.crds.checks import crd_warnings, validate_crd_create, validate_crd_status, validate_crd_update
from tidegate.local.crds.definition import Definition, condition, default_crd, prepare_create, prepare_update
from tidegate.local.crds.names import accept_names
from tidegate.local.crds.paths import column_value, selectable_value

Json = Any
NOW = "2030-01-01T00:00:00Z"


def a_definition(plural: str = "foos", kind: str = "Foo", schema: Json = None, **names: Json) -> Json:
    schema = schema or {"type": "object"}
    crd = {
        "metadata": {"name": f"{plural}.a.example.com"},
        "spec": {
            "group": "a.example.com",
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": kind, **names},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }  # fmt: skip
    default_crd(crd)
    prepare_create(crd)
    return crd


def served(crd: Json, *others: Json) -> Json:
    return crd | {"status": accept_names(crd, others, now=NOW)}


def fields(found: list[Any]) -> list[str]:
    return [error.field for error in found]


def test_what_a_definition_leaves_out_is_filled_in() -> None:
    crd = a_definition()
    assert crd["spec"]["names"] == {"plural": "foos", "kind": "Foo", "singular": "foo", "listKind": "FooList"}
    assert crd["spec"]["conversion"] == {"strategy": "None"}
    assert crd["status"] == {
        "conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"],
    }  # fmt: skip
    assert validate_crd_create(crd) == []


def test_accepted_names_make_a_definition_established() -> None:
    crd = served(a_definition(shortNames=["f"]))
    assert [(held["type"], held["status"], held["reason"]) for held in crd["status"]["conditions"]] == [
        ("NamesAccepted", "True", "NoConflicts"),
        ("Established", "True", "InitialNamesAccepted"),
    ]
    made = Definition.parse(crd)
    assert (made.established, made.plural, made.short_names, made.storage_version) == (True, "foos", ("f",), "v1")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ({"kind": "Foo", "singular": "bar", "listKind": "BarList"}, "KindConflict"),
        ({"kind": "Bar", "singular": "foo"}, "SingularConflict"),
        ({"kind": "Bar", "shortNames": ["x", "f"]}, "ShortNamesConflict"),
        ({"kind": "Bar", "listKind": "FooList"}, "ListKindConflict"),
    ],
)
def test_a_name_that_is_taken_keeps_a_definition_from_being_served(names: Json, reason: str) -> None:
    first = served(a_definition(shortNames=["f"]))
    second = served(a_definition("bars", **names), first)
    held = condition(second, "NamesAccepted")
    assert (held["status"], held["reason"]) == ("False", reason)
    assert held["message"].endswith("is already in use")
    assert condition(second, "Established")["reason"] == "NotAccepted"
    assert not Definition.parse(second).established


def test_a_name_is_accepted_once_it_is_free() -> None:
    first = served(a_definition())
    second = served(a_definition("bars"), first)
    freed = served(second)
    assert condition(freed, "Established")["status"] == "True"
    assert freed["status"]["acceptedNames"]["kind"] == "Foo"


def test_accepting_again_moves_no_time() -> None:
    first = served(a_definition())
    assert accept_names(first, [], now="2031-01-01T00:00:00Z") == first["status"]


def test_scope_kind_group_and_plural_never_change_once_served() -> None:
    old = served(a_definition())
    new = copy.deepcopy(old)
    new["spec"]["scope"] = "Cluster"
    new["spec"]["names"]["kind"] = "Bar"
    prepare_update(new, old)
    assert fields(validate_crd_update(new, old)) == ["spec.scope", "spec.names.kind"]
    assert validate_crd_update(copy.deepcopy(old), old) == []


def test_a_new_storage_version_is_remembered_and_an_old_one_may_not_vanish() -> None:
    old = served(a_definition())
    new = copy.deepcopy(old)
    new["spec"]["versions"][0]["storage"] = False
    new["spec"]["versions"].append(old["spec"]["versions"][0] | {"name": "v2"})
    prepare_update(new, old)
    assert new["status"]["storedVersions"] == ["v1", "v2"]
    assert validate_crd_update(new, old) == []
    gone = copy.deepcopy(new)
    del gone["spec"]["versions"][0]
    prepare_update(gone, new)
    assert fields(validate_crd_update(gone, new)) == ["status.storedVersions[0]"]


def test_a_kubernetes_group_wants_leave() -> None:
    crd = a_definition()
    crd["spec"]["group"], crd["metadata"]["name"] = "x.k8s.io", "foos.x.k8s.io"
    assert fields(validate_crd_create(crd)) == ["metadata.annotations[api-approved.kubernetes.io]"]
    crd["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, a test"}
    assert validate_crd_create(crd) == []


def test_what_all_versions_share_is_told_of_the_spec_and_what_differs_of_the_version() -> None:
    wrong = a_definition(schema={"type": "string"})
    assert fields(validate_crd_create(wrong)) == ["spec.validation.openAPIV3Schema.type"]
    wrong["spec"]["versions"].append(
        {"name": "v2", "served": True, "storage": False, "schema": {"openAPIV3Schema": {"type": "object"}}}
    )
    assert fields(validate_crd_create(wrong)) == ["spec.versions[0].schema.openAPIV3Schema.type"]


def test_a_rule_on_a_field_that_does_not_exist_is_refused() -> None:
    spec = {"type": "object", "properties": {"x": {"type": "integer"}}}
    spec["x-kubernetes-validations"] = [{"rule": "self.z == 100"}]
    found = validate_crd_create(a_definition(schema={"type": "object", "properties": {"spec": spec}}))
    assert "undefined field 'z'" in found[0].message


def test_formats_that_mean_nothing_are_warned_of_once() -> None:
    crd = a_definition(schema={"type": "object", "properties": {"a": {"type": "string", "format": "foo"}}})
    assert crd_warnings(crd) == ['unrecognized format "foo"']
    assert crd_warnings(crd, crd) == []


def test_a_written_status_may_not_hold_impossible_names() -> None:
    crd = served(a_definition())
    crd["status"]["acceptedNames"]["plural"] = "Foos"
    assert fields(validate_crd_status(crd)) == ["status.acceptedNames.plural"]


@pytest.mark.parametrize(
    ("path", "kind", "cell"),
    [
        (".spec.n", "integer", 3),
        (".spec.n", "string", "3"),
        (".spec.f", "integer", 2),
        (".spec.on", "boolean", True),
        (".spec.missing", "string", None),
        (".spec.list[0]", "string", "a"),
        (".spec.list[*]", "string", "a"),
        ('.status.conditions[?(@.type=="Ready")].status', "string", "True"),
        (".metadata.labels.a\\.b/c", "string", "x"),
        (".metadata.labels['a\\.b/c']", "string", "x"),
        (".metadata.creationTimestamp", "date", NOW),
        (".spec.list", "string", '["a","b"]'),
        (".spec.n", "boolean", None),
    ],
)
def test_a_printer_column_shows_what_its_path_finds(path: str, kind: str, cell: Json) -> None:
    obj = {
        "metadata": {"labels": {"a.b/c": "x"}, "creationTimestamp": NOW},
        "spec": {"n": 3, "f": 2.5, "on": True, "list": ["a", "b"]},
        "status": {"conditions": [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]},
    }
    assert column_value(obj, path, kind) == cell


def test_a_selectable_field_is_a_text_and_empty_for_nothing() -> None:
    obj = {"spec": {"on": True, "n": 3, "s": "x"}}
    found = [selectable_value(obj, path) for path in (".spec.on", ".spec.n", ".spec.s", ".spec.no.way")]
    assert found == ["true", "3", "x", ""]
