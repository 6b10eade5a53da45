"""The schema of a CRD as it is published: with the metadata every object has, and in version 2 without what kubectl
cannot cope with there."""

from __future__ import annotations

from typing import Any

from tidegate.local.schema.openapi.components import META, Dialect, Node, described, reference, reference_with
from tidegate.local.schema.openapi.kinds import PublishedKind

_OBJECT_META = f"{META}.ObjectMeta"
_LIST_META = f"{META}.ListMeta"

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_INT_OR_STRING_FORMS = [{"type": "integer"}, {"type": "string"}]
_JUNCTORS = ("allOf", "oneOf", "anyOf", "not")


def custom_components(kind: PublishedKind, dialect: Dialect) -> dict[str, Node]:
    """The definitions of a kind and of its list."""
    own = custom_schema(kind, dialect)
    listed = _list_schema(kind, dialect)
    if kind.selectable_fields:
        paths = [{"fieldPath": path.removeprefix(".")} for path in kind.selectable_fields]
        own["x-kubernetes-selectable-fields"] = paths
        listed["x-kubernetes-selectable-fields"] = paths
    return {kind.definition: own, kind.list_definition: listed}


def custom_schema(kind: PublishedKind, dialect: Dialect) -> Node:
    if kind.schema is None or (dialect == "v2" and kind.schema.get(_PRESERVE)):
        # Nothing may be added: kubectl would take what is named here for all there is.
        node: Node = {"type": "object"}
    else:
        node = _published(kind.schema, dialect)
        properties = node.setdefault("properties", {})
        properties["metadata"] = reference_with(_OBJECT_META, dialect, description=described("metadata"))
        properties |= _type_meta()
    node["x-kubernetes-group-version-kind"] = [_gvk(kind, kind.kind)]
    return node


def _list_schema(kind: PublishedKind, dialect: Dialect) -> Node:
    items = {"type": "array", "items": reference(kind.definition, dialect), "description": f"List of {kind.plural}."}
    metadata = reference_with(_LIST_META, dialect, description=described("metadata"))
    return {
        "type": "object",
        "description": f"{kind.list_kind} is a list of {kind.kind}",
        "required": ["items"],
        "properties": {"items": items, "metadata": metadata} | _type_meta(),
        "x-kubernetes-group-version-kind": [_gvk(kind, kind.list_kind)],
    }


def _gvk(kind: PublishedKind, name: str) -> Node:
    return {"group": kind.group, "kind": name, "version": kind.version}


def _type_meta() -> Node:
    return {key: {"type": "string", "description": described(key)} for key in ("apiVersion", "kind")}


def _published(schema: Node, dialect: Dialect) -> Node:
    """One node of a user's schema, and those below it, as a new tree."""
    node = {key: value for key, value in schema.items() if value is not False or key == "default"}
    if node.get(_INT_OR_STRING) and "anyOf" not in node and not _says_int_or_string(node):
        node["anyOf"] = _INT_OR_STRING_FORMS
    if dialect == "v2":
        _reduce(node)
    if "properties" in node:
        node["properties"] = {key: _published(below, dialect) for key, below in node["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            node[key] = _published(node[key], dialect)
    if node.get(_EMBEDDED) and not (dialect == "v2" and node.get(_PRESERVE)):
        metadata = reference_with(_OBJECT_META, dialect, description=described("metadata"))
        node["properties"] = node.get("properties", {}) | _type_meta() | {"metadata": metadata}
        node["required"] = list(dict.fromkeys([*node.get("required", []), "kind", "apiVersion"]))
    return node


def _says_int_or_string(node: Node) -> bool:
    first = (node.get("allOf") or [{}])[0]
    return bool(first.get("anyOf") == _INT_OR_STRING_FORMS)


def _reduce(node: Node) -> None:
    """Version 2 knows no junctors, no null, no defaults, and kubectl stumbles over types where anything may stand."""
    for key in (*_JUNCTORS, "default"):
        node.pop(key, None)
    nullable = node.pop("nullable", False)
    if nullable or node.get(_PRESERVE):
        node.pop("items", None)
        node.pop("properties", None)
    untyped = nullable or (node.get("type") == "array" and "items" not in node)
    if untyped or (node.get(_PRESERVE) and node.get("type") == "object"):
        node.pop("type", None)
    absent = {key for key, below in node.get("properties", {}).items() if below.get("nullable")}
    required = [key for key in node.get("required", []) if key not in absent]
    more: Any = node.get("additionalProperties")
    if isinstance(more, dict) and more.get("nullable"):
        required = []
    node.pop("required", None)
    if required:
        node["required"] = required
