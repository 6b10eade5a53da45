"""The old value beside the new one, so that an update may leave alone what was already wrong.

A fault is forgiven where the value it lies in is the same as before. Old and new are matched field by field, and item
by item in lists of type "map"; items of other lists have no old self, so such a list is forgiven as a whole or not at
all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tidegate.local.schema.node import Schema


@dataclass(slots=True)
class Before:
    """What a value was. None in its place means: nothing to compare with."""

    new: Any
    old: Any
    schema: Schema
    _same: bool | None = None
    _items: dict[Any, Any] | None = field(default=None)

    @property
    def unchanged(self) -> bool:
        if self._same is None:
            self._same = self._compared()
        return self._same

    def field(self, key: str) -> Before | None:
        if not (isinstance(self.new, dict) and isinstance(self.old, dict) and key in self.new and key in self.old):
            return None
        child = known_child(self.schema, key)
        return None if child is None else Before(self.new[key], self.old[key], child)

    def item(self, index: int) -> Before | None:
        if self.schema.items is None or self.schema.list_type != "map":
            return None
        if not (isinstance(self.new, list) and isinstance(self.old, list)):
            return None
        if self._items is None:
            self._items = keyed(self.schema, self.old)
        old = self._items.get(item_key(self.schema, self.new[index]))
        return None if old is None else Before(self.new[index], old, self.schema.items)

    def _compared(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            children = [self.field(key) for key in new]
            return len(new) == len(old) and all(child is not None and child.unchanged for child in children)
        if isinstance(new, list) and isinstance(old, list) and self.schema.list_type == "map" and self.schema.items:
            items = [self.item(index) for index in range(len(new))]
            return len(new) == len(old) and all(item is not None and item.unchanged for item in items)
        return new.__class__ is old.__class__ and bool(new == old)


def known_child(schema: Schema, key: str) -> Schema | None:
    """The shape of a field, None where the schema is silent (below additionalProperties: true as well)."""
    child, values = schema.properties.get(key), schema.values
    if child is None and values and (values.type or values.int_or_string or values.preserve_unknown):
        return values
    return child


def keyed(schema: Schema, items: Any) -> dict[Any, Any]:
    """The items of a list of type "map" by their keys; the first of a key counts."""
    found: dict[Any, Any] = {}
    if schema.list_type == "map" and schema.map_keys and isinstance(items, list):
        for item in items:
            key = item_key(schema, item)
            if key is not None:
                found.setdefault(key, item)
    return found


def item_key(schema: Schema, item: Any) -> tuple[Any, ...] | None:
    if not isinstance(item, dict):
        return None
    parts = [item.get(key) for key in schema.map_keys]
    if any(part is None or isinstance(part, dict | list) for part in parts):
        return None
    return tuple((part.__class__, part) for part in parts)
