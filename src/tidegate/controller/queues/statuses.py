"""Statuses of Queues and ClusterQueues, written only where something is different."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, Key, key_of
from tidegate.controller.queues.quotas import linked
from tidegate.controller.told.queues import active, guaranteed, queue_status
from tidegate.controller.watch.cache import Cache
from tidegate.controller.writing import with_status
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.codec import encode_status, read
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import Stop
from tidegate.model.kinds.shape import Condition
from tidegate.model.problems import ManifestError
from tidegate.scheduler import Plan

_log = logging.getLogger(__name__)

_AT_ONCE = 4
"""Writes under way: queues are never in the way of Workloads."""


class QueueStatuses:
    """The one writer of the statuses of queues."""

    def __init__(self, client: Client, cache: Cache) -> None:
        self._client = client
        self._cache = cache
        self._limit = asyncio.Semaphore(_AT_ONCE)
        self._meant: dict[tuple[str, Key], Object] = {}
        """What each queue is to say, by kind."""
        self.differs: Callable[[], None] = lambda: None
        """Called when a queue is heard to say something else."""
        cache.cluster_queues.on_change(partial(self._heard, CLUSTER_QUEUES.kind))
        cache.queues.on_change(partial(self._heard, QUEUES.kind))

    def _heard(self, kind: str, old: Object | None, new: Object | None) -> None:
        """An earlier write of ours may be heard of, or take effect, after what is meant now was found to be said."""
        if new is None:
            if old is not None:
                self._meant.pop((kind, key_of(old)), None)
        elif self._meant.get((kind, key_of(new)), new.get("status")) != new.get("status"):
            self.differs()

    async def write(self, plan: Plan, now: int) -> bool:
        """Bring every status up to date with a Plan's report; whether all are."""
        writes = [self._one(CLUSTER_QUEUES, ClusterQueue, obj, plan, now) for obj in self._cache.cluster_queues.all()]
        writes += [self._one(QUEUES, Queue, obj, plan, now) for obj in self._cache.queues.all()]
        return all(await asyncio.gather(*writes))

    async def _one(self, resource: Resource[Object], kind: Any, obj: Object, plan: Plan, now: int) -> bool:
        try:
            queue = read(kind, obj)
        except ManifestError:
            return True
        meta = queue.metadata
        standing = plan.standings.get(f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name)
        says: list[Condition] = []
        if isinstance(queue, ClusterQueue):
            stopped, unknown = queue.spec.stop is not Stop.NONE, meta.name in plan.unknown_policies
            says.append(active(standing, stopped=stopped, unknown_policy=unknown))
            if standing is not None:
                says.append(guaranteed(standing))
        else:
            says.append(active(standing, stopped=False, unknown_policy=False))
            says += linked(queue, self._cache)
        status = queue_status(queue.status, standing, now, says)
        content = self._meant[resource.kind, key_of(obj)] = encode_status(status)
        if status == queue.status and obj.get("status"):
            return True
        try:
            async with self._limit:
                await self._client.update(resource, with_status(obj, content), subresource="status")
        except StatusError as refused:
            _log.debug("The status of %s was not written: %s", meta.name, refused.message)
            return refused.code == 404
        return True
