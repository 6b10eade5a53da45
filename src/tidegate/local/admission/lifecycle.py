"""Namespaces: nothing is created in one that does not exist or is going away, and a few cannot be deleted."""

from __future__ import annotations

import msgspec

from tidegate.local.admission.attributes import Attributes
from tidegate.local.errors import forbidden, not_found
from tidegate.local.store import Store

_IMMORTAL = {"default", "kube-system", "kube-public"}
_FREE = {("authorization.k8s.io", "localsubjectaccessreviews")}


class _Status(msgspec.Struct):
    phase: str = "Active"


class _Meta(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Namespace(msgspec.Struct):
    metadata: _Meta
    status: _Status = msgspec.field(default_factory=_Status)


_namespace = msgspec.json.Decoder(_Namespace).decode


class Lifecycle:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def mutate(self, asked: Attributes) -> None:
        """First of all plugins: whatever the others would do, there must be a place for it."""
        served = asked.served
        if asked.operation != "CREATE" or not served.namespaced or (served.group, served.plural) in _FREE:
            return
        row = self._store.newest(f"core/namespaces/{asked.namespace}")
        if row is None:
            raise not_found("", "namespaces", asked.namespace)
        namespace = _namespace(row.value)
        if namespace.metadata.deletion_timestamp is None and namespace.status.phase != "Terminating":
            return
        why = f"unable to create new content in namespace {asked.namespace} because it is being terminated"
        error = forbidden(served.group, served.plural, asked.name, why)
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {asked.namespace} is being terminated",
            "field": "metadata.namespace",
        }
        error.details = (error.details or {}) | {"causes": [cause]}
        raise error

    async def validate(self, asked: Attributes) -> None:
        served = asked.served
        if (
            asked.operation == "DELETE"
            and (served.group, served.plural) == ("", "namespaces")
            and asked.name in _IMMORTAL
        ):
            raise forbidden("", "namespaces", asked.name, "this namespace may not be deleted")
