"""A configuration laid over the live object: fields it states win, everything else stays."""

from __future__ import annotations

from typing import Any

from tidegate.local.patch.apply.walk import DEDUCED, element_of, is_divided_map
from tidegate.local.schema.node import Schema

_DUPLICATED: Any = object()


def merged(live: Any, config: Any, schema: Schema) -> Any:
    """`config` over `live`. Neither is changed; what only one of them has is shared with it."""
    if isinstance(config, dict | None) and isinstance(live, dict) and is_divided_map(schema) and _is_map(schema):
        return _merged_map(live, config or {}, schema)
    if isinstance(config, list | None) and isinstance(live, list) and schema.list_type != "atomic":
        return _merged_list(live, config or [], schema)
    return config


def _is_map(schema: Schema) -> bool:
    return schema.type in ("object", "") and not schema.int_or_string


def _merged_map(live: dict[str, Any], config: dict[str, Any], schema: Schema) -> dict[str, Any]:
    result = dict(live)
    properties = schema.properties
    values = schema.values or DEDUCED
    for key, value in config.items():
        result[key] = merged(live[key], value, properties.get(key) or values) if key in live else value
    return result


def _merged_list(live: list[Any], config: list[Any], schema: Schema) -> list[Any]:
    """Items of both, in an order that keeps each list's own order; where both cannot be kept, the configuration's."""
    item_schema = schema.items or DEDUCED
    left = [element_of(item, schema) for item in live]
    right = [element_of(item, schema) for item in config]
    live_items: dict[str, Any] = {}
    for element, item in zip(left, live, strict=True):
        live_items[element] = _DUPLICATED if element in live_items else item
    config_items = dict(zip(right, config, strict=True))
    result = []
    for element, live_item in _interleaved(left, live, right):
        if element not in config_items:
            result.append(live_item)
        elif live_items.get(element, _DUPLICATED) is _DUPLICATED:
            result.append(config_items[element])
        else:
            result.append(merged(live_items[element], config_items[element], item_schema))
    return result


def _interleaved(left: list[str], live: list[Any], right: list[str]) -> list[tuple[str, Any]]:
    """The elements of the merged list in order, each with its live item if only `left` has it."""
    ours, theirs = set(right), set(left)
    shared = [element for element in right if element in theirs]
    result: list[tuple[str, Any]] = []
    done: set[str] = set()
    at_left = at_right = at_shared = 0
    while at_left < len(left) or at_right < len(right):
        if at_left < len(left):
            element = left[at_left]
            both = at_right < len(right)
            expected = shared[at_shared] if at_shared < len(shared) else None
            if both and element == right[at_right]:
                done.add(element)
                result.append((element, None))
                at_left, at_right, at_shared = at_left + 1, at_right + 1, at_shared + 1
                continue
            if both and element in ours and expected is not None and expected != element:
                # The configuration has moved this item: it comes later.
                at_left += 1
                continue
            if element not in ours:
                result.append((element, live[at_left]))
                at_left += 1
                continue
            if element in done:
                at_left += 1
        if at_right < len(right):
            element = right[at_right]
            done.add(element)
            result.append((element, None))
            if at_shared < len(shared) and shared[at_shared] == element:
                at_shared += 1
            at_right += 1
    return result
