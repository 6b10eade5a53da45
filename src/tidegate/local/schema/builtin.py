"""Kubernetes' own kinds as `Schema` trees, built when first asked for and shared from then on."""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec

from tidegate.local.schema.definitions import BuiltinResource, Field, GoType, definition, go_type, kinds
from tidegate.local.schema.definitions import resources as builtin_resources
from tidegate.local.schema.node import ListType, Schema

__all__ = ["BuiltinResource", "builtin_kind", "builtin_resources", "builtin_schema"]

_schemas: dict[str, Schema] = {}


def builtin_kind(group: str, version: str, kind: str) -> str | None:
    """The definition of a built-in kind, e.g. "io.k8s.api.apps.v1.Deployment"; None for anybody else's kind."""
    return kinds().get("/".join(part for part in (group, version, kind) if part))


def builtin_schema(name: str | tuple[str, str, str]) -> Schema:
    """The shape of a definition, or of a (group, version, kind). KeyError if Kubernetes has no such thing."""
    if isinstance(name, tuple):
        found = builtin_kind(*name)
        if found is None:
            raise KeyError(name)
        name = found
    known = _schemas.get(name)
    if known is not None:
        return known
    facts = definition(name)
    schema = Schema(type="object", name=name, map_type=_map_type(facts.map_type))
    # Known before its fields are, and filled in place: definitions may contain themselves.
    _schemas[name] = schema
    fields = facts.all_fields()
    schema.required = tuple(key for key, field in fields.items() if field.required)
    schema.properties.update((key, _field_schema(field)) for key, field in fields.items())
    return schema


def _map_type(text: str) -> Literal["granular", "atomic"]:
    return "atomic" if text == "atomic" else "granular"


_LEAVES: dict[str, Schema] = {
    "string": Schema("string"),
    "bytes": Schema("string", format="byte"),
    "bool": Schema("boolean"),
    "int32": Schema("integer", format="int32"),
    "int64": Schema("integer", format="int64"),
    "float64": Schema("number", format="double"),
    "Time": Schema("string", format="date-time"),
    "MicroTime": Schema("string", format="date-time"),
    "Quantity": Schema("string", quantity=True),
    "IntOrString": Schema(int_or_string=True),
    "Raw": Schema("object", preserve_unknown=True),
    "FieldsV1": Schema("object", preserve_unknown=True),
    "JSON": Schema(preserve_unknown=True, map_type="atomic"),
    "SchemaOrArray": Schema(preserve_unknown=True, map_type="atomic"),
    "SchemaOrBool": Schema(preserve_unknown=True, map_type="atomic"),
    "SchemaOrStrings": Schema(preserve_unknown=True, map_type="atomic"),
}


def _field_schema(field: Field) -> Schema:
    """The shape of a field: shared with all alike when it only has a type, else a node of its own."""
    goes = go_type(field.type)
    extras: dict[str, Any] = {}
    if field.default is not msgspec.UNSET:
        extras["default"] = field.default
    if field.list_type:
        extras["list_type"] = cast("ListType", field.list_type)
        extras["map_keys"] = field.map_keys
    if field.map_type:
        extras["map_type"] = _map_type(field.map_type)
    if field.patch:
        extras["patch_strategy"] = tuple(field.patch.split(","))
        extras["patch_merge_key"] = field.merge_key
    return _typed(goes, extras, field.enum)


def _typed(goes: GoType, extras: dict[str, Any], enum: tuple[str, ...]) -> Schema:
    if goes.shape == "pointer":
        return _typed(_held(goes), extras, enum)
    if goes.shape == "list":
        return Schema("array", items=_typed(_held(goes), {}, enum), **extras)
    if goes.shape == "map":
        return Schema("object", values=_typed(_held(goes), {}, enum), **extras)
    if enum:
        extras = extras | {"constraints": {"enum": list(enum)}}
    shared = builtin_schema(goes.name) if goes.shape == "struct" else _LEAVES[goes.name]
    if not extras:
        return shared
    own = Schema(
        shared.type,
        shared.format,
        properties=shared.properties,
        required=shared.required,
        quantity=shared.quantity,
        int_or_string=shared.int_or_string,
        preserve_unknown=shared.preserve_unknown,
        map_type=shared.map_type,
        name=shared.name,
    )
    for key, value in extras.items():
        setattr(own, key, value)
    return own


def _held(goes: GoType) -> GoType:
    assert goes.of is not None
    return goes.of
