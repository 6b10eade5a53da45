"""Takes the protection off claims no pod uses and volumes no claim holds, when they are to be deleted."""

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
        if new is not None and new.metadata.deletion_timestamp is not None:
            self._queue.add(new.metadata.key)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """A pod that is gone may have been the last to use a claim."""
        if new is None and old is not None:
            for claim in self._claims.all():
                if claim.metadata.namespace == old.metadata.namespace:
                    self._changed(None, claim)

    async def _look(self, key: _Key) -> None:
        namespace, name = key
        if namespace:
            claim = self._claims.get(name, namespace)
            if (
                claim is not None
                and CLAIM_GUARD in claim.metadata.finalizers
                and not await self._in_use(claim.metadata)
            ):
                await self._release(CLAIMS, claim.metadata, CLAIM_GUARD)
        else:
            volume = self._volumes.get(name)
            if volume is not None and VOLUME_GUARD in volume.metadata.finalizers and volume.status.phase != "Bound":
                await self._release(VOLUMES, volume.metadata, VOLUME_GUARD)

    async def _in_use(self, claim: Meta) -> bool:
        """Asks the server, not the cache: what is seen too late cannot be put back."""
        pods = await self._client.list(PODS, claim.namespace)
        return any(uses(pod, claim.name) for pod in pods.items)

    async def _release(self, resource: Resource[Stored], metadata: Meta, guard: str) -> None:
        left = [finalizer for finalizer in metadata.finalizers if finalizer != guard]
        patch = {"metadata": {"resourceVersion": metadata.resource_version, "finalizers": left or None}}
        try:
            await self._client.patch(resource, metadata.name, patch, metadata.namespace or None)
        except StatusError as error:
            if error.code not in {404, 409}:
                raise
