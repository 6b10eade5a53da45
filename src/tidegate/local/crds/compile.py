"""A version's raw `openAPIV3Schema` becomes a `Schema`, the tree that every reader of objects shares.

Only what has meaning for an object's shape gets a field of its own; value validations stay as they were written, in
`constraints`, where `values.verdict` and `values.reasons` read them.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from tidegate.kube.wire import Object
from tidegate.local.schema.node import UNSET, Schema

_SHAPE = frozenset(
    {
        "type", "format", "properties", "additionalProperties", "items", "required", "default", "nullable",
        "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource",
        "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type",
    }
)  # fmt: skip


def compiled(raw: Object | None) -> Schema:
    """The tree for one raw node; None (a version without a schema) knows no field at all."""
    if raw is None:
        return Schema(type="object")
    return Schema(
        type=cast("Any", raw.get("type", "")),
        format=raw.get("format", ""),
        properties={name: compiled(child) for name, child in (raw.get("properties") or {}).items()},
        values=_values(raw.get("additionalProperties")),
        items=compiled(raw["items"]) if isinstance(raw.get("items"), dict) else None,
        required=tuple(raw.get("required") or ()),
        default=raw["default"] if raw.get("default") is not None else UNSET,
        nullable=bool(raw.get("nullable")),
        int_or_string=bool(raw.get("x-kubernetes-int-or-string")),
        preserve_unknown=bool(raw.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(raw.get("x-kubernetes-embedded-resource")),
        list_type=raw.get("x-kubernetes-list-type") or "atomic",
        map_keys=tuple(raw.get("x-kubernetes-list-map-keys") or ()),
        map_type=cast("Literal['granular', 'atomic']", raw.get("x-kubernetes-map-type") or "granular"),
        constraints={key: value for key, value in raw.items() if key not in _SHAPE},
    )


def _values(raw: Object | bool | None) -> Schema | None:
    """Of a map: `additionalProperties: true` says nothing of its values, so scalars stay and all fields go."""
    if raw is None:
        return None
    if isinstance(raw, bool):
        return Schema(nullable=True)
    return compiled(raw)
