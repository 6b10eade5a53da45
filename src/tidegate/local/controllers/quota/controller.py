"""Keeps `status.hard` and `status.used` of ResourceQuotas true.

Admission may raise `used` before an object exists; here it is counted from what exists, and lowered when one goes. A
count waits a moment after the last change, so that the caches it reads have caught up with each other.
"""

from __future__ import annotations

import asyncio

import msgspec

from tidegate.kube.client import Client
from tidegate.kube.wire import Object, Resource
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.objects import Meta, Struct
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.quota.counted import CountedKinds
from tidegate.local.controllers.quota_usage import QuotaSpec, charge, total
from tidegate.local.controllers.status import write_status
from tidegate.model.quantity import ZERO, Quantity

SETTLE_S = 0.3
RESYNC_S = 300.0


class QuotaStatus(Struct, frozen=True):
    hard: dict[str, str | int] = msgspec.field(default_factory=dict)
    used: dict[str, str | int] = msgspec.field(default_factory=dict)


class ResourceQuota(Struct, frozen=True):
    metadata: Meta
    spec: QuotaSpec = QuotaSpec()
    status: QuotaStatus = QuotaStatus()


QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", type=ResourceQuota)


class QuotaController:
    def __init__(self, client: Client, caches: Caches) -> None:
        self._client, self._caches = client, caches
        self._quotas = caches.follow(QUOTAS, namespace=lambda each: [each.metadata.namespace])
        self._kinds = CountedKinds(client, self._namespace_changed)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._quotas.on_change(self._quota_changed)
        caches.pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._quotas, self._caches.pods)
        async with asyncio.TaskGroup() as group:
            self._kinds.start_in(group)
            group.create_task(self._queue.run(self._look, workers=2))

    def _quota_changed(self, old: ResourceQuota | None, new: ResourceQuota | None) -> None:
        if new is not None and (old is None or old.spec != new.spec or old.status != new.status):
            # A new quota is counted at once: until it is, admission cannot enforce it.
            self._queue.add_after(new.metadata.key, 0 if new.status.hard != new.spec.hard else SETTLE_S)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Only what can change a count: coming, going, ending, and a change of what it asks for."""
        pod = new or old
        assert pod is not None
        if old is None or new is None or old.finished != new.finished or old.spec != new.spec:
            self._namespace_changed(pod.metadata.namespace)

    def _namespace_changed(self, namespace: str) -> None:
        for quota in self._quotas.by("namespace", namespace):
            self._queue.add_after(quota.metadata.key, SETTLE_S)

    async def _look(self, key: Key) -> float | None:
        namespace, name = key
        quota = self._quotas.get(name, namespace)
        if quota is None or quota.metadata.deletion_timestamp is not None:
            return None
        used = await self._used(quota)
        before = {resource: Quantity.parse(amount) for resource, amount in quota.status.used.items()}
        if before == used and quota.status.hard == quota.spec.hard:
            return RESYNC_S
        shown: Object = {resource: str(amount) for resource, amount in used.items()}
        old = {"hard": dict(quota.status.hard), "used": dict(quota.status.used)}
        await write_status(self._client, QUOTAS, quota.metadata, old=old, new={"hard": quota.spec.hard, "used": shown})
        return RESYNC_S

    async def _used(self, quota: ResourceQuota) -> dict[str, Quantity]:
        namespace = quota.metadata.namespace
        pods = self._caches.pods.by("namespace", namespace)
        charges = [charge(quota.spec, "", "pods", pod) for pod in pods]
        for kind in self._kinds.named_in(quota.spec.hard):
            objects = await self._kinds.objects(kind, namespace)
            charges += [charge(quota.spec, kind.group, kind.plural, each) for each in objects]
        used = total(charges)
        return {resource: used.get(resource, ZERO) for resource in quota.spec.hard}
