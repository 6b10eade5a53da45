"""From values to field sets: which fields a value has, as its schema divides it.

A map or record is divided into its fields, a list of type "map" or "set" into its items; everything else (scalars,
atomic maps and lists) is one field, whatever is inside.
"""

from __future__ import annotations

from typing import Any

from tidegate.local.patch.apply.fieldset import MEMBER, SELF, FieldSet, json_element
from tidegate.local.patch.apply.presence import always_present
from tidegate.local.schema.node import UNSET, Schema

DEDUCED = Schema(preserve_unknown=True)
"""The shape of a value about which no schema speaks: maps are divided into fields, lists are one."""


class ItemError(ValueError):
    """An item that cannot be told from the others of its list."""


def child_schema(schema: Schema, key: str) -> Schema:
    """The shape of field `key`; of a field that the schema does not know, what its value shows."""
    return schema.properties.get(key) or schema.values or DEDUCED


def is_divided_map(schema: Schema) -> bool:
    return schema.map_type != "atomic"


def element_of(item: Any, schema: Schema) -> str:
    """The path element that names `item` in a list of this schema."""
    if schema.list_type == "map":
        return _keyed_element(item, schema)
    if isinstance(item, dict):
        raise ItemError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise ItemError("not supported: associative list with lists as elements")
    if item is None:
        raise ItemError("associative list without keys has an element that's an explicit null")
    return json_element("v", item)


def _keyed_element(item: Any, schema: Schema) -> str:
    if type(item) is not dict:
        what = "a null element" if item is None else "non-map elements"
        raise ItemError(f"associative list with keys may not have {what}")
    names = schema.map_keys
    if len(names) == 1 and names[0] in item:
        return json_element("k", {names[0]: item[names[0]]})
    keys = {}
    for name in sorted(names):
        value = item[name] if name in item else _default(schema.items or DEDUCED, name)
        if value is not None or name in item:
            keys[name] = value
    if not keys:
        named = " ".join(f'"{name}"' for name in names)
        raise ItemError(
            f"associative list with keys has an element that omits all key fields [{named}] "
            "(and doesn't have default values for any key fields)"
        )
    return json_element("k", keys)


def _default(schema: Schema, key: str) -> Any:
    """What an item counts as having for a key it does not state; None for nothing."""
    known = schema.properties.get(key)
    if known and known.default is not UNSET:
        return known.default
    return always_present(schema.name).get(key) if schema.name else None


def fields_of(value: Any, schema: Schema) -> FieldSet:
    """The fields somebody sets who applies `value`: leaves and items; a record only by what is in it."""
    return _stated(value, schema, named=True) or {}


def _stated(value: Any, schema: Schema, *, named: bool) -> FieldSet | None:
    """The set below the element of `value`; None if neither it nor anything in it is stated."""
    sort = type(value)
    if sort is dict:
        if not value or not is_divided_map(schema):
            return MEMBER
        result: FieldSet = {} if named else {SELF: MEMBER}
        properties = schema.properties
        for key, field in value.items():
            below = _stated(field, properties.get(key) or schema.values or DEDUCED, named=key in properties)
            if below is not None:
                result["f:" + key] = below
        return result or None
    if sort is list and schema.list_type != "atomic":
        result = {} if named else {SELF: MEMBER}
        item_schema = schema.items or DEDUCED
        for element, items in items_by_element(value, schema).items():
            below = _stated(items[0], item_schema, named=False) if len(items) == 1 else None
            result[element] = below or MEMBER
        return _plain(result) if result else None
    return MEMBER


def _plain(fields: FieldSet) -> FieldSet:
    return MEMBER if len(fields) == 1 and SELF in fields else fields


def items_by_element(items: list[Any], schema: Schema) -> dict[str, list[Any]]:
    """The items of a list by the elements that name them; more than one under an element are duplicates."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(element_of(item, schema), []).append(item)
    return found


def whole(value: Any, schema: Schema) -> FieldSet:
    """The set below the element of a value that came or went as a whole: it, and everything in it."""
    sort = type(value)
    if sort is dict:
        return _whole_map(value, schema) if schema.map_type != "atomic" else MEMBER
    if sort is list and value and schema.list_type != "atomic":
        return _whole_list(value, schema)
    return MEMBER


def _whole_map(value: dict[str, Any], schema: Schema) -> FieldSet:
    # Exact types, and leaves decided on the spot: this is where a create spends its time.
    result: FieldSet = {SELF: MEMBER}
    properties = schema.properties
    values = schema.values or DEDUCED
    for key, field in value.items():
        sort = type(field)
        if sort is dict or sort is list:
            result["f:" + key] = whole(field, properties.get(key) or values)
        else:
            result["f:" + key] = MEMBER
    if schema.name:
        for key, zero in always_present(schema.name).items():
            if key not in value:
                result["f:" + key] = MEMBER if zero is None else whole(zero, properties[key])
    return result if len(result) > 1 else MEMBER


def _whole_list(value: list[Any], schema: Schema) -> FieldSet:
    result: FieldSet = {SELF: MEMBER}
    item_schema = schema.items or DEDUCED
    for item in value:
        element = element_of(item, schema)
        # Of duplicates nobody owns more than that they are there.
        result[element] = MEMBER if element in result else whole(item, item_schema)
    return result
