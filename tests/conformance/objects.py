"""Manifests and paths the suite shares."""

from __future__ import annotations

from typing import Any

Json = Any

MERGE = {"Content-Type": "application/merge-patch+json"}
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
JSON_PATCH = {"Content-Type": "application/json-patch+json"}
APPLY = {"Content-Type": "application/apply-patch+yaml"}
TABLE = {"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1"}
METADATA = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
METADATA_LIST = {"Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def core(namespace: str, plural: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}"


def batch(namespace: str, plural: str) -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/{plural}"


def apps(namespace: str, plural: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/{plural}"


def config_map(name: str, *, labels: dict[str, str] | None = None, **data: str) -> Json:
    return {"metadata": {"name": name, "labels": labels or {}}, "data": data}


def pod(name: str, **spec: Json) -> Json:
    containers = [{"name": "main", "image": "host", "command": ["sleep", "60"]}]
    return {"metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def definition(group: str, *, schema: Json | None = None, **version: Json) -> Json:
    """A namespaced kind `Widget` in a group of the test's own."""
    loose = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or loose}, **version}
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }


def owner(of: Json, **more: Json) -> Json:
    """An owner reference to an object just created."""
    return {
        "apiVersion": of.get("apiVersion", "v1"),
        "kind": of["kind"],
        "name": of["metadata"]["name"],
        "uid": of["metadata"]["uid"],
        **more,
    }
