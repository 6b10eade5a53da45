"""A small server on virtual time, and an operator behind a wire that can be slow, or say no."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any, Protocol

import msgspec

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.controller.operator import Operator
from tidegate.controller.replica import Replica, Settings
from tidegate.kube.client import Client
from tidegate.kube.resources import NAMESPACES
from tidegate.kube.wire import Object, Request, Response, Transport
from tidegate.sim.faults.loop import VirtualLoop
from tidegate.sim.faults.server import SimulatedServer

LONG_S = 60.0


class Wire:
    """Some writes of some objects take long to arrive, or are refused: once, or as long as it lasts. Counts writes."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.slow: set[str] = set()
        self.refused: dict[str, int] = {}
        self.lasting = False
        self.refusals = 0
        self.part = "/status"
        """How the path of those ends that it is about: what follows the name."""
        self.writes: Counter[str] = Counter()
        """By method and kind."""

    async def send(self, request: Request) -> Response:
        if request.method == "GET":
            return await self._transport.send(request)
        *_, kind, name = request.path.removesuffix("/status").split("/")
        self.writes[f"{request.method} {name if request.method == 'POST' else kind}"] += 1
        if request.method != "PUT" or not request.path.endswith(name + self.part):
            return await self._transport.send(request)
        if name in self.slow:
            await asyncio.sleep(LONG_S)
        if (code := self.refused.get(name)) is not None:
            self.refusals += 1
            if not self.lasting:
                del self.refused[name]
            return Response(code, msgspec.json.encode({"kind": "Status", "code": code, "message": "not so"}))
        return await self._transport.send(request)

    async def close(self) -> None:
        """It is not ours to close."""


class Bench:
    """Two ClusterQueues of two CPUs each, and an operator behind a wire; `led` by a lease, as on a cluster."""

    def __init__(self, folder: Path, loop: VirtualLoop, *, led: bool = False) -> None:
        self.server = SimulatedServer(folder, loop, Random(0))
        self.wire = Wire(self.server.transport)
        self.client = self.server.client
        client = Client(self.wire)
        self._operator = Replica(client, Settings()) if led else Operator(client, clock=loop.unix)

    async def play(self, story: Callable[[Bench], Awaitable[None]]) -> None:
        self.server.start(controllers=False)
        labels = {"tidegate.dev/managed": "true"}
        await self.client.create(NAMESPACES, {"metadata": {"name": "n", "labels": labels}})
        for name in ("left", "right"):
            spec = {"quotas": quota(2), "preemption": {"withinQueue": "LowerPriority"}}
            await self.client.create(CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": spec})
            queue = {"metadata": {"name": name, "namespace": "n"}, "spec": {"clusterQueue": name}}
            await self.client.create(QUEUES, queue)
        running = asyncio.create_task(self._operator.run())
        await story(self)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        sent = self.wire.writes.total()
        await asyncio.sleep(2 * LONG_S)
        assert self.wire.writes.total() == sent, "who has ended writes no more"
        await self.server.stop()

    async def workload(self, name: str, queue: str, *, count: int = 2, priority: int = 0) -> None:
        pods = {"name": "main", "count": count, "requests": {"cpu": "1"}}
        spec = {"queue": queue, "priority": priority, "podSets": [pods]}
        await self.client.create(WORKLOADS, {"metadata": {"name": name, "namespace": "n"}, "spec": spec})

    async def state(self, name: str) -> str:
        found: Object = await self.client.get(WORKLOADS, name, "n")
        return str((found.get("status") or {}).get("state"))

    async def reason(self, name: str) -> str:
        """Why it waits, as it was told."""
        found: Object = await self.client.get(WORKLOADS, name, "n")
        return str(((found.get("status") or {}).get("waiting") or {}).get("reason") or "")


def quota(cpus: int) -> list[Any]:
    return [{"flavor": "default", "resources": {"cpu": {"nominalQuota": str(cpus)}}}]


Story = Callable[[Bench], Awaitable[None]]


class Play(Protocol):
    """Tells a story."""

    def __call__(self, story: Story, *, led: bool = False) -> None: ...
