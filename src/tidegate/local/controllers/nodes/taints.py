"""Taints that say what a node's conditions say, so that pods which do not tolerate a sick node stay away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, synced
from tidegate.local.controllers.nodes.objects import NODES, Node
from tidegate.local.controllers.objects import plain, stamp

_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
_OF_CONDITION = {
    ("Ready", "False"): "node.kubernetes.io/not-ready",
    ("Ready", "Unknown"): "node.kubernetes.io/unreachable",
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
}
_OURS = frozenset([_UNSCHEDULABLE, *_OF_CONDITION.values()])


def wanted_taints(node: Node) -> list[Object]:
    """All taints the node should have: those of others as they are, then ours as its conditions are."""
    said = [_OF_CONDITION.get((condition.type, condition.status)) for condition in node.status.conditions]
    wanted = [key for key in said if key]
    if node.spec.unschedulable:
        wanted.append(_UNSCHEDULABLE)
    kept = [taint for taint in node.spec.taints if not _is_ours(taint) or taint["key"] in wanted]
    held = {taint["key"] for taint in kept if _is_ours(taint)}
    return [*kept, *({"key": key, "effect": "NoSchedule"} for key in wanted if key not in held)]


def _is_ours(taint: Object) -> bool:
    return taint.get("effect") == "NoSchedule" and taint.get("key") in _OURS


class NodeTaintController:
    def __init__(self, client: Client, caches: Caches, clock: Callable[[], datetime]) -> None:
        self._client, self._nodes, self._clock = client, caches.nodes, clock
        self._queue: WorkQueue[str] = WorkQueue()
        self._nodes.on_change(self._changed)

    async def run(self) -> None:
        await synced(self._nodes)
        await self._queue.run(self._look, workers=1)

    def _changed(self, _: Node | None, new: Node | None) -> None:
        if new is not None and wanted_taints(new) != list(new.spec.taints):
            self._queue.add(new.metadata.name)

    async def _look(self, name: str) -> None:
        node = self._nodes.get(name)
        if node is None or (taints := wanted_taints(node)) == list(node.spec.taints):
            return
        now = plain(stamp(self._clock()))
        taints = [taint if taint in node.spec.taints else taint | {"timeAdded": now} for taint in taints]
        # With the version read: a taint somebody set meanwhile must not be lost.
        patch = {"metadata": {"resourceVersion": node.metadata.resource_version}, "spec": {"taints": taints or None}}
        try:
            await self._client.patch(NODES, name, patch)
        except StatusError as error:
            if error.code not in {404, 409}:
                raise
