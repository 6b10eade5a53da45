"""Fields taken out of a value."""

from __future__ import annotations

from typing import Any

from tidegate.local.patch.apply.fieldset import MEMBER, SELF, FieldSet, has
from tidegate.local.patch.apply.walk import DEDUCED, child_schema, element_of, is_divided_map
from tidegate.local.schema.node import Schema


def with_named_fields(fields: FieldSet, schema: Schema) -> FieldSet:
    """The set with every field that the schema names and that leads to a path of the set.

    Nobody owns a record such as `spec` itself; when the last field in it goes, it goes too.
    """
    result: FieldSet = {}
    for element, below in fields.items():
        if not below or element == SELF:
            result[element] = below
            continue
        sort, name = element[0], element[2:]
        if sort == "f":
            inner = with_named_fields(below, child_schema(schema, name))
            result[element] = {SELF: MEMBER, **inner} if name in schema.properties else inner
        else:
            result[element] = with_named_fields(below, schema.items or DEDUCED)
    return result


def removed(value: Any, fields: FieldSet, schema: Schema) -> Any:
    """`value` without the paths of `fields`; None if nothing is left of a map or list."""
    if not fields:
        return value
    if isinstance(value, dict):
        return _removed_from_map(value, fields, schema) if is_divided_map(schema) else None
    if isinstance(value, list):
        return _removed_from_list(value, fields, schema) if schema.list_type != "atomic" else None
    return value


def _removed_from_map(value: dict[str, Any], fields: FieldSet, schema: Schema) -> dict[str, Any] | None:
    result = {}
    for key, field in value.items():
        element = f"f:{key}"
        if has(fields, element):
            continue
        below = fields.get(element)
        result[key] = removed(field, below, child_schema(schema, key)) if below else field
    return result or None


def _removed_from_list(value: list[Any], fields: FieldSet, schema: Schema) -> list[Any] | None:
    result = []
    for item in value:
        element = element_of(item, schema)
        if not has(fields, element):
            below = fields.get(element)
            result.append(removed(item, below, schema.items or DEDUCED) if below else item)
    return result or None
