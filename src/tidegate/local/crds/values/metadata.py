"""apiVersion, kind and metadata of an object, and of objects inside it (x-kubernetes-embedded-resource).

Metadata is not the schema's to describe: it is read as Kubernetes' ObjectMeta, which drops what it does not know and
what is empty, and refuses a field of the wrong type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local import errors
from tidegate.local.errors import FieldError
from tidegate.local.kinds import names
from tidegate.local.kinds.metadata import validate_create
from tidegate.local.schema.node import Schema
from tidegate.local.schema.values import canonical_time

Visit = Callable[[Any, str], Iterator["tuple[Object, str]"]]

_GO_KINDS = {bool: "bool", str: "string", int: "number", float: "number", list: "array", dict: "object"}
_OWNER = {
    "apiVersion": "string", "kind": "string", "name": "string", "uid": "types.UID", "controller": "bool",
    "blockOwnerDeletion": "bool",
}  # fmt: skip
_MANAGED = {
    "manager": "string", "operation": "v1.ManagedFieldsOperationType", "apiVersion": "string", "time": "time",
    "fieldsType": "string", "fieldsV1": "any", "subresource": "string",
}  # fmt: skip
_META: dict[str, Any] = {
    "name": "string", "generateName": "string", "namespace": "string", "selfLink": "string", "uid": "types.UID",
    "resourceVersion": "string", "generation": "int64", "deletionGracePeriodSeconds": "int64",
    "creationTimestamp": "time", "deletionTimestamp": "time", "labels": "map", "annotations": "map",
    "finalizers": "strings", "ownerReferences": _OWNER, "managedFields": _MANAGED,
}  # fmt: skip
_STRINGS = frozenset({"string", "types.UID", "v1.ManagedFieldsOperationType"})
_KEPT_WHEN_EMPTY = frozenset({"apiVersion", "kind", "name", "uid"})
"""Of an owner reference: these four are written even when they are empty."""


class MalformedMetadataError(ValueError):
    """Metadata that cannot be read, in the words of Go's decoder."""


def read_metadata(value: Any) -> tuple[Object, list[str]]:
    """Metadata as Kubernetes would write it back, and the names of fields it does not know; raises."""
    if value is None:
        return {}, []
    if value.__class__ is not dict:
        raise MalformedMetadataError(_unmarshal(value, "value of type", "v1.ObjectMeta"))
    unknown = [key for key in value if key not in _META]
    kept = {key: _member(key, _META[key], child, unknown) for key, child in value.items() if key in _META}
    return {key: child for key, child in kept.items() if child not in (None, "", 0, [], {})}, unknown


def _member(key: str, form: Any, value: Any, unknown: list[str]) -> Any:
    """One field of ObjectMeta, read."""
    if value is None:
        return None
    if isinstance(form, dict):
        _want(value, list, key, "[]v1.OwnerReference" if form is _OWNER else "[]v1.ManagedFieldsEntry")
        return [_reference(key, form, item, unknown, index) for index, item in enumerate(value)]
    if form == "map":
        _want(value, dict, key, "map[string]string")
        for child in value.values():
            _want(child if child is not None else "", str, key, "string")
        return {name: child if child is not None else "" for name, child in value.items()}
    if form == "strings":
        _want(value, list, key, "[]string")
        for child in value:
            _want(child, str, key, "string")
        return value
    return _scalar(key, form, value)


def _scalar(key: str, form: str, value: Any) -> Any:
    if form in _STRINGS:
        _want(value, str, key, form)
    elif form == "int64":
        _want(value, int, key, "int64")
    elif form == "bool":
        _want(value, bool, key, "bool")
    elif form == "time":
        try:
            return canonical_time(value) if isinstance(value, str) else _want(value, str, key, "string")
        except ValueError as error:
            raise MalformedMetadataError(str(error)) from error
    return value


def _reference(key: str, form: dict[str, str], value: Any, unknown: list[str], index: int) -> Object:
    _want(value, dict, key, "v1.OwnerReference" if form is _OWNER else "v1.ManagedFieldsEntry")
    unknown += [f"{key}[{index}].{name}" for name in value if name not in form]
    kept = {name: _scalar(f"{key}.{name}", form[name], child) for name, child in value.items() if name in form}
    if form is _OWNER:
        return dict.fromkeys(_KEPT_WHEN_EMPTY, "") | {k: v for k, v in kept.items() if v is not None}
    return {name: child for name, child in kept.items() if child not in (None, "")}


def _want(value: Any, kind: type, key: str, go_type: str) -> None:
    if value.__class__ is not kind:
        raise MalformedMetadataError(_unmarshal(value, f"into Go struct field ObjectMeta.{key} of type", go_type))


def _unmarshal(value: Any, into: str, go_type: str) -> str:
    return f"json: cannot unmarshal {_GO_KINDS.get(value.__class__, 'null')} {into} {go_type}"


def embedded(schema: Schema) -> Visit | None:
    """A function that finds the embedded objects in a value, with their paths; None if the schema has none."""
    named = {name: inner for name, child in schema.properties.items() if (inner := embedded(child))}
    values = embedded(schema.values) if schema.values else None
    items = embedded(schema.items) if schema.items else None
    if not (named or values or items or schema.embedded):
        return None

    def visit(value: Any, path: str) -> Iterator[tuple[Object, str]]:
        if value.__class__ is dict:
            if schema.embedded:
                yield value, path
            for key, child in list(value.items()):
                if key in named:
                    yield from named[key](child, f"{path}.{key}" if path else key)
                elif values and key not in schema.properties:
                    yield from values(child, f"{path}[{key}]")
        elif value.__class__ is list and items:
            for index, child in enumerate(value):
                yield from items(child, f"{path}[{index}]")

    return visit


def coerce(obj: Object, path: str) -> list[str]:
    """Reads the metadata of one embedded object in place; answers with unknown fields, raises BadFieldError."""
    for key in ("apiVersion", "kind"):
        if key in obj and not isinstance(obj[key], str):
            raise BadFieldError(errors.invalid(f"{path}.{key}", obj[key], "must be a string"))
    if "metadata" not in obj:
        return []
    try:
        obj["metadata"], unknown = read_metadata(obj["metadata"])
    except MalformedMetadataError as error:
        raise BadFieldError(errors.invalid(f"{path}.metadata", obj["metadata"], str(error))) from error
    return [f"{path}.metadata.{name}" for name in unknown]


class BadFieldError(ValueError):
    """Decoding stopped at one field."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(error.message)
        self.error = error


def embedded_errors(obj: Object, path: str) -> Iterator[FieldError]:
    """What is wrong with apiVersion, kind and metadata of one embedded object."""
    for key in ("apiVersion", "kind"):
        if key not in obj:
            yield errors.required(f"{path}.{key}")
        elif not isinstance(obj[key], str):
            yield errors.invalid(f"{path}.{key}", obj[key], "must be a string")
        elif not obj[key]:
            yield errors.invalid(f"{path}.{key}", "", "must not be empty")
    if isinstance(version := obj.get("apiVersion"), str) and version.count("/") > 1:
        yield errors.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    kind = obj.get("kind")
    if isinstance(kind, str) and kind and (wrong := names.dns_1035_label(kind.lower())):
        said = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        yield errors.invalid(f"{path}.kind", kind, said)
    if isinstance(metadata := obj.get("metadata"), dict):
        named = {"metadata": {"name": "fakename"} | {key: value for key, value in metadata.items() if value != ""}}
        namespaced = bool(metadata.get("namespace"))
        for error in validate_create(named, namespaced=namespaced, name_errors=names.path_segment):
            yield FieldError(error.sort, f"{path}.{error.field}", error.body)
