"""Planning does not wait for writing, and what is given waits for what is taken, and for nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.controller.operator import Operator
from tidegate.kube.client import Client
from tidegate.kube.resources import NAMESPACES
from tidegate.kube.wire import Object, Request, Response, Transport
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.server import SimulatedServer, a_folder

LONG_S = 60.0


class SlowWire:
    """Writes of some objects' statuses take long to arrive."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.slow: set[str] = set()

    async def send(self, request: Request) -> Response:
        if request.method == "PUT" and request.path.endswith("/status") and request.path.split("/")[-2] in self.slow:
            await asyncio.sleep(LONG_S)
        return await self._transport.send(request)

    async def close(self) -> None:
        """It is not ours to close."""


class Bench:
    """Two ClusterQueues of two CPUs each, and an operator behind a wire."""

    def __init__(self, folder: Path, loop: VirtualLoop) -> None:
        self.server = SimulatedServer(folder, loop, Random(0))
        self.wire = SlowWire(self.server.transport)
        self.client = self.server.client
        self._operator = Operator(Client(self.wire), clock=loop.unix)

    async def play(self, story: Callable[[Bench], Awaitable[None]]) -> None:
        self.server.start(controllers=False)
        await self.client.create(NAMESPACES, {"metadata": {"name": "n"}})
        for name in ("left", "right"):
            quotas = [{"flavor": "default", "resources": {"cpu": {"nominalQuota": "2"}}}]
            spec = {"quotas": quotas, "preemption": {"withinQueue": "LowerPriority"}}
            await self.client.create(CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": spec})
            queue = {"metadata": {"name": name, "namespace": "n"}, "spec": {"clusterQueue": name}}
            await self.client.create(QUEUES, queue)
        running = asyncio.create_task(self._operator.run())
        await story(self)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await self.server.stop()

    async def workload(self, name: str, queue: str, *, count: int = 2, priority: int = 0) -> None:
        pods = {"name": "main", "count": count, "requests": {"cpu": "1"}}
        spec = {"queue": queue, "priority": priority, "podSets": [pods]}
        await self.client.create(WORKLOADS, {"metadata": {"name": name, "namespace": "n"}, "spec": spec})

    async def state(self, name: str) -> str:
        found: Object = await self.client.get(WORKLOADS, name, "n")
        return str((found.get("status") or {}).get("state"))


@pytest.fixture
def play() -> Iterator[Callable[[Callable[[Bench], Awaitable[None]]], None]]:
    async def main(folder: Path, story: Callable[[Bench], Awaitable[None]], loop: VirtualLoop) -> None:
        await Bench(folder, loop).play(story)

    with a_folder() as folder:
        yield lambda story: run(partial(main, folder, story))


Play = Callable[[Callable[[Bench], Awaitable[None]]], None]


def test_a_write_that_takes_long_is_in_nobodys_way(play: Play) -> None:
    """One slow answer of the server, and nobody was given anything until it had come."""

    async def story(bench: Bench) -> None:
        bench.wire.slow = {"slow", "left"}
        await bench.workload("slow", "left", count=1)
        await asyncio.sleep(5)
        for name, queue in (("same", "left"), ("other", "right")):
            await bench.workload(name, queue, count=1)
        await asyncio.sleep(5)
        assert [await bench.state(name) for name in ("slow", "same", "other")] == ["None", "Admitted", "Admitted"]
        await bench.workload("late", "left", count=1)
        await asyncio.sleep(5)
        assert await bench.state("late") != "Admitted", "what is on its way is taken"
        await asyncio.sleep(LONG_S)
        assert [await bench.state(name) for name in ("slow", "late")] == ["Admitted", "Pending"]

    play(story)


def test_who_is_given_room_waits_until_it_is_taken(play: Play) -> None:
    async def story(bench: Bench) -> None:
        await bench.workload("low", "left")
        await asyncio.sleep(5)
        assert await bench.state("low") == "Admitted"
        bench.wire.slow = {"low"}
        await bench.workload("high", "left", priority=9)
        await asyncio.sleep(LONG_S / 2)
        states: list[Any] = [await bench.state(name) for name in ("low", "high")]
        assert states[0] == "Admitted"
        assert states[1] != "Admitted", "killed now, somebody would hold what another has"
        await asyncio.sleep(LONG_S)
        assert [await bench.state(name) for name in ("low", "high")] == ["Evicted", "Admitted"]

    play(story)


def test_reports_do_not_keep_whoever_is_given_something_waiting(play: Play) -> None:
    """Everybody who waited was told why before the next cycle began."""

    async def story(bench: Bench) -> None:
        names = [f"w{number}" for number in range(20)]
        bench.wire.slow = {*names, "left", "right"}
        for name in names:
            await bench.workload(name, "left", count=3)
        await asyncio.sleep(5)
        await bench.workload("fits", "left")
        await asyncio.sleep(5)
        assert await bench.state("fits") == "Admitted"

    play(story)
