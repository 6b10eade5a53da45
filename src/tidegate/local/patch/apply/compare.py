"""What changed between two versions of an object, as field sets."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType
from typing import Any, NamedTuple

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.patch.apply.fieldset import MEMBER, SELF, FieldSet, union, without
from tidegate.local.patch.apply.presence import always_present
from tidegate.local.patch.apply.walk import DEDUCED, is_divided_map, items_by_element, whole
from tidegate.local.schema.node import Schema


class Changes(NamedTuple):
    """`set`: fields that came or have another value. `gone`: fields that are no more."""

    set: FieldSet
    gone: FieldSet

    def outside(self, reset: FieldSet) -> Changes:
        """Without the fields that the server puts back anyway."""
        return Changes(without(self.set, reset), without(self.gone, reset)) if reset else self

    @property
    def touched(self) -> FieldSet:
        return union(self.set, self.gone)


NOTHING = Changes({}, {})
_ABSENT: Any = object()
_CONTAINERS = (dict, list)
_MOST_TEXTS, _MOST_BYTES = 256, 16_384
"""New objects whose fields are remembered: replicas differ in their metadata only."""


def changes(old: Any, new: Any, schema: Schema) -> Changes:
    """What happened from `old` to `new`, both objects of shape `schema`."""
    found = Changes({}, {})
    _compare_maps(old, new, schema, found)
    return found


def came(new: Object, schema: Schema) -> Changes:
    """What there is of a new object: all of it."""
    metadata = new.get("metadata")
    named = changes({}, {"metadata": metadata} if metadata is not None else {}, schema)
    rest = msgspec.json.encode({key: value for key, value in new.items() if key != "metadata"})
    if len(rest) > _MOST_BYTES:
        return changes({}, new, schema)
    return Changes(named.set | _came(rest, schema).set, {})


@lru_cache(maxsize=_MOST_TEXTS)
def _came(text: bytes, schema: Schema) -> Changes:
    return changes({}, msgspec.json.decode(text), schema)


def _compare_maps(old: Any, new: Any, schema: Schema, into: Changes) -> None:
    properties = schema.properties
    values = schema.values or DEDUCED
    zeros: dict[str, Any] = always_present(schema.name) if schema.name else {}
    for key, value in new.items():
        before = old.get(key, _ABSENT)
        if before is value:
            continue
        if before is _ABSENT:
            before = zeros.get(key, _ABSENT)
        _compare_field("f:" + key, before, value, properties.get(key) or values, into)
    for key, value in old.items():
        if key not in new:
            _compare_field("f:" + key, value, zeros.get(key, _ABSENT), properties.get(key) or values, into)


def _compare_field(element: str, old: Any, new: Any, schema: Schema, into: Changes) -> None:
    """Adds to `into` what happened to one field or item."""
    if old is _ABSENT:
        into.set[element] = whole(new, schema)
    elif new is _ABSENT:
        into.gone[element] = whole(old, schema)
    elif not _same(old, new):
        if type(new) in _CONTAINERS or type(old) in _CONTAINERS:
            _compare_containers(element, old, new, schema, into)
        else:
            into.set[element] = MEMBER


def _same(old: Any, new: Any) -> bool:
    """Equal, and of one type: to Python 1 is true."""
    return old == new and type(old) is type(new)


def _compare_containers(element: str, old: Any, new: Any, schema: Schema, into: Changes) -> None:
    """One field that was a map or list, or is one now, and is not the same."""
    sort = dict if type(old) is dict or type(new) is dict else list
    divided = is_divided_map(schema) if sort is dict else schema.list_type != "atomic"
    if not divided or not (old or new):
        into.set[element] = MEMBER
        return
    inside = Changes({}, {})
    # Null counts as an empty map or list; a value of another sort is replaced, and what was inside came or went.
    if type(old) not in (sort, NoneType) or type(new) not in (sort, NoneType):
        inside.set[SELF] = MEMBER
    before: Any = old if type(old) is sort else sort()
    after: Any = new if type(new) is sort else sort()
    if sort is dict:
        _compare_maps(before, after, schema, inside)
    else:
        _compare_items(before, after, schema, inside)
    if inside.set:
        into.set[element] = MEMBER if len(inside.set) == 1 and SELF in inside.set else inside.set
    if inside.gone:
        into.gone[element] = inside.gone


def _compare_items(old: list[Any], new: list[Any], schema: Schema, into: Changes) -> None:
    item_schema = schema.items or DEDUCED
    before = items_by_element(old, schema)
    after = items_by_element(new, schema)
    for element in before | after:
        lefts, rights = before.get(element, []), after.get(element, [])
        if len(lefts) > 1 and len(rights) > 1:
            if not _same(lefts, rights):
                into.set[element] = MEMBER
            continue
        # Duplicates have no fields of their own: the one that stands alone came or went as a whole.
        left = lefts[0] if len(lefts) == 1 else _ABSENT
        right = rights[0] if len(rights) == 1 else _ABSENT
        if left is not _ABSENT or right is not _ABSENT:
            _compare_field(element, left, right, item_schema, into)
        if len(lefts) > 1:
            into.gone[element] = MEMBER
        if len(rights) > 1:
            into.set[element] = MEMBER
