"""Takes the protection off claims no pod uses and volumes no claim holds, when they are to be deleted; puts it back on
those that lost it and are to stay."""

from __future__ import annotations

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object, Resource
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, synced
from tidegate.local.controllers.objects import Meta, Struct
from tidegate.local.controllers.pods import Pod

CLAIM_GUARD = "kubernetes.io/pvc-protection"
VOLUME_GUARD = "kubernetes.io/pv-protection"


class Status(Struct, frozen=True):
    phase: str = ""


class Stored(Struct, frozen=True):
    """A volume or a claim."""

    metadata: Meta
    status: Status = Status()


CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", type=Stored)
VOLUMES = Resource("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False, type=Stored)

_Key = tuple[str, str]
"""Namespace and name; a volume has no namespace."""


def uses(pod: Object, claim: str) -> bool:
    """Whether a node may have the claim mounted for this pod: one that has no node yet will not start any more."""
    spec = pod.get("spec") or {}
    volumes = spec.get("volumes") or ()
    named = any((volume.get("persistentVolumeClaim") or {}).get("claimName") == claim for volume in volumes)
    return named and bool(spec.get("nodeName"))


class ProtectionController:
    def __init__(self, client: Client, caches: Caches) -> None:
        self._client = client
        self._claims, self._volumes = caches.follow(CLAIMS), caches.follow(VOLUMES)
        self._pods = caches.pods
        self._queue: WorkQueue[_Key] = WorkQueue()
        self._claims.on_change(self._changed)
        self._volumes.on_change(self._changed)
        self._pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._claims, self._volumes, self._pods)
        await self._queue.run(self._look, workers=1)

    def _changed(self, _: Stored | None, new: Stored | None) -> None:
        if new is not None and (new.metadata.deletion_timestamp is not None or not _is_guarded(new.metadata)):
            self._queue.add(new.metadata.key)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """A pod that is gone may have been the last to use a claim."""
        if new is None and old is not None:
            for claim in self._claims.all():
                if claim.metadata.namespace == old.metadata.namespace:
                    self._changed(None, claim)

    async def _look(self, key: _Key) -> None:
        namespace, name = key
        resource = CLAIMS if namespace else VOLUMES
        found = self._claims.get(name, namespace) if namespace else self._volumes.get(name)
        if found is None:
            return
        metadata = found.metadata
        if metadata.deletion_timestamp is None:
            if not _is_guarded(metadata):
                await self._hold(resource, metadata, [*metadata.finalizers, _guard_of(metadata)])
        elif _is_guarded(metadata):
            used = await self._in_use(metadata) if namespace else found.status.phase == "Bound"
            if not used:
                left = [finalizer for finalizer in metadata.finalizers if finalizer != _guard_of(metadata)]
                await self._hold(resource, metadata, left)

    async def _in_use(self, claim: Meta) -> bool:
        """Asks the server, not the cache: what is seen too late cannot be put back."""
        pods = await self._client.list(PODS, claim.namespace)
        return any(uses(pod, claim.name) for pod in pods.items)

    async def _hold(self, resource: Resource[Stored], metadata: Meta, finalizers: list[str]) -> None:
        patch = {"metadata": {"resourceVersion": metadata.resource_version, "finalizers": finalizers or None}}
        try:
            await self._client.patch(resource, metadata.name, patch, metadata.namespace or None)
        except StatusError as error:
            if error.code not in {404, 409}:
                raise


def _guard_of(metadata: Meta) -> str:
    return CLAIM_GUARD if metadata.namespace else VOLUME_GUARD


def _is_guarded(metadata: Meta) -> bool:
    return _guard_of(metadata) in metadata.finalizers
