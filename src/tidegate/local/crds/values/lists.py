"""Lists that are sets or maps hold no two items of one value or one key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.crds.values.result import shown
from tidegate.local.errors import FieldError
from tidegate.local.schema.node import Schema

Repeats = Callable[[Any, str], list[FieldError]]

_encode = msgspec.json.Encoder(order="sorted").encode


def repeats(schema: Schema) -> Repeats | None:
    """A function that finds repeated items below a value at a path; None if no list below is a set or a map."""
    named = {name: inner for name, child in schema.properties.items() if (inner := repeats(child))}
    values = repeats(schema.values) if schema.values else None
    items = repeats(schema.items) if schema.items else None
    keyed = schema.list_type in ("set", "map")
    if not (named or values or items or keyed):
        return None

    def check_object(value: Object, path: str) -> list[FieldError]:
        found: list[FieldError] = []
        for key, child in value.items():
            if values:
                found += values(child, f"{path}[{key}]")
            if key in named:
                found += named[key](child, f"{path}.{key}" if path else key)
        return found

    def check(value: Any, path: str) -> list[FieldError]:
        if isinstance(value, dict):
            return check_object(value, path)
        if not isinstance(value, list):
            return []
        found = _in_list(schema, value, path) if keyed else []
        if items:
            for index, child in enumerate(value):
                found += items(child, f"{path}[{index}]")
        return found

    return check


def _in_list(schema: Schema, value: list[Any], path: str) -> list[FieldError]:
    if schema.list_type == "set":
        return [_duplicate(f"{path}[{index}]", value[index]) for index in _second_times(value)]
    if len(schema.map_keys) == 1 and _plainly_distinct(value, schema.map_keys[0]):
        return []
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            said = "must be an object for an array of list-type map"
            return [FieldError("Invalid value", f"{path}[{index}]", f"Invalid value: {shown(item)}: {said}")]
    keys = [{key: item[key] for key in schema.map_keys if key in item} if item else {} for item in value]
    return [_duplicate(f"{path}[{index}]", keys[index]) for index in _second_times(keys)]


def _duplicate(place: str, value: Any) -> FieldError:
    return FieldError("Duplicate value", place, f"Duplicate value: {shown(value)}")


def _plainly_distinct(items: list[Any], key: str) -> bool:
    """The usual case at little cost: every item is named by a text, and no two alike."""
    names = [item.get(key) if item.__class__ is dict else None for item in items]
    return all(name.__class__ is str for name in names) and len(set(names)) == len(items)


def _second_times(values: list[Any]) -> list[int]:
    """Where a value stands for the second time; a third time is not told again."""
    if all(value.__class__ is str for value in values) and len(set(values)) == len(values):
        return []
    seen: dict[bytes, int] = {}
    found = []
    for index, value in enumerate(values):
        encoded = _encode(value)
        seen[encoded] = seen.get(encoded, 0) + 1
        if seen[encoded] == 2:
            found.append(index)
    return found
