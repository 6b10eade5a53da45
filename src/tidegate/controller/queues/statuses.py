"""Statuses of Queues and ClusterQueues, written only where something is different."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from tidegate.controller.doors.tree import what_is_wrong
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, Key, key_of
from tidegate.controller.queues.quotas import linked
from tidegate.controller.seen.workloads import ANY_FLAVOR
from tidegate.controller.told.queues import Slips, active, guaranteed, queue_status
from tidegate.controller.watch.cache import Cache
from tidegate.controller.writing import with_status
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.codec import encode_status, read
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import QueueStatus, Stop
from tidegate.model.kinds.shape import Condition, is_requestable
from tidegate.model.problems import ManifestError
from tidegate.scheduler import Plan

_log = logging.getLogger(__name__)

_AT_ONCE = 4
"""Writes under way: queues are never in the way of Workloads."""
_SLOW_S = 1.0
"""A write that takes longer is not waited for."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a report: whether every status is as it says, and how long that took but for those that hang."""

    everything: bool
    took_s: float


class QueueStatuses:
    """The one writer of the statuses of queues; of each queue one write at a time."""

    def __init__(self, client: Client, cache: Cache, refused: Mapping[str, str] = MappingProxyType({})) -> None:
        """`refused`: namespaces whose ResourceQuota the server does not take, and why."""
        self._client = client
        self._cache = cache
        self._refused = refused
        self._limit = asyncio.Semaphore(_AT_ONCE)
        self._sending: dict[tuple[str, Key], asyncio.Task[bool]] = {}
        self._meant: dict[tuple[str, Key], Object] = {}
        """What each queue is to say."""
        self.differs: Callable[[], None] = lambda: None
        """Called when a queue is heard to say something else."""
        cache.cluster_queues.on_change(partial(self._heard, CLUSTER_QUEUES.plural))
        cache.queues.on_change(partial(self._heard, QUEUES.plural))

    def _heard(self, plural: str, old: Object | None, new: Object | None) -> None:
        """An earlier write of ours may be heard of, or take effect, after what is meant now was found to be said."""
        if new is None:
            if old is not None:
                self._meant.pop((plural, key_of(old)), None)
        elif self._meant.get((plural, key_of(new)), new.get("status")) != new.get("status"):
            self.differs()

    async def write(self, plan: Plan, now: int) -> Written:
        """Bring every status up to date with a Plan's report. One that hangs is left to itself."""
        began = asyncio.get_running_loop().time()
        writes = [self._one(CLUSTER_QUEUES, ClusterQueue, obj, plan, now) for obj in self._cache.cluster_queues.all()]
        writes += [self._one(QUEUES, Queue, obj, plan, now) for obj in self._cache.queues.all()]
        ended = await asyncio.gather(*writes)
        last = max((at for at in ended if at is not None), default=began)
        return Written(None not in ended, last - began)

    async def _one(self, resource: Resource[Object], kind: Any, obj: Object, plan: Plan, now: int) -> float | None:
        """When it was as it is to be; None where it is not yet."""
        loop, key = asyncio.get_running_loop(), (resource.plural, key_of(obj))
        if key in self._sending:
            return None
        status = self._wanted(resource, kind, obj, plan, now)
        if status is None:
            return loop.time()
        async with self._limit:
            sending = self._sending[key] = asyncio.create_task(self._send(resource, obj, status))
            sending.add_done_callback(lambda _: self._sending.pop(key))
            done, _ = await asyncio.wait([sending], timeout=_SLOW_S)
        return loop.time() if done and sending.result() else None

    def _wanted(self, resource: Resource[Object], kind: Any, obj: Object, plan: Plan, now: int) -> QueueStatus | None:
        """Its status, if that is another than it has."""
        try:
            queue = read(kind, obj)
        except ManifestError:
            return None
        meta = queue.metadata
        standing = plan.standings.get(f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name)
        says: list[Condition] = []
        if isinstance(queue, ClusterQueue):
            stopped, unknown = queue.spec.stop is not Stop.NONE, meta.name in plan.unknown_policies
            says.append(active(standing, stopped=stopped, unknown_policy=unknown, slips=self._slips(obj, queue)))
            if standing is not None:
                says.append(guaranteed(standing))
        else:
            says.append(active(standing, slips=self._slips_of_door(queue)))
            says += linked(queue, self._cache, self._refused)
        status = queue_status(queue.status, standing, now, says)
        self._meant[resource.plural, key_of(obj)] = encode_status(status)
        return None if status == queue.status and obj.get("status") else status

    def _slips(self, obj: Object, queue: ClusterQueue) -> Slips:
        """Of a ClusterQueue. The flavor `default` needs no describing."""
        named = {each.flavor for each in queue.spec.quotas} - {ANY_FLAVOR}
        return Slips(
            circle=what_is_wrong(obj, self._cache.cluster_queues.get) or "",
            flavors=sorted(name for name in named if self._cache.flavors.get(name) is None),
            resources=_not_requestable(name for each in queue.spec.quotas for name in each.resources),
        )

    def _slips_of_door(self, queue: Queue) -> Slips:
        limits, request = queue.spec.limits, queue.spec.request
        return Slips(
            resources=_not_requestable([*limits, *request]),
            beyond=sorted(name for name in request if name in limits and request[name] > limits[name].nano),
        )

    async def _send(self, resource: Resource[Object], obj: Object, status: QueueStatus) -> bool:
        """Whether it is so now, or nobody is there to say it of."""
        try:
            await self._client.update(resource, with_status(obj, encode_status(status)), subresource="status")
        except StatusError as refused:
            _log.debug("The status of %s was not written: %s", obj["metadata"]["name"], refused.message)
            return refused.code == 404
        except OSError as broken:
            _log.debug("The status of %s may not have been written: %s", obj["metadata"]["name"], broken)
            return False
        return True


def _not_requestable(names: Iterable[str]) -> list[str]:
    return sorted({name for name in names if not is_requestable(name)})
