"""Workloads and mishaps by chance. One generator, seeded by whoever plays, so that a run can be had again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from tidegate.model.kinds.chance import CountSpread, DurationSpread, Rate
from tidegate.model.kinds.scenario import Mix, Synthetic, SyntheticPodSet
from tidegate.scheduler import Node
from tidegate.sim.world import Application, PodGroup, World
from tidegate.sim.world.pods import Phase

_LARGEST_GROWTH = 2
"""A resize asks for anything from the floor, and at least one pod, up to this many times what was wanted: who wants
none any more would never end."""


def enter_synthetic(synthetic: Synthetic, world: World, seed: int) -> None:
    """Let workloads arrive, and mishaps happen, until the end of the synthetic time."""
    chance = Random(f"tidegate {seed}")  # noqa: S311 - the same seed must give the same run
    load = _Load(synthetic, world, chance)
    load.again(synthetic.arrivals, load.arrive)
    for rate, event in (
        (synthetic.resizes, load.resize),
        (synthetic.pod_failures, load.fail),
        (synthetic.node_losses, load.lose_node),
    ):
        if rate is not None:
            load.again(rate, event)


class _Load:
    """What happens by chance."""

    def __init__(self, synthetic: Synthetic, world: World, chance: Random) -> None:
        self.synthetic = synthetic
        self.world = world
        self.chance = chance
        self.arrived = 0

    def again(self, rate: Rate, event: Callable[[], None]) -> None:
        """Enter the next of a series: times in between are exponential, in whole seconds."""
        at = self.world.now + round(self.chance.expovariate(float(rate.per_second)))
        if at <= self.synthetic.until.seconds:
            self.world.agenda.enter(at, partial(self._happen, rate, event))

    def _happen(self, rate: Rate, event: Callable[[], None]) -> None:
        event()
        self.again(rate, event)

    def arrive(self) -> None:
        mix = self.chance.choices(self.synthetic.mix, [one.weight for one in self.synthetic.mix])[0]
        self.arrived += 1
        self.world.submit(self._application(mix))

    def _application(self, mix: Mix) -> Application:
        namespace = mix.queue.partition("/")[0]
        return Application(
            name=f"{namespace}/w{self.arrived:05}",
            queue=mix.queue,
            created=self.world.now,
            pod_groups=[self._pod_group(pod_set) for pod_set in mix.pod_sets],
            priority=mix.priority,
            max_run_seconds=mix.max_run_seconds,
        )

    def _pod_group(self, pod_set: SyntheticPodSet) -> PodGroup:
        count = self._count(pod_set.count)
        floor = count if pod_set.min_count is None else min(count, pod_set.min_count)
        runs = self._seconds(pod_set.runs)
        return PodGroup(pod_set.name, count, floor, pod_set.step, requests=pod_set.requests, runs=runs)

    def _count(self, spread: CountSpread) -> int:
        return self.chance.randint(spread.least, spread.most)

    def _seconds(self, spread: DurationSpread) -> int:
        if spread.mean is not None:
            return max(1, round(self.chance.expovariate(1 / max(1, spread.mean))))
        return self.chance.randint(spread.least, spread.most)

    def resize(self) -> None:
        elastic = [
            (name, group)
            for name, one in sorted(self.world.waiting_or_running.items())
            for group in one.pod_groups
            if group.floor < group.count
        ]
        if elastic:
            name, group = self.chance.choice(elastic)
            most = max(group.floor, group.count * _LARGEST_GROWTH)
            self.world.resize(name, group.name, self.chance.randint(max(1, group.floor, group.ended), most))

    def fail(self) -> None:
        running = [
            (name, group)
            for name, one in sorted(self.world.waiting_or_running.items())
            for group in one.pod_groups
            if any(group.in_phase(Phase.RUNNING))
        ]
        if running:
            name, group = self.chance.choice(running)
            self.world.fail(name, group.name, 1)

    def lose_node(self) -> None:
        if self.world.nodes:
            name = self.chance.choice(sorted(self.world.nodes))
            node = self.world.nodes.pop(name)
            self.world.tell("delete", f"Node {name}")
            back = self.world.now + self.synthetic.node_returns.seconds
            self.world.agenda.enter(back, partial(self._node_returns, name, node))

    def _node_returns(self, name: str, node: Node) -> None:
        self.world.nodes[name] = node
        self.world.tell("apply", f"Node {name}")
