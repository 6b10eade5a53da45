"""Custom objects, case by case: what was once judged differently by a real API server, and what users meet first."""

# ruff: noqa: E501  (one case, one line)

from __future__ import annotations

from typing import Any

import pytest

from tidegate.local.crds.objects import CustomResource
from tidegate.local.crds.scale import Scale
from tidegate.local.errors import ApiError

Json = Any


def resource(spec: Json, **more: Json) -> CustomResource:
    return CustomResource("a.b/v1", "Foo", {"type": "object", "properties": {"spec": spec, **more}})


def an_object(spec: Json, **more: Json) -> Json:
    return {"apiVersion": "a.b/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": spec, **more}


def said(spec: Json, value: Json) -> list[str]:
    return [error.message for error in resource(spec).validate_create(an_object(value))]


def test_unknown_and_repeated_fields_are_complained_of_in_kubernetes_words() -> None:
    """Repeated ones first, then those of the metadata, then the rest by path."""
    made = resource({"type": "object", "properties": {"a": {"type": "string"}}})
    body = b"""{"apiVersion": "a.b/v1", "kind": "Foo", "metadata": {"name": "x", "odd": 1},
               "spec": {"z": 1, "a": "1", "a": "2", "b": {"c": 1}}}"""
    decoded = made.decode(body)
    assert decoded.complaints == [
        'duplicate field "spec.a"',
        'unknown field "metadata.odd"',
        'unknown field "spec.b"',
        'unknown field "spec.z"',
    ]
    assert decoded.obj == an_object({"a": "2"})


def test_metadata_inside_embedded_objects_is_read_as_metadata() -> None:
    """Its unknown fields go, and its names are judged."""
    template = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    made = resource({"type": "object", "properties": {"template": template}})
    obj = an_object({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"odd": 1, "name": "a/b"}, "x": 1}})
    assert made.admit(obj) == ['unknown field "spec.template.metadata.odd"']
    assert obj["spec"]["template"] == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a/b"}, "x": 1}
    assert [error.field for error in made.validate_create(obj)] == ["spec.template.metadata.name"]


def test_preserved_parts_keep_unknown_fields_but_known_fields_are_pruned_again() -> None:
    known = {"type": "object", "properties": {"a": {"type": "string"}}}
    made = resource({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"known": known}})
    obj = an_object({"free": {"x": 1}, "known": {"a": "1", "b": 2}})
    assert made.prune(obj) == ["spec.known.b"]
    assert obj["spec"] == {"free": {"x": 1}, "known": {"a": "1"}}


def test_an_object_in_place_of_a_scalar_loses_its_fields() -> None:
    made = resource({"type": "object", "properties": {"a": {"type": "string"}}})
    obj = an_object({"a": {"b": 1}})
    assert made.prune(obj) == ["spec.a.b"]


def test_a_null_goes_unless_it_is_allowed_or_a_default_takes_its_place() -> None:
    fields = {
        "plain": {"type": "string"},
        "nullable": {"type": "string", "nullable": True},
        "defaulted": {"type": "string", "default": "d"},
        "both": {"type": "string", "nullable": True, "default": "d"},
    }
    made = resource({"type": "object", "properties": fields})
    obj = an_object(dict.fromkeys(fields))
    made.prune(obj)
    made.default(obj)
    assert obj["spec"] == {"nullable": None, "defaulted": "d", "both": None}


def test_defaults_reach_into_lists_maps_and_other_defaults() -> None:
    inner = {"type": "object", "default": {}, "properties": {"n": {"type": "integer", "default": 1}}}
    fields = {"list": {"type": "array", "items": inner}, "map": {"type": "object", "additionalProperties": inner}}
    made = resource({"type": "object", "properties": fields | {"one": inner}})
    obj = an_object({"list": [{}, None], "map": {"a": {}, "b": None}})
    made.default(obj)
    one = {"n": 1}
    assert obj["spec"] == {"list": [one, one], "map": {"a": one, "b": one}, "one": one}


def test_a_default_is_never_shared_between_objects() -> None:
    made = resource({"type": "object", "properties": {"l": {"type": "array", "items": {}, "default": []}}})
    one, other = an_object({}), an_object({})
    made.default(one)
    made.default(other)
    one["spec"]["l"].append(1)
    assert other["spec"]["l"] == []


@pytest.mark.parametrize(
    ("spec", "value", "message"),
    [
        ({"type": "string"}, 1, 'spec: Invalid value: "integer": spec in body must be of type string: "integer"'),
        ({"type": "integer", "maximum": 3}, 4, "spec: Invalid value: 4: spec in body should be less than or equal to 3"),
        ({"type": "string", "maxLength": 1}, "ab", "spec: Too long: may not be more than 1 byte"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 1}, [1, 2], "spec: Too many: 2: must have at most 1 item"),
        ({"type": "string", "enum": ["a"]}, "b", 'spec: Unsupported value: "b": supported values: "a"'),
        ({"type": "string", "nullable": True, "enum": ["a"]}, None, 'spec: Unsupported value: null: supported values: "a"'),
        ({"type": "string", "pattern": "^a$"}, "a\n", "spec: Invalid value: \"a\\n\": spec in body should match '^a$'"),
        ({"type": "number", "maximum": 1e6}, 1e7, "spec: Invalid value: 1e+07: spec in body should be less than or equal to 1e+06"),
        ({"type": "string", "format": "date"}, "x", 'spec: Invalid value: "x": spec in body must be of type date: "x"'),
    ],
)  # fmt: skip
def test_messages_are_kubernetes_own(spec: Json, value: Json, message: str) -> None:
    assert said(spec, value) == [message]


def test_a_missing_field_is_required_by_its_path() -> None:
    assert said({"type": "object", "required": ["a"]}, {}) == ["spec.a: Required value"]


def test_a_list_passes_for_a_text_with_a_format() -> None:
    """Odd, but so it is: Kubernetes takes it."""
    assert said({"type": "string", "format": "date"}, [1]) == []


def test_bounds_of_integers_are_cut_to_integers() -> None:
    """A number's maximum of 1e300 refuses every integer, as a real server does."""
    assert said({"type": "number", "maximum": 1e300}, 5) == [
        "spec: Invalid value: 5: spec in body should be less than or equal to -9223372036854775808"
    ]


def test_of_failed_branches_the_one_that_nearly_held_is_told() -> None:
    spec = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    spec["anyOf"] = [{"required": ["a", "b"]}, {"required": ["b"], "minProperties": 1}]
    assert said(spec, {"a": "x"})[0] == '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)'


def test_items_of_sets_and_maps_are_told_apart() -> None:
    one = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}
    assert said(one, ["a", "b", "a", "a"]) == ['spec[2]: Duplicate value: "a"']
    item = {"type": "object", "properties": {"k": {"type": "string"}}}
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    assert said(keyed, [{"k": "a"}, {"k": "b"}, {"k": "a"}]) == ['spec[2]: Duplicate value: {"k":"a"}']


def test_a_key_of_the_wrong_type_is_told_and_breaks_nothing() -> None:
    item = {"type": "object", "properties": {"k": {"type": "string"}}}
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    assert said(keyed, [{"k": ["a"]}, {"k": ["a"]}]) == [
        'spec[0].k: Invalid value: "array": spec[0].k in body must be of type string: "array"',
        'spec[1].k: Invalid value: "array": spec[1].k in body must be of type string: "array"',
        'spec[1]: Duplicate value: {"k":["a"]}',
    ]


def test_rules_are_not_asked_of_an_object_that_is_the_wrong_shape() -> None:
    spec = {"type": "object", "required": ["a"], "x-kubernetes-validations": [{"rule": "self.a == 1"}]}
    found = said(spec | {"properties": {"a": {"type": "integer"}}}, {})
    assert found[0] == "spec.a: Required value"
    assert found[1].startswith("<nil>: Invalid value: null: some validation rules were not checked")


def test_an_unchanged_wrong_value_is_let_be_and_a_changed_one_is_not() -> None:
    fields = {"old": {"type": "string", "maxLength": 1}, "new": {"type": "string", "maxLength": 1}}
    made = resource({"type": "object", "properties": fields})
    old = an_object({"old": "too long", "new": "x"})
    new = an_object({"old": "too long", "new": "too long"})
    assert [error.field for error in made.validate_update(new, old)] == ["spec.new"]


def test_a_status_write_is_judged_by_the_status_alone() -> None:
    status = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}}
    made = resource({"type": "string"}, status=status)
    old = an_object(1)
    assert [error.message for error in made.validate_status(old | {"status": {"n": -1}}, old)] == [
        "status.n: Invalid value: -1: n in body should be greater than or equal to 0"
    ]


def test_scale_reads_and_writes_the_fields_the_definition_names() -> None:
    scale = Scale(".spec.size.replicas", ".status.replicas", ".status.selector")
    obj = an_object({"size": {"replicas": 3}}, status={"replicas": 2, "selector": "a=b"})
    view = scale.view(obj)
    assert (view["spec"], view["status"]) == ({"replicas": 3}, {"replicas": 2, "selector": "a=b"})
    scale.write(obj, 5)
    assert obj["spec"] == {"size": {"replicas": 5}}
    with pytest.raises(ApiError, match="does not exist"):
        scale.view(an_object({}))


def test_replicas_that_are_no_count_are_refused() -> None:
    made = CustomResource("a.b/v1", "Foo", {"type": "object"}, Scale(".spec.replicas", ".status.replicas"))
    assert [error.message for error in made.validate_create(an_object({"replicas": -1}))] == [
        ".spec.replicas: Invalid value: -1: should be a non-negative integer"
    ]
    assert made.validate_create(an_object({"replicas": "x"}))[0].field == ".spec.replicas"
