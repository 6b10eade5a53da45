"""Field sets obey the laws of sets, in the form the API shows them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.patch.apply import fieldset
from tidegate.local.patch.apply.fieldset import FieldSet, difference, intersection, parsed, paths, union, without

elements = st.sampled_from(["f:a", "f:b", 'k:{"name":"x"}', 'k:{"name":"y"}', 'v:"s"', "i:0"])
Paths = frozenset[tuple[str, ...]]
path_sets = st.frozensets(st.lists(elements, min_size=1, max_size=3).map(tuple), max_size=6)


def built(members: Paths) -> FieldSet:
    root: FieldSet = {}
    for path in members:
        node = root
        for element in path:
            node = node.setdefault(element, {})
        node["."] = {}
    return tidied(root)


def tidied(node: FieldSet) -> FieldSet:
    return {
        element: {} if list(below) == ["."] else tidied(below) for element, below in node.items() if element != "."
    } | ({".": {}} if "." in node else {})


def members(node: FieldSet, path: tuple[str, ...] = ()) -> Paths:
    found: set[tuple[str, ...]] = set()
    for element, below in node.items():
        if element == ".":
            continue
        if not below or "." in below:
            found.add((*path, element))
        found |= members(below, (*path, element))
    return frozenset(found)


@given(path_sets)
def test_a_set_is_its_paths(given_paths: Paths) -> None:
    assert members(built(given_paths)) == given_paths
    assert parsed(built(given_paths)) == built(given_paths)
    assert len(list(paths(built(given_paths)))) == len(given_paths)


@given(path_sets, path_sets)
def test_operations_are_those_of_sets(left: Paths, right: Paths) -> None:
    one, two = built(left), built(right)
    assert union(one, two) == built(left | right)
    assert intersection(one, two) == built(left & right)
    assert difference(one, two) == built(left - right)
    below = {path for path in left if any(path[: len(prefix)] == prefix for prefix in right)}
    assert without(one, two) == built(left - below)
    assert (one, two) == (built(left), built(right))


@given(path_sets, path_sets)
def test_what_changes_nothing_answers_with_the_same_set(left: Paths, right: Paths) -> None:
    one = built(left)
    assert difference(one, built(right - left)) is one
    assert union(one, built(left & right)) is one or not left


def test_paths_read_as_kubernetes_writes_them() -> None:
    fields = {
        "f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}}}, "f:tags": {'v:"x"': {}}}
    }
    assert list(paths(fields)) == [
        '.spec.ports[port=80,protocol="TCP"]',
        '.spec.ports[port=80,protocol="TCP"].name',
        '.spec.tags[="x"]',
    ]


def test_sets_from_clients_are_written_our_way() -> None:
    sloppy: Any = {'k:{ "b": 1, "a": "<" }': {}, "x:unknown": {"f:a": {}}, "i:01": {}}
    assert parsed(sloppy) == {'k:{"a":"\\u003c","b":1}': {}, "i:1": {}}
    for wrong in ({"f": {}}, {"fa": {}}, {"k:x": {}}, {"v:": {}}, {"i:x": {}}, {"f:a": 1}, [], "x"):
        assert parsed(wrong) is None


def test_membership_is_told_from_leading_further() -> None:
    fields = {"f:a": {}, "f:b": {"f:c": {}}, "f:d": {".": {}, "f:e": {}}}
    assert [fieldset.has(fields, name) for name in ("f:a", "f:b", "f:d", "f:x")] == [True, False, True, False]
