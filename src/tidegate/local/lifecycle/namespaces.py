"""Namespaces that are deleted: everything in them goes first, pods before the rest, then the namespace itself."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field

import msgspec

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import NAMESPACES
from tidegate.kube.wire import Object, Resource
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.served import Served
from tidegate.local.store import Change

log = logging.getLogger(__name__)

_PREFIX = "core/namespaces/"


@dataclass(slots=True)
class _Left:
    """What is still there."""

    objects: Counter[str] = field(default_factory=Counter)
    finalizers: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


class NamespaceDeletion:
    def __init__(self, api: Api, client: Client) -> None:
        self._api = api
        self._client = client
        self._ending: set[str] = set()
        self._woken = asyncio.Event()

    async def run(self) -> None:
        for row in self._api.store.range(_PREFIX):
            self._note(row.value)
        self._api.store.listen(self._heard)
        while True:
            self._woken.clear()  # First: what is heard during the work is work again.
            await self._work()
            await self._woken.wait()

    def _heard(self, change: Change) -> None:
        """Wakes for a namespace that is going, and for everything that goes from one."""
        key = change.row.key
        if key.startswith(_PREFIX):
            if change.deleted:
                self._ending.discard(key.removeprefix(_PREFIX))
            elif self._note(change.row.value):
                self._woken.set()
        elif self._ending and change.deleted and any(f"/{name}/" in key for name in self._ending):
            self._woken.set()

    def _note(self, value: bytes) -> bool:
        metadata = msgspec.json.decode(value)["metadata"]
        if metadata.get("deletionTimestamp") and metadata["name"] not in self._ending:
            self._ending.add(metadata["name"])
            return True
        return bool(metadata.get("deletionTimestamp"))

    async def _work(self) -> None:
        for name in sorted(self._ending):
            try:
                await self._empty(name)
            except StatusError as error:
                if error.code not in (404, 409):
                    log.warning("namespace %s cannot be emptied: %s", name, error.message)

    async def _empty(self, name: str) -> None:
        left = _Left()
        inside = [served for served in self._api.registry.stored() if served.namespaced]
        pods = [served for served in inside if served.plural == "pods" and not served.group]
        for served in pods:
            await self._remove(served, name, left)
        if not left.objects:
            for served in inside:
                if served not in pods:
                    await self._remove(served, name, left)
        if left.objects or left.errors:
            await self._report(name, left)
            return
        await self._finish(name)

    async def _remove(self, served: Served, namespace: str, left: _Left) -> None:
        prefix = served.collection(namespace)
        if not self._api.store.count(prefix):
            return
        resource: Resource[Object] = Resource(served.group, served.version, served.plural, served.kind)
        try:
            await self._client.delete_collection(resource, namespace)
        except StatusError as error:
            left.errors.append(error.message)
        for row in self._api.store.range(prefix):
            left.objects[served.qualified] += 1
            for finalizer in msgspec.json.decode(row.value)["metadata"].get("finalizers") or []:
                left.finalizers[finalizer] += 1

    async def _finish(self, name: str) -> None:
        namespace = await self._client.get(NAMESPACES, name)
        if not namespace["metadata"].get("deletionTimestamp"):
            return
        kept = [item for item in namespace["spec"].get("finalizers") or [] if item != "kubernetes"]
        namespace["spec"]["finalizers"] = kept
        self._ending.discard(name)
        await self._client.update(NAMESPACES, namespace, subresource="finalize")

    async def _report(self, name: str, left: _Left) -> None:
        """Says in the namespace's status what it still waits for."""
        namespace = await self._client.get(NAMESPACES, name)
        known = {condition["type"]: condition for condition in namespace["status"].get("conditions") or []}
        now = self._api.now()
        made = [finding.condition(known.get(finding.type), now) for finding in _findings(left)]
        if made != namespace["status"].get("conditions"):
            namespace["status"]["conditions"] = made
            await self._client.update(NAMESPACES, namespace, subresource="status")


@dataclass(frozen=True, slots=True)
class _Finding:
    """One condition as it is now."""

    type: str
    holds: bool
    reason: str
    message: str

    def condition(self, before: Object | None, now: str) -> Object:
        status = "True" if self.holds else "False"
        since = before["lastTransitionTime"] if before and before["status"] == status else now
        said = {"type": self.type, "status": status, "lastTransitionTime": since}
        return said | {"reason": self.reason, "message": self.message}


def _findings(left: _Left) -> list[_Finding]:
    """In the words of Kubernetes, which its own tests look for."""
    objects = ", ".join(f"{name} has {count} resource instances" for name, count in sorted(left.objects.items()))
    held = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(left.finalizers.items()))
    discovered = "All resources successfully discovered"
    parsed = "All legacy kube types successfully parsed"
    deleted = _Finding(
        "NamespaceDeletionContentFailure",
        holds=False,
        reason="ContentDeleted",
        message="All content successfully deleted, may be waiting on finalization",
    )
    if left.errors:
        failed = f"Failed to delete all resource types, {len(left.errors)} remaining: {', '.join(left.errors)}"
        deleted = _Finding(deleted.type, holds=True, reason="ContentDeletionFailed", message=failed)
    remaining = _Finding("NamespaceContentRemaining", False, "ContentRemoved", "All content successfully removed")
    if objects:
        some = f"Some resources are remaining: {objects}"
        remaining = _Finding(remaining.type, holds=True, reason="SomeResourcesRemain", message=some)
    finished = "All content-preserving finalizers finished"
    finalizers = _Finding("NamespaceFinalizersRemaining", False, "ContentHasNoFinalizers", finished)
    if held:
        some = f"Some content in the namespace has finalizers remaining: {held}"
        finalizers = _Finding(finalizers.type, holds=True, reason="SomeFinalizersRemain", message=some)
    return [
        _Finding("NamespaceDeletionDiscoveryFailure", False, "ResourcesDiscovered", discovered),
        _Finding("NamespaceDeletionGroupVersionParsingFailure", False, "ParsedGroupVersions", parsed),
        deleted,
        remaining,
        finalizers,
    ]
