"""Removes pods that nobody else will: of vanished nodes, ended long ago, or never started and on their way out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.local.controllers.caches import Caches, synced
from tidegate.local.controllers.nodes.objects import NODES
from tidegate.local.controllers.objects import plain, stamp
from tidegate.local.controllers.pod_writes import PODS
from tidegate.local.controllers.pods import Pod

ENDED_MOST = 12_500
QUARANTINE_S = 40
"""A node may be deleted and made anew at once; its pods are left alone for so long."""


@dataclass(frozen=True, slots=True)
class Condemned:
    pod: Pod
    orphaned: bool = False


def condemned(pods: Iterable[Pod], lost_nodes: set[str], *, ended_most: int = ENDED_MOST) -> list[Condemned]:
    """Who is to go, each once: of lost nodes, unscheduled and terminating, and the oldest of too many ended ones."""
    found: dict[str, Condemned] = {}
    ended: list[Pod] = []
    for pod in pods:
        if pod.spec.node_name in lost_nodes:
            found[pod.uid] = Condemned(pod, orphaned=True)
        elif pod.metadata.deletion_timestamp is not None and not pod.spec.node_name:
            found[pod.uid] = Condemned(pod)
        elif pod.finished and pod.metadata.deletion_timestamp is None:
            ended.append(pod)
    surplus = len(ended) - ended_most
    if surplus > 0:
        # Evicted pods tell least.
        ended.sort(key=lambda pod: (pod.status.reason != "Evicted", pod.metadata.created, pod.metadata.name))
        found |= {pod.uid: Condemned(pod) for pod in ended[:surplus]}
    return list(found.values())


class PodGcController:
    def __init__(
        self,
        client: Client,
        caches: Caches,
        clock: Callable[[], datetime],
        *,
        period_s: float = 20.0,
        quarantine_s: int = QUARANTINE_S,
        ended_most: int = ENDED_MOST,
    ) -> None:
        self._client, self._clock = client, clock
        self._pods, self._nodes = caches.pods, caches.nodes
        self._period_s, self._quarantine, self._ended_most = period_s, timedelta(seconds=quarantine_s), ended_most
        self._missing: dict[str, datetime] = {}

    async def run(self) -> None:
        await synced(self._pods, self._nodes)
        while True:
            try:
                await self._collect()
            except (StatusError, OSError) as error:
                logging.getLogger(__name__).warning("Collecting pods failed (%s); trying again later.", error)
            await asyncio.sleep(self._period_s)

    async def _collect(self) -> None:
        now = self._clock()
        lost = await self._lost_nodes(now)
        for each in condemned(list(self._pods.all()), lost, ended_most=self._ended_most):
            await self._remove(each, now)

    async def _lost_nodes(self, now: datetime) -> set[str]:
        """Nodes that pods name, that have been missing for the whole quarantine, and that the server does not know."""
        named = {pod.spec.node_name for pod in self._pods.all()} - {""}
        missing = {name for name in named if self._nodes.get(name) is None}
        self._missing = {name: self._missing.get(name, now) for name in missing}
        overdue = [name for name, since in self._missing.items() if now - since >= self._quarantine]
        return {name for name in overdue if not await self._exists(name)}

    async def _exists(self, name: str) -> bool:
        try:
            await self._client.get(NODES, name)
        except StatusError as error:
            if error.code == 404:
                return False
            raise
        return True

    async def _remove(self, each: Condemned, now: datetime) -> None:
        """One that has not ended fails first, so that whoever owns it sees how it ended."""
        metadata = each.pod.metadata
        try:
            if not each.pod.finished:
                patch = {"status": _failed(each, now), "metadata": {"uid": metadata.uid}}
                await self._client.patch(
                    PODS, metadata.name, patch, metadata.namespace, type="strategic", subresource="status"
                )
            await self._client.delete(PODS, metadata.name, metadata.namespace, grace_period_s=0, uid=metadata.uid)
        except StatusError as error:
            if error.code not in {404, 409}:
                raise


def _failed(each: Condemned, now: datetime) -> Object:
    status: Object = {"phase": "Failed"}
    if each.orphaned:
        reason = {"reason": "DeletionByPodGC", "message": "PodGC: node no longer exists"}
        moment = plain(stamp(now))
        status["conditions"] = [{"type": "DisruptionTarget", "status": "True", "lastTransitionTime": moment, **reason}]
    return status
