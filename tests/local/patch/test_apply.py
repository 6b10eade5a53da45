"""Server-side apply: who states a field owns it, and only owners can make it go."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local.patch.worlds import World, worlds
from tidegate.local.errors import ApiError
from tidegate.local.patch import Applier, server_side_apply, settled, track_update
from tidegate.local.patch.apply.compare import came, changes
from tidegate.local.patch.apply.fieldset import difference, paths, union
from tidegate.local.patch.apply.managed import in_order

WORLDS = worlds()
WIDGET = WORLDS["widget"]
NOW = "2026-01-02T03:04:05Z"
LATER = "2026-01-02T04:00:00Z"
Object = dict[str, Any]

seeds = st.integers(0, 10_000)
kinds = st.sampled_from(list(WORLDS))


def apply(
    live: Object | None, config: Object, manager: str, *, world: World = WIDGET, force: bool = True, now: str = NOW
) -> Object:
    applier = Applier(
        manager=manager,
        force=force,
        now=now,
        schema=world.schema,
        api_version=world.api_version,
        kind=world.kind,
        reset=world.reset(),
    )
    return server_side_apply(live, config, applier)


def update(old: Object | None, new: Object, manager: str, *, world: World = WIDGET, now: str = NOW) -> Object:
    return track_update(
        old, new, manager=manager, api_version=world.api_version, schema=world.schema, now=now, reset=world.reset()
    )


def widget(**spec: Any) -> Object:
    return {"apiVersion": "patch.test/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}


def entries_of(obj: Object) -> list[Object]:
    entries: list[Object] = obj["metadata"].get("managedFields", [])
    return entries


def owned(obj: Object, manager: str) -> Object:
    """The fields of a manager; the empty set for one that has none."""
    return next((entry["fieldsV1"] for entry in entries_of(obj) if entry["manager"] == manager), {})


def drawn(world: World, seed: int) -> Object:
    """A configuration without empty lists, which nobody can own, and empty maps, of which nothing may be left."""
    config: Object = filled(world.config(Random(seed), "x"))
    return config


def filled(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {key: filled(field) for key, field in value.items()}
        return {key: field for key, field in inner.items() if field not in ([], {})}
    return [filled(item) for item in value] if isinstance(value, list) else value


@given(kinds, seeds, seeds, seeds)
def test_applying_twice_changes_nothing(kind: str, first: int, second: int, third: int) -> None:
    world = WORLDS[kind]
    live = apply(None, drawn(world, first), "ann", world=world)
    live = apply(live, drawn(world, second), "bob", world=world)
    once = apply(live, drawn(world, third), "ann", world=world)
    before = deepcopy(once)
    assert apply(once, drawn(world, third), "ann", world=world, now=LATER) == once == before


@given(kinds, seeds, seeds)
def test_what_an_applier_no_longer_states_goes_unless_another_owns_it(kind: str, first: int, second: int) -> None:
    world = WORLDS[kind]
    one = apply(None, drawn(world, first), "ann", world=world)
    both = apply(one, drawn(world, second), "bob", world=world)
    bare = {key: value for key, value in drawn(world, second).items() if key in ("apiVersion", "kind")}
    left = apply(both, bare | {"metadata": {"name": "x"}}, "bob", world=world)
    assert owned(left, "bob") == {}
    # Bob took over what differed; with him it is gone, and all that ann still owns is as it was.
    assert not difference(owned(both, "ann"), owned(left, "ann"))
    assert apply(left, drawn(world, first), "ann", world=world)["metadata"]["name"] == "x"


@given(kinds, seeds, seeds)
def test_without_force_nobody_loses_a_field(kind: str, first: int, second: int) -> None:
    world = WORLDS[kind]
    live = apply(None, drawn(world, first), "ann", world=world)
    before = owned(live, "ann")
    try:
        after = apply(live, drawn(world, second), "bob", world=world, force=False)
    except ApiError as refusal:
        lost = difference(before, owned(apply(live, drawn(world, second), "bob", world=world), "ann"))
        causes = [cause["field"] for cause in (refusal.details or {})["causes"]]
        assert causes
        assert set(causes) <= set(paths(lost))
    else:
        assert not difference(before, owned(after, "ann"))


@given(kinds, seeds, seeds)
def test_an_update_leaves_each_field_with_one_updater(kind: str, first: int, second: int) -> None:
    world = WORLDS[kind]
    created = update(None, drawn(world, first), "ann", world=world)
    changed = update(created, drawn(world, second) | {"metadata": created["metadata"]}, "bob", world=world)
    ann, bob = owned(changed, "ann"), owned(changed, "bob")
    assert not set(paths(ann)) & set(paths(bob))
    assert not difference(ann, union(owned(created, "ann"), bob))


@given(kinds, seeds)
def test_a_write_that_changes_nothing_changes_no_entry(kind: str, seed: int) -> None:
    world = WORLDS[kind]
    created = update(None, drawn(world, seed), "ann", world=world)
    assert update(created, deepcopy(created), "bob", world=world, now=LATER) == created


def test_a_write_that_only_moved_times_is_the_old_object() -> None:
    old = apply(None, widget(size=1), "ann")
    again = apply(old, widget(size=1, tags=[]), "ann", now=LATER)
    assert again["metadata"]["managedFields"] != old["metadata"]["managedFields"]
    decoded = again | {"spec": {"size": 1}}
    assert settled(old, decoded) is old
    assert settled(old, decoded | {"spec": {"size": 2}}) != old
    assert settled(old, widget(size=1)) == widget(size=1)


def test_a_conflict_says_whose_field_it_is() -> None:
    live = apply(None, widget(size=1, tags=["x"]), "ann")
    live = update(live, live | {"spec": {"size": 1, "tags": ["x"], "steps": ["a"]}}, "bob")
    with pytest.raises(ApiError) as refusal:
        apply(live, widget(size=2, steps=["b"]), "cy", force=False)
    assert (refusal.value.code, refusal.value.reason) == (409, "Conflict")
    assert refusal.value.message == (
        'Apply failed with 2 conflicts: conflicts with "ann":\n- .spec.size\n'
        'conflicts with "bob" using patch.test/v1:\n- .spec.steps'
    )
    assert refusal.value.details == {
        "causes": [
            {"reason": "FieldManagerConflict", "message": 'conflict with "ann"', "field": ".spec.size"},
            {
                "reason": "FieldManagerConflict",
                "message": 'conflict with "bob" using patch.test/v1',
                "field": ".spec.steps",
            },
        ]
    }


def test_stating_the_same_value_is_no_conflict_and_shares_the_field() -> None:
    live = apply(None, widget(size=1), "ann")
    both = apply(live, widget(size=1), "bob", force=False)
    assert owned(both, "ann") == owned(both, "bob") == {"f:spec": {"f:size": {}}}
    assert apply(both, widget(), "ann")["spec"] == {"size": 1}


def test_an_applier_that_changes_nothing_gets_no_time() -> None:
    """As Kubernetes does: the entry is new, but nothing was written at any time."""
    both = apply(apply(None, widget(size=1), "ann"), widget(size=1), "bob")
    assert ["time" in entry for entry in both["metadata"]["managedFields"]] == [False, True]


def test_items_with_a_defaulted_key_are_the_same_item() -> None:
    live = apply(None, widget(items=[{"name": "a", "size": 1}]), "ann")
    merged = apply(live, widget(items=[{"name": "a", "zone": "here", "size": 2}]), "bob")
    assert merged["spec"]["items"] == [{"name": "a", "zone": "here", "size": 2}]


def test_atomic_lists_and_maps_are_one_field() -> None:
    live = apply(None, widget(steps=["1"], whole={"left": 1}), "ann")
    assert owned(live, "ann") == {"f:spec": {"f:steps": {}, "f:whole": {}}}
    taken = apply(live, widget(steps=["2"], whole={"right": 1}), "bob")
    assert taken["spec"] == {"steps": ["2"], "whole": {"right": 1}}
    assert owned(taken, "ann") == {}


def test_values_without_a_schema_are_divided_as_they_show_themselves() -> None:
    live = apply(None, widget(free={"a": {"b": 1}, "list": [1]}), "ann")
    assert owned(live, "ann")["f:spec"]["f:free"] == {"f:a": {".": {}, "f:b": {}}, "f:list": {}}


def test_a_map_that_is_emptied_but_still_stated_becomes_null() -> None:
    """As in Kubernetes, where validation then refuses it unless the field may be null."""
    live = apply(None, widget(free={"a": {"b": 1}}), "ann")
    assert apply(live, widget(free={"a": {}}), "ann")["spec"] == {"free": {"a": None}}


def test_an_object_nobody_tracked_belongs_to_before_first_apply() -> None:
    live = widget(size=1, tags=["x"])
    applied = apply(live, widget(size=1), "ann")
    managers = [(entry["manager"], entry["operation"]) for entry in applied["metadata"]["managedFields"]]
    assert managers == [("ann", "Apply"), ("before-first-apply", "Update")]


def test_tracking_ends_when_it_is_reset_and_begins_with_the_next_apply() -> None:
    created = update(None, widget(size=1), "ann")
    reset = created | {"metadata": created["metadata"] | {"managedFields": [{}]}}
    cleared = update(created, reset, "ann")
    assert "managedFields" not in cleared["metadata"]
    assert "managedFields" not in update(cleared, widget(size=2), "bob")["metadata"]


def test_entries_that_make_no_sense_are_passed_over() -> None:
    created = update(None, widget(size=1), "ann")
    for nonsense in (None, [{"manager": "x"}], [{"manager": "x", "operation": "Apply", "apiVersion": "v1"}], ["x"]):
        sent = created | {"metadata": created["metadata"] | {"managedFields": nonsense}}
        assert update(created, sent, "bob") == created


def test_an_entry_that_a_client_emptied_is_dropped() -> None:
    created = update(update(None, widget(size=1), "ann"), widget(size=1), "ann")
    both = update(created, created | {"spec": {"size": 1, "tags": ["x"]}}, "bob")
    emptied = [entry | {"fieldsV1": {}} if entry["manager"] == "ann" else entry for entry in entries_of(both)]
    sent = both | {"metadata": both["metadata"] | {"managedFields": emptied}}
    assert [entry["manager"] for entry in entries_of(update(both, sent, "cy"))] == ["bob"]


def test_managers_beyond_ten_are_thrown_together() -> None:
    live = update(None, widget(table={}), "m00", now="2026-01-01T00:00:00Z")
    for number in range(1, 14):
        table = live["spec"]["table"] | {f"k{number:02}": {"n": number}}
        live = update(live, live | {"spec": {"table": table}}, f"m{number:02}", now=f"2026-01-01T00:00:{number:02}Z")
    entries = live["metadata"]["managedFields"]
    assert [entry["manager"] for entry in entries] == ["ancient-changes", *[f"m{n:02}" for n in range(5, 14)]]
    assert entries[0]["time"] == "2026-01-01T00:00:04Z"
    assert {"f:k01", "f:k04"} <= set(entries[0]["fieldsV1"]["f:spec"]["f:table"])


def test_appliers_come_first_then_the_oldest() -> None:
    def entry(manager: str, operation: str, time: str) -> Object:
        return {"manager": manager, "operation": operation, "apiVersion": "v1", "time": time, "fieldsV1": {}}

    entries = [
        entry("b", "Update", NOW),
        entry("a", "Update", LATER),
        entry("z", "Apply", LATER),
        entry("a", "Update", NOW),
    ]
    assert [(e["manager"], e["operation"], e["time"]) for e in in_order(entries)] == [
        ("z", "Apply", LATER),
        ("a", "Update", NOW),
        ("b", "Update", NOW),
        ("a", "Update", LATER),
    ]


def test_structs_of_built_in_kinds_are_nobodys_and_optional_lists_somebodys() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "labels": {"a": "b"}, "uid": "u"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", "emptyDir": {}}]},
        "status": {"phase": "Pending"},
    }
    assert owned(update(None, pod, "ann", world=WORLDS["pod"]), "ann") == {
        "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
        "f:spec": {
            "f:containers": {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}},
            "f:volumes": {".": {}, 'k:{"name":"v"}': {".": {}, "f:emptyDir": {}, "f:name": {}}},
        },
    }


def test_a_list_that_became_atomic_is_owned_as_a_whole() -> None:
    live = apply(None, widget(tags=["x"]), "ann")
    world = worlds()["widget"]
    world.schema.properties["spec"].properties["tags"].list_type = "atomic"
    assert owned(update(live, live, "bob", world=world), "ann") == {"f:spec": {"f:tags": {}}}


def test_kubectl_takes_over_what_it_set_before_it_applied_on_the_server() -> None:
    text = '{"apiVersion":"patch.test/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1}}'
    annotation = {"kubectl.kubernetes.io/last-applied-configuration": text}
    created = widget(size=1) | {"metadata": {"name": "w", "annotations": annotation}}
    live = update(None, created, "kubectl-client-side-apply")
    applied = apply(live, widget(size=2), "kubectl", force=False)
    assert applied["spec"]["size"] == 2
    assert '"size":2' in applied["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
    with pytest.raises(ApiError):
        apply(live, widget(size=2), "ann", force=False)
    changed = update(live, live | {"spec": {"size": 5}}, "bob")
    with pytest.raises(ApiError):
        apply(changed, widget(size=2), "kubectl", force=False)


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ([], 400),
        (widget() | {"kind": "Gadget"}, 400),
        (widget() | {"metadata": {"name": "w", "managedFields": []}}, 400),
        (widget(nonsense=1), 500),
        (widget(size="big"), 500),
        (widget(tags=["x", "x"]), 500),
        (widget(items=[{"size": 1}, {"size": 2}]), 500),
    ],
)
def test_a_configuration_without_sense_is_refused(config: Any, code: int) -> None:
    with pytest.raises(ApiError) as refusal:
        apply(None, config, "ann")
    assert refusal.value.code == code


@given(seed=seeds, kind=kinds)
def test_who_creates_an_object_has_changed_it_from_nothing(seed: int, kind: str) -> None:
    """The fields of a new object are remembered for its replicas; they are those that a comparison finds."""
    world = WORLDS[kind]
    new = {"metadata": {"name": "x", "labels": {"a": "b"}}} | world.draw(Random(seed))
    for _ in range(2):
        assert came(new, world.schema) == changes({}, new, world.schema)
