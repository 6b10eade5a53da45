"""Definitions of Kubernetes' own kinds as OpenAPI schemas, in the two dialects that are published.

Version 3 shows defaults and wraps a reference that has company in `allOf`; version 2 has neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from tidegate.local.schema.definitions import Field, GoType, definition, go_type, kinds

Dialect = Literal["v2", "v3"]
Node = dict[str, Any]

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_ONE_OF = "oneOf"

# Types that are definitions of their own although they are no structs.
_NAMES = {
    "Time": f"{META}.Time",
    "MicroTime": f"{META}.MicroTime",
    "FieldsV1": f"{META}.FieldsV1",
    "Quantity": "io.k8s.apimachinery.pkg.api.resource.Quantity",
    "IntOrString": "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    "Raw": "io.k8s.apimachinery.pkg.runtime.RawExtension",
    "JSON": f"{_EXTENSIONS}.JSON",
    "SchemaOrBool": f"{_EXTENSIONS}.JSONSchemaPropsOrBool",
    "SchemaOrArray": f"{_EXTENSIONS}.JSONSchemaPropsOrArray",
    "SchemaOrStrings": f"{_EXTENSIONS}.JSONSchemaPropsOrStringArray",
}
PATCH = f"{META}.Patch"
_PLAIN: dict[str, Node] = {
    _NAMES["Time"]: {"type": "string", "format": "date-time"},
    _NAMES["MicroTime"]: {"type": "string", "format": "date-time"},
    _NAMES["FieldsV1"]: {"type": "object"},
    _NAMES["Raw"]: {"type": "object"},
    PATCH: {"type": "object"},
}
_BY_DIALECT: dict[Dialect, dict[str, Node]] = {
    "v3": {
        _NAMES["Quantity"]: {_ONE_OF: [{"type": "string"}, {"type": "number"}]},
        _NAMES["IntOrString"]: {"format": "int-or-string", _ONE_OF: [{"type": "integer"}, {"type": "string"}]},
    },
    "v2": {
        _NAMES["Quantity"]: {"type": "string"},
        _NAMES["IntOrString"]: {"format": "int-or-string", "type": "string"},
    },
}
_SCALARS: dict[str, Node] = {
    "string": {"type": "string"},
    "bytes": {"type": "string", "format": "byte"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "float64": {"type": "number", "format": "double"},
}
_ZEROS = {"string": "", "bool": False, "int32": 0, "int64": 0, "float64": 0}

# What `explain` says of the metadata that every object has.
_DESCRIPTIONS = {
    "apiVersion": "APIVersion defines the version of the API this object is written in, with its group.",
    "kind": "Kind says which kind of object this is, in CamelCase.",
    "metadata": "Standard object's metadata.",
}
_META_DESCRIPTIONS = {
    "annotations": "Annotations are notes of people and programs; nothing is selected by them.",
    "creationTimestamp": "CreationTimestamp is a timestamp of when the server created this object.",
    "deletionGracePeriodSeconds": "DeletionGracePeriodSeconds is how long the object may take to end. Read-only.",
    "deletionTimestamp": "DeletionTimestamp is when the object is to be gone; set by a request to delete it.",
    "finalizers": "Finalizers must all be removed before the object is deleted for good.",
    "generateName": "GenerateName is a prefix to which the server adds a random suffix when there is no name.",
    "generation": "Generation counts the changes of what is wanted. Read-only.",
    "labels": "Labels are keys and values by which objects are grouped and selected.",
    "managedFields": "ManagedFields says who set which field.",
    "name": "Name is unique among the objects of a kind in a namespace.",
    "namespace": "Namespace is the space in which the name is unique.",
    "ownerReferences": "OwnerReferences are the objects this one depends on; it is deleted when they all are.",
    "resourceVersion": "ResourceVersion changes with every write; send it back to change only what was read.",
    "selfLink": "SelfLink is no longer filled in.",
    "uid": "UID is unique in time and space. Read-only.",
}


def described(key: str) -> str:
    return _DESCRIPTIONS[key]


def reference(name: str, dialect: Dialect) -> Node:
    return {"$ref": f"#/{'definitions' if dialect == 'v2' else 'components/schemas'}/{name}"}


def reference_with(name: str, dialect: Dialect, **company: Any) -> Node:
    """A reference that something is said about, which version 3 allows only around it."""
    found = reference(name, dialect)
    if not company or dialect == "v2":
        return found | company
    return {"allOf": [found]} | company


def components(names: Iterable[str], dialect: Dialect) -> dict[str, Node]:
    """The named definitions and all they refer to, sorted by name."""
    gvks = _group_version_kinds()
    found: dict[str, Node] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        plain = _PLAIN.get(name) or _BY_DIALECT[dialect].get(name)
        if plain is not None or name in _NAMES.values():
            found[name] = dict(plain or {})
            continue
        found[name] = _component(name, dialect)
        if name in gvks:
            found[name]["x-kubernetes-group-version-kind"] = gvks[name]
        waiting += _referred(name)
    return {name: found[name] for name in sorted(found)}


def _group_version_kinds() -> dict[str, list[Node]]:
    found: dict[str, list[Node]] = {}
    for key, name in kinds().items():
        *group, version, kind = key.split("/")
        found.setdefault(name, []).append({"group": "".join(group), "kind": kind, "version": version})
    return found


def _referred(name: str) -> list[str]:
    """The definitions the fields of this one refer to."""
    names = []
    for field in definition(name).all_fields().values():
        goes: GoType | None = go_type(field.type)
        while goes is not None and goes.of is not None:
            goes = goes.of
        if goes is not None and goes.shape != "scalar":
            names.append(_NAMES.get(goes.name, goes.name))
    return names


def _component(name: str, dialect: Dialect) -> Node:
    facts = definition(name)
    fields = facts.all_fields()
    node: Node = {"type": "object"}
    required = [key for key, field in fields.items() if field.required]
    if required:
        node["required"] = required
    if fields:
        node["properties"] = {key: _property(field, dialect) for key, field in sorted(fields.items())}
    if facts.map_type:
        node["x-kubernetes-map-type"] = facts.map_type
    if name == f"{META}.ObjectMeta":
        _describe(node["properties"], _META_DESCRIPTIONS, dialect)
    elif "kind" in fields and "apiVersion" in fields:
        _describe(node["properties"], _DESCRIPTIONS, dialect)
    return node


def _describe(properties: dict[str, Node], words: dict[str, str], dialect: Dialect) -> None:
    for key in properties.keys() & words.keys():
        node = properties[key]
        if "$ref" in node and dialect == "v3":
            node = {"allOf": [node]}
        properties[key] = node | {"description": words[key]}


def _property(field: Field, dialect: Dialect) -> Node:
    goes = go_type(field.type)
    extras: Node = {}
    if dialect == "v3" and field.default is not msgspec.UNSET:
        extras["default"] = field.default
    for key, value in (
        ("list-type", field.list_type),
        ("list-map-keys", list(field.map_keys)),
        ("map-type", field.map_type),
        ("patch-strategy", field.patch),
        ("patch-merge-key", field.merge_key),
    ):
        if value:
            extras[f"x-kubernetes-{key}"] = value
    node = _typed(goes, dialect, extras, shown=field.omit == "never")
    if field.enum:
        # It belongs to the values, also where the field is a list or map of them.
        leaf: Node = node.get("items") or node.get("additionalProperties") or node
        leaf["enum"] = list(field.enum)
    return node


def _typed(goes: GoType, dialect: Dialect, extras: Node, *, shown: bool) -> Node:
    """`shown`: Go shows the value even when it is zero, which version 3 tells as a default."""
    if goes.shape == "pointer" and goes.of is not None:
        held = goes.of
        return _struct(held, dialect, extras) if held.shape == "struct" else _typed(held, dialect, extras, shown=False)
    if goes.of is not None:
        items = _typed(goes.of, dialect, {}, shown=True)
        node = {"type": "array", "items": items} if goes.shape == "list" else {"type": "object"}
        return (node if goes.shape == "list" else node | {"additionalProperties": items}) | extras
    if goes.shape == "scalar":
        zero = {"default": _ZEROS[goes.name]} if shown and dialect == "v3" and goes.name in _ZEROS else {}
        return _SCALARS[goes.name] | zero | extras
    if goes.shape == "struct" and dialect == "v3":
        return _struct(goes, dialect, {"default": {}} | extras)
    return _struct(goes, dialect, extras)


def _struct(goes: GoType, dialect: Dialect, extras: Node) -> Node:
    return reference_with(_NAMES.get(goes.name, goes.name), dialect, **extras)
