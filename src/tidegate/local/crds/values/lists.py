"""Lists that are sets or maps hold no two items of one value or one key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local import errors
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
        return [errors.duplicate(f"{path}[{index}]", value[index]) for index in _second_times(value)]
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            said = "must be an object for an array of list-type map"
            return [errors.invalid(f"{path}[{index}]", item, said)]
    keys = [{key: item[key] for key in schema.map_keys if key in item} if item else {} for item in value]
    return [errors.duplicate(f"{path}[{index}]", keys[index]) for index in _second_times(keys)]


def _second_times(values: list[Any]) -> list[int]:
    """Where a value stands for the second time; a third time is not told again."""
    seen: dict[bytes, int] = {}
    found = []
    for index, value in enumerate(values):
        encoded = _encode(value)
        seen[encoded] = seen.get(encoded, 0) + 1
        if seen[encoded] == 2:
            found.append(index)
    return found
