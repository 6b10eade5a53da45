"""CRDs whose schemas use everything OpenAPI publishing has an opinion on, and their `PublishedKind`s."""

from __future__ import annotations

from typing import Any

from tidegate.local.schema.openapi import PublishedKind

GROUP = "openapi.tidegate.test"

FULL: dict[str, Any] = {
    "type": "object",
    "description": "A wave.",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "description": "What is wanted.",
            "required": ["size", "maybe"],
            "x-kubernetes-validations": [{"rule": "self.size > 0", "message": "must be positive"}],
            "properties": {
                "size": {"type": "integer", "format": "int32", "minimum": 1, "default": 3},
                "maybe": {"type": "string", "nullable": True},
                "port": {"x-kubernetes-int-or-string": True},
                "share": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
                "color": {"type": "string", "enum": ["red", "blue"], "pattern": "^[a-z]+$"},
                "free": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True,
                    "properties": {"a": {"type": "string"}},
                },
                "anything": {"x-kubernetes-preserve-unknown-fields": True},
                "frees": {"type": "array", "x-kubernetes-preserve-unknown-fields": True, "items": {"type": "string"}},
                "template": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "properties": {"spec": {"type": "object"}},
                },
                "loose": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "parts": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
                },
                "labels": {"type": "object", "additionalProperties": {"type": "string", "nullable": True}},
                "either": {"type": "string", "oneOf": [{"minLength": 3}, {"maxLength": 1}], "not": {"enum": ["x"]}},
            },
        },
        "status": {
            "type": "object",
            "properties": {"replicas": {"type": "integer"}},
            "x-kubernetes-map-type": "atomic",
        },
    },
}
BARE: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "description": "Anything."}


def published(kind: str, schema: dict[str, Any], **more: Any) -> PublishedKind:
    return PublishedKind(
        group=GROUP,
        version="v1",
        kind=kind,
        plural=f"{kind.lower()}s",
        list_kind=f"{kind}List",
        namespaced=True,
        schema=schema,
        **more,
    )


KINDS = [
    published("Wave", FULL, has_status=True, has_scale=True, selectable_fields=(".spec.color",)),
    published("Foam", BARE),
]


def crd(kind: PublishedKind) -> dict[str, Any]:
    subresources: dict[str, Any] = {}
    if kind.has_status:
        subresources["status"] = {}
    if kind.has_scale:
        subresources["scale"] = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"}
    version = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": kind.schema},
        "subresources": subresources,
        "selectableFields": [{"jsonPath": path} for path in kind.selectable_fields],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "listKind": kind.list_kind,
            },
            "versions": [version],
        },
    }
