"""Field sets after a CRD changed its mind about a map or list being atomic."""

from __future__ import annotations

from tidegate.local.patch.apply.fieldset import MEMBER, SELF, FieldSet
from tidegate.local.patch.apply.managed import Entries
from tidegate.local.patch.apply.walk import DEDUCED
from tidegate.local.schema.node import Schema


def reconciled(entries: Entries, schema: Schema) -> Entries:
    """The entries with everything inside of what is now atomic taken as the whole of it."""
    result = []
    for entry in entries:
        fields = _reconciled(entry["fieldsV1"], schema)
        result.append(entry if fields is entry["fieldsV1"] else entry | {"fieldsV1": fields})
    return result


def _reconciled(fields: FieldSet, schema: Schema) -> FieldSet:
    result: FieldSet | None = None
    for element, below in fields.items():
        if not below or element == SELF:
            continue
        inner = _child(schema, element)
        kept = MEMBER if _is_atomic(inner) else _reconciled(below, inner)
        if kept is not below:
            result = dict(fields) if result is None else result
            result[element] = kept
    return fields if result is None else result


def _child(schema: Schema, element: str) -> Schema:
    if element[0] == "f":
        return schema.properties.get(element[2:]) or schema.values or DEDUCED
    return schema.items or DEDUCED


def _is_atomic(schema: Schema) -> bool:
    if schema.type == "array":
        return schema.list_type == "atomic"
    return schema.type == "object" and schema.map_type == "atomic"
