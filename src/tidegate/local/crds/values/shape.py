"""Which fields of an object stay and which are filled in: pruning and defaults, compiled once per schema.

Both change the object in place. A pruner answers with the paths of what it dropped, built from the inside out, so
that an object without unknown fields pays nothing for them. Kubernetes' rules that surprise:

- a scalar in place of an object stays (validation will refuse it), an object in place of a scalar loses every field;
- below `x-kubernetes-preserve-unknown-fields` unknown fields stay, but known fields are pruned again;
- a null stays only where the schema says `nullable`, or where a default will replace it;
- apiVersion, kind and metadata of the object itself and of embedded objects are never pruned.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.schema.node import UNSET, Schema

Prune = Callable[[Any], "list[str] | None"]
Fill = Callable[[Any], None]

META = frozenset({"apiVersion", "kind", "metadata"})


def pruner(schema: Schema, *, root: bool = True) -> Prune:
    """A function that drops unknown fields and stray nulls from a value and says which fields were unknown."""
    drop = _pruner(schema, embedded=root or schema.embedded)

    def prune(value: Any) -> list[str] | None:
        unknown = drop(value)
        return sorted(path.removeprefix(".") for path in unknown) if unknown else None

    return prune


def _pruner(schema: Schema, *, embedded: bool) -> Prune:
    members = {name: (_pruner(child, embedded=child.embedded), _keeps_null(child)) for name, child in
               schema.properties.items()}  # fmt: skip
    values = None
    if schema.values is not None:
        values = (_pruner(schema.values, embedded=schema.values.embedded), _keeps_null(schema.values))
    meta = META if embedded else frozenset()
    items = _item_pruner(schema)
    preserve = schema.preserve_unknown

    def prune_object(value: Object) -> list[str] | None:
        dropped: list[str] | None = None
        unknown: list[str] | None = None
        for key, child in value.items():
            member = members.get(key, values)
            if member is None:
                if key in meta or preserve:
                    continue
                dropped = [key] if dropped is None else [*dropped, key]
                unknown = [*(unknown or ()), f".{key}"]
            elif child.__class__ is dict or child.__class__ is list:
                if key not in meta and (found := member[0](child)):
                    unknown = [*(unknown or ()), *(f".{key}{path}" for path in found)]
            elif child is None and not member[1]:
                dropped = [key] if dropped is None else [*dropped, key]
        if dropped:
            for key in dropped:
                del value[key]
        return unknown

    def prune(value: Any) -> list[str] | None:
        if value.__class__ is dict:
            return prune_object(value)
        return items(value) if value.__class__ is list else None

    return prune


def _item_pruner(schema: Schema) -> Prune:
    item = schema.items
    inner: Prune
    if item is None:
        inner = _keep_everything if schema.preserve_unknown else _drop_everything
    elif schema.preserve_unknown and not item.preserve_unknown:
        # Preserving goes on into the items of a list, unlike into named fields.
        inner = _pruner(_preserving(item), embedded=item.embedded)
    else:
        inner = _pruner(item, embedded=item.embedded)

    def prune_list(value: list[Any]) -> list[str] | None:
        unknown: list[str] | None = None
        for index, child in enumerate(value):
            if (child.__class__ is dict or child.__class__ is list) and (found := inner(child)):
                unknown = [*(unknown or ()), *(f"[{index}]{path}" for path in found)]
        return unknown

    return prune_list


def _preserving(schema: Schema) -> Schema:
    return Schema(
        type=schema.type, properties=schema.properties, values=schema.values, items=schema.items,
        embedded=schema.embedded, nullable=schema.nullable, preserve_unknown=True,
    )  # fmt: skip


def _keep_everything(value: Any) -> list[str] | None:
    return None


def _drop_everything(value: Any) -> list[str] | None:
    """For a value the schema has no word for: its lists stay, the objects in them lose every field."""
    if value.__class__ is dict:
        unknown = [f".{key}" for key in value]
        value.clear()
        return unknown
    found = [(index, _drop_everything(child)) for index, child in enumerate(value) if child.__class__ in (dict, list)]
    return [f"[{index}]{path}" for index, paths in found for path in paths or ()]


def _keeps_null(schema: Schema) -> bool:
    return schema.nullable or schema.default is not UNSET


def filler(schema: Schema) -> Fill | None:
    """A function that fills in defaults, or None where the schema has none at all below this node."""
    plain = _plain_defaults(schema)
    below = {name: inner for name, child in schema.properties.items() if (inner := filler(child))}
    values = filler(schema.values) if schema.values else None
    items = filler(schema.items) if schema.items else None
    value_default = _null_default(schema.values)
    item_default = _null_default(schema.items)
    if not (plain or below or values or items or value_default is not UNSET or item_default is not UNSET):
        return None

    def fill_object(value: Object) -> None:
        for name, default, nullable in plain:
            if name not in value or (value[name] is None and not nullable):
                value[name] = _copied(default)
        for name, inner in below.items():
            if name in value:
                inner(value[name])
        if values or value_default is not UNSET:
            for name, child in value.items():
                if name in schema.properties:
                    continue
                if child is None and value_default is not UNSET:
                    child = value[name] = _copied(value_default)  # noqa: PLW2901
                if values:
                    values(child)

    def fill(value: Any) -> None:
        if value.__class__ is dict:
            fill_object(value)
        elif value.__class__ is list and (items or item_default is not UNSET):
            for index, child in enumerate(value):
                if child is None and item_default is not UNSET:
                    child = value[index] = _copied(item_default)  # noqa: PLW2901
                if items:
                    items(child)

    return fill


def _plain_defaults(schema: Schema) -> list[tuple[str, Any, bool]]:
    return [
        (name, child.default, child.nullable) for name, child in schema.properties.items() if child.default is not UNSET
    ]


def _null_default(schema: Schema | None) -> Any:
    """What replaces a null item or map value, if anything does."""
    return UNSET if schema is None or schema.nullable else schema.default


def _copied(value: Any) -> Any:
    return deepcopy(value) if value.__class__ is dict or value.__class__ is list else value
