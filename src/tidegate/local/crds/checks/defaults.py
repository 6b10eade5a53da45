"""Defaults in a schema must themselves be what the schema asks for."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.compile import compiled
from tidegate.local.crds.rules import Rules
from tidegate.local.crds.values import metadata, shape
from tidegate.local.crds.values.reasons import reasons
from tidegate.local.crds.values.result import field_errors
from tidegate.local.errors import FieldError, invalid


def default_errors(raw: Object, path: str, *, in_metadata: bool = False, root: bool = True) -> Iterator[FieldError]:
    """What is wrong with the defaults of this node and below; map values are not looked at, nor are their defaults."""
    embedded = root or bool(raw.get("x-kubernetes-embedded-resource"))
    inside = in_metadata and not embedded
    if raw.get("default") is not None:
        whole = raw | {"x-kubernetes-embedded-resource": True} if root else raw
        yield from _own_errors(whole, f"{path}.default", inside)
    if isinstance(raw.get("items"), dict):
        yield from default_errors(raw["items"], f"{path}.items", in_metadata=inside, root=False)
    for name, child in (raw.get("properties") or {}).items():
        meta = inside or (embedded and name in shape.META)
        yield from default_errors(child, f"{path}.properties[{name}]", in_metadata=meta, root=False)


def _own_errors(raw: Object, path: str, in_metadata: bool) -> Iterator[FieldError]:
    schema, value = compiled(raw), deepcopy(raw["default"])
    if not in_metadata and shape.pruner(schema, root=schema.embedded)(deepcopy(value)):
        yield invalid(path, raw["default"], "must not have unknown fields")
    visit = metadata.embedded(schema)
    wrong = list(_metadata_errors(visit, value, path)) if visit else []
    wrong = wrong or field_errors(reasons(raw, value), under=path)
    if not wrong and (rules := Rules.of(schema)) is not None:
        wrong = rules.check(value, value, schema, path=path) or rules.check(value, None, schema, path=path)
    yield from wrong


def _metadata_errors(visit: metadata.Visit, value: Any, path: str) -> Iterator[FieldError]:
    for obj, place in visit(value, path):
        try:
            metadata.coerce(obj, place)
        except metadata.BadFieldError as problem:
            yield problem.error
            return
        yield from metadata.embedded_errors(obj, place)
