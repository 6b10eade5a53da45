"""Notices nodes that fall silent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.local.controllers.caches import Caches, synced
from tidegate.local.controllers.nodes.objects import LEASE_NAMESPACE, LEASES, NODES, Lease, Node
from tidegate.local.controllers.objects import condition_of, plain, stamp
from tidegate.local.controllers.pod_writes import PODS, each_pod
from tidegate.local.controllers.pods import Pod

GRACE_S = 40
_WATCHED = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


def silenced(node: Node, now: datetime) -> list[Object]:
    """The conditions of a node that says nothing any more; empty if that is known already."""
    moment = plain(stamp(now))
    conditions: list[Object] = []
    for kind in _WATCHED:
        before = condition_of(node.status.conditions, kind)
        if before is not None and before.status == "Unknown":
            continue
        said = ("NodeStatusUnknown", "Kubelet stopped posting node status.")
        if before is None:
            said = ("NodeStatusNeverUpdated", "Kubelet never posted node status.")
        condition = {"type": kind, "status": "Unknown", "reason": said[0], "message": said[1]}
        conditions.append({**condition, "lastTransitionTime": moment})
    return conditions


class NodeLifecycleController:
    def __init__(
        self,
        client: Client,
        caches: Caches,
        clock: Callable[[], datetime],
        *,
        period_s: float = 5.0,
        grace_s: int = GRACE_S,
    ) -> None:
        self._client, self._clock = client, clock
        self._period_s, self._grace = period_s, timedelta(seconds=grace_s)
        self._heard: dict[str, datetime] = {}
        """When each node was last heard of, by our own clock: its own may be wrong."""
        self._pods, self._nodes = caches.pods, caches.nodes
        self._nodes.on_change(self._node_changed)
        self._leases = caches.follow(LEASES, within=LEASE_NAMESPACE)
        self._leases.on_change(self._lease_changed)

    async def run(self) -> None:
        await synced(self._pods, self._nodes, self._leases)
        while True:
            now = self._clock()
            for node in list(self._nodes.all()):
                if now - self._heard.get(node.metadata.name, now) > self._grace:
                    await self._silence(node, now)
            before = self._clock()
            await asyncio.sleep(self._period_s)
            now = self._clock()
            self._woke(now, now - before)

    def _woke(self, now: datetime, slept: timedelta) -> None:
        """Whoever slept for longer than he meant to, with the machine or because it was stopped, has not heard anybody
        meanwhile: that says nothing of nodes, which may have slept, too. They get the time to speak."""
        missed = slept - timedelta(seconds=self._period_s)
        if missed > timedelta(0):
            self._heard = {name: min(heard + missed, now) for name, heard in self._heard.items()}

    def _lease_changed(self, old: Lease | None, new: Lease | None) -> None:
        if new is not None and (old is None or old.spec.renew_time != new.spec.renew_time):
            self._heard[new.metadata.name] = self._clock()

    def _node_changed(self, old: Node | None, new: Node | None) -> None:
        """A node that reports anything but our own Unknown is alive."""
        if new is None:
            self._heard.pop(old.metadata.name if old else "", None)
            return
        ready = condition_of(new.status.conditions, "Ready")
        changed = old is None or old.status != new.status
        if changed and (ready is None or ready.status != "Unknown" or old is None):
            self._heard[new.metadata.name] = self._clock()

    async def _silence(self, node: Node, now: datetime) -> None:
        try:
            if conditions := silenced(node, now):
                patch = {"status": {"conditions": conditions}}
                await self._client.patch(NODES, node.metadata.name, patch, type="strategic", subresource="status")
            await self._unready(node, now)
        except (StatusError, OSError) as error:
            logging.getLogger(__name__).warning("Node %s could not be marked silent: %s", node.metadata.name, error)

    async def _unready(self, node: Node, now: datetime) -> None:
        """Its pods may still run, but nobody can say so: services must not lead there."""
        condition = {"type": "Ready", "status": "False", "lastTransitionTime": plain(stamp(now))}

        async def mark(pod: Pod) -> None:
            patch = {"metadata": {"uid": pod.uid}, "status": {"conditions": [condition]}}
            metadata = pod.metadata
            await self._client.patch(
                PODS, metadata.name, patch, metadata.namespace, type="strategic", subresource="status"
            )

        await each_pod([pod for pod in self._pods.by("node", node.metadata.name) if pod.ready], mark)
