"""Operators that come and go: killed at any moment, started anew, or one leading while another stands by."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from dataclasses import replace
from functools import partial
from random import Random

from tidegate.controller.operator import Operator
from tidegate.kube.client import Client
from tidegate.kube.leases import LeaderElection, LeadershipLost, Terms
from tidegate.kube.led import LedWire
from tidegate.kube.wire import Transport
from tidegate.sim.faults.loop import VirtualLoop
from tidegate.sim.faults.network import LATEST_S, Network, Weather

_TERMS = Terms(15, 10.0, 2.0)
_SKEW_S = 2.0
"""So far apart are the clocks of two machines at most."""
_WRITES = 8
_SOON_S = 5.0
_IN_ORDER = 0.3
"""Of several, so many are told to end instead."""


class Process:
    """One operator as a process: what it knows goes with it."""

    def __init__(self, network: Network, loop: VirtualLoop, identity: str, *, skew_s: float, leads_alone: bool) -> None:
        self.network = network
        self._loop = loop
        self._skew_s = skew_s
        self._identity = identity
        self._client = Client(network)
        self._task = asyncio.create_task(self._operate(self._client) if leads_alone else self._stand_in_line())

    async def _operate(self, client: Client) -> None:
        await Operator(client, clock=lambda: self._loop.unix() + self._skew_s).run()

    async def _stand_in_line(self) -> None:
        while True:
            election = LeaderElection(
                self._client, "operator", "kube-system", self._identity, terms=_TERMS, clock=self._loop.time
            )
            client = self._client.over(partial(LedWire, election=election))
            try:
                await election.run(partial(self._operate, client))
            except LeadershipLost:
                continue

    async def kill(self) -> None:
        """As `kill -9` does: nothing more is sent. What is under way may still arrive."""
        self.network.die()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def end(self) -> None:
        """As it does when it is told to: what is under way is cut off, and the lease is given back."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self.network.die()

    def check(self) -> None:
        """Raise what ended it, if anything did: an operator never ends by itself."""
        if self._task.done():
            self._task.result()
            raise AssertionError("the operator ended by itself")


class Operators:
    """One that leads alone, or two of which one leads."""

    def __init__(self, server: Transport, loop: VirtualLoop, chance: Random, weather: Weather) -> None:
        self._server, self._loop, self._chance = server, loop, chance
        self.faults: Counter[str] = Counter()
        self.invalid: list[str] = []
        """What the server said of writes that no server takes."""
        self.hanging: dict[str, float] = {}
        """By path: when a write was sent that hangs in the server."""
        self._several = chance.random() < 0.3
        self._weather = replace(weather, hangs=self._several)
        self._started = 0
        self._calm = False
        self.running: list[Process] = []

    def start(self) -> None:
        while len(self.running) < (2 if self._several else 1):
            chance = Random(self._chance.random())
            network = Network(self._server, chance, self._weather, self.faults, calm=self._calm)
            network.invalid, network.hanging = self.invalid, self.hanging
            self._started += 1
            skew_s = self._chance.random() * _SKEW_S if self._several else 0.0
            name = f"operator-{self._started}"
            self.running.append(Process(network, self._loop, name, skew_s=skew_s, leads_alone=not self._several))

    async def kill_one(self) -> None:
        """One dies, at any moment or between two of its writes, and another starts a moment after the last it sent has
        arrived."""
        self.faults["kill"] += 1
        process = self.running.pop(self._chance.randrange(len(self.running)))
        if self._several and self._chance.random() < _IN_ORDER:
            await process.end()
            self.start()
            return
        if self._chance.random() < 0.5:
            process.network.die_after(self._chance.randint(1, _WRITES))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SOON_S):
                    await process.network.dead.wait()
        await process.kill()
        await asyncio.sleep(LATEST_S + 3 * self._weather.latency_s + self._chance.random())
        self.start()

    async def part(self) -> None:
        """One cannot reach the server for a while."""
        self.faults["partition"] += 1
        network = self._chance.choice(self.running).network
        network.down = True
        await asyncio.sleep(self._chance.random() * 30)
        network.down = False

    def calm(self) -> None:
        """No more faults."""
        self._calm = True
        for process in self.running:
            process.network.calm, process.network.down = True, False

    def check(self) -> None:
        for process in self.running:
            process.check()

    async def stop(self) -> None:
        for process in self.running:
            await process.kill()
