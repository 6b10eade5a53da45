"""Crowds: worlds in which nearly everybody wants more than there is, so that most plans take from somebody.

Drawn from a seed, so that a world that broke a law is told by one number and stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.scheduler.world import World, pods, quotas

RESOURCES = ("cpu", "memory", "gpu")
FLAVORS = ("default", "fast", "spot")


class Crowd:
    """A crowded world, and what happens in it."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = Random(seed)
        self.world = World(stop=chance.choice([0, 0, 2, 40]))
        self.resources = RESOURCES[: chance.choice([1, 2, 2, 2, 3])]
        self.flavors = FLAVORS[: chance.choice([1, 1, 2, 3])]
        self.size = chance.choice([6, 9, 13, 20])
        self.quotas: dict[str, list[dict[str, Any]]] = {}
        self.rules: dict[str, dict[str, Any]] = {}
        self.names: list[str] = []
        self._build()

    def _build(self) -> None:
        chance, world = self.chance, self.world
        if len(self.flavors) > 1:
            for flavor in self.flavors:
                world.flavor(flavor, nodeLabels={"kind": flavor})
        for index, flavor in enumerate(self.flavors):
            self._join(f"n{index}", flavor, self.size // 2)
        if chance.random() < 0.5:
            self._join("more", chance.choice(self.flavors), 1)
        self._cluster_queue("root", [], {})
        for index in range(chance.randint(1, 5)):
            parent = chance.choice(list(self.rules))
            self._cluster_queue(f"c{index}", self._some_quotas() if chance.random() < 0.5 else [], {"parent": parent})
        for index in range(chance.randint(2, 5)):
            limits = {chance.choice(self.resources): str(chance.randint(2, 9))} if chance.random() < 0.1 else {}
            where = chance.choice(list(self.rules))
            world.queue(f"t{index}/q", where, weight=chance.randint(1, 3), **({"limits": limits} if limits else {}))
        for _ in range(chance.randint(2, 4)):
            self._submit()

    def play(self) -> None:
        """Let it happen; fails at the first law that is broken."""
        self.world.settle()
        for _ in range(self.chance.randint(3, 10)):
            for _ in range(self.chance.choice([1, 1, 2, 3])):
                self._happen()
            self.world.now += 1
            self.world.settle()

    def _happen(self) -> None:
        if self.chance.random() < 0.45:
            self._submit()
            return
        events: list[Callable[[], None]] = [self._end, self._succeed, self._fail, self._resize, self._resize]
        events += [self._lose, self._change_node, self._wait, self._change_quotas, self._stop]
        self.chance.choice(events)()

    def _submit(self) -> None:
        chance = self.chance
        queue = chance.choice(sorted(self.world.queues))
        sets = []
        for index in range(chance.choice([1, 1, 1, 2])):
            floor = chance.choice([0, 1, 1, 2, 3, 4])
            requests = {name: str(chance.choice([0, 1, 1, 1, 2, 3])) for name in self.resources}
            if "gpu" in requests:
                requests["gpu"] = chance.choice(["0", "1"])
            if chance.random() < 0.1:
                requests["cpu"] = "500m"
            count, step = floor + chance.choice([0, 2, 4, 8, 12]), chance.choice([1, 1, 2, 2, 3])
            sets.append(pods(count, floor, name=f"p{index}", step=step, mixes=chance.random() < 0.7, **requests))
        self.names.append(f"{queue.partition('/')[0]}/w{len(self.names)}")
        priority, seconds = chance.choice([0, 0, 0, 1, 2, 5]), chance.choice([None, None, None, None, 60])
        self.world.submit(self.names[-1], *sets, queue=queue, priority=priority, max_run_seconds=seconds)

    def _running(self) -> str | None:
        """Somebody who is admitted and has pods, if any is."""
        there = self.world.workloads
        found = [name for name in self.names if name in there and there[name].admitted_at is not None]
        found = [name for name in found if self.world.pods(name)]
        return self.chance.choice(found) if found else None

    def _end(self) -> None:
        if name := self._running():
            self.world.end(name)

    def _succeed(self) -> None:
        if name := self._running():
            self.world.succeed(name)

    def _fail(self) -> None:
        if name := self._running():
            self.world.there.fail(name, self.world.workloads[name].pod_sets[0].name, 1)

    def _resize(self) -> None:
        if (name := self._running()) and not (first := self.world.workloads[name].pod_sets[0]).ended:
            self.world.resize(name, first.floor + self.chance.randint(0, 8))

    def _lose(self) -> None:
        if len(self.world.nodes) > 1:
            del self.world.nodes[self.chance.choice(sorted(self.world.nodes))]

    def _change_node(self) -> None:
        self._join(self.chance.choice(["n0", "more"]), self.chance.choice(self.flavors), 1)

    def _join(self, name: str, flavor: str, least: int) -> None:
        amounts = {resource: str(self.chance.randint(least, self.size)) for resource in self.resources}
        self.world.node(name, {"kind": flavor}, **amounts)

    def _wait(self) -> None:
        self.world.now += self.chance.choice([1, 30, 100, 700])

    def _change_quotas(self) -> None:
        name = self.chance.choice(list(self.rules)[1:])
        self._cluster_queue(name, self._some_quotas(), self.rules[name])

    def _stop(self) -> None:
        name = self.chance.choice(list(self.rules)[1:])
        how = self.chance.choice(["None", "None", "Hold", "HoldAndDrain"])
        self._cluster_queue(name, self.quotas[name], {**self.rules[name], "stop": how})

    def _cluster_queue(self, name: str, given: list[dict[str, Any]], rules: dict[str, Any]) -> None:
        if name not in self.rules:
            rules = self._some_rules() | rules
        self.quotas[name], self.rules[name] = given, rules
        self.world.cluster_queue(name, *given, **rules)

    def _some_rules(self) -> dict[str, Any]:
        chance = self.chance
        within, across = (
            ["Never", "LowerPriority", "LowerOrNewerEqualPriority"],
            ["Never", "LowerPriority", "FairShare"],
        )
        return {
            "weight": chance.randint(1, 3),
            "ordering": _mostly(chance, "BestEffort", ["Strict"]),
            "policy": _mostly(chance, "drf", ["fifo", "priority"]),
            "patience": _mostly(chance, "1h", ["60s"]),
            "preemption": {"withinQueue": chance.choice(within), "acrossQueues": chance.choice([*across, "FairShare"])},
        }

    def _some_quotas(self) -> list[dict[str, Any]]:
        most = max(2, self.size * 3 // 8)
        return [
            quotas(flavor, **{resource: self._some_quota(most) for resource in self.resources})
            for flavor in self.flavors
            if self.chance.random() < 0.5
        ]

    def _some_quota(self, most: int) -> tuple[str | None, ...]:
        """What is guaranteed; rarely, how much may be borrowed and lent."""
        limits = [str(self.chance.randint(0, 4)) if self.chance.random() < 0.25 else None for _ in range(2)]
        return (str(self.chance.randint(0, most)), *limits)


def _mostly(chance: Random, usual: str, others: Sequence[str]) -> str:
    return usual if chance.random() < 0.85 else chance.choice(others)
