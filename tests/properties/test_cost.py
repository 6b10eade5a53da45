"""Law 6: a cycle's cost grows with what changed and what is decided, not with what is waiting.

Cost is counted in lines of the scheduler that are run, so that it is the same on every machine. How it grows with what
runs, and with queues, is measured in seconds by `benchmarks.scheduler`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.worlds import worlds
from tests.scheduler.world import World, pods
from tidegate import scheduler
from tidegate.model.resources import Resources
from tidegate.scheduler import Planner, Workload

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
FEW, MANY = 8, 80
"""Workloads that wait behind each one of a world, like it."""
AT_MOST = 2
"""Times as much for ten times as many: a search in something sorted costs a little more."""
HOME = str(Path(scheduler.__file__).parent)
ARRIVED, CROWDED, NOW = 0, 1000, 2000


class Lines:
    """Counts the lines of the scheduler that are run."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Lines:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(HOME) else None

    def _line(self, _frame: FrameType, event: str, _arg: Any) -> Any:
        self.count += event == "line"
        return self._line


class Crowd:
    """A world in which so many wait behind each that came first, and what one change in it costs."""

    def __init__(self, world: World, size: int) -> None:
        self.planner = Planner()
        self.planner.configure(world.snapshot())
        self.first = [_weighty(workload) for workload in world.workloads.values()]
        self.names = []
        for workload in self.first:
            self._put(workload)
            for number in range(size):
                self._put(replace(workload, name=f"{workload.name}-{number}", created=CROWDED + number))
        while not self.planner.plan(NOW).is_empty:
            pass

    def _put(self, workload: Workload) -> None:
        self.names.append(workload.name)
        self.planner.put(workload)

    @property
    def running(self) -> list[str]:
        there = ((name, self.planner.workload(name)) for name in self.names)
        return [name for name, workload in there if workload is not None and workload.admitted_at is not None]

    @property
    def all_have_somebody_behind(self) -> bool:
        """Whether of every kind somebody waits: where nobody does there is nothing to decide."""
        running = set(self.running)
        behind = [[name for name in self.names if name.startswith(f"{one.name}-")] for one in self.first]
        return not any(running.issuperset(names) for names in behind)

    def cost(self, gone: str | None) -> int:
        """Of a cycle in which one goes, or (None) one comes, per decision."""
        with Lines() as lines:
            if gone is None:
                newest = self.first[0]
                self.planner.put(replace(newest, name=f"{newest.name}-new", created=NOW))
            else:
                self.planner.drop(gone)
            made = self.planner.plan(NOW + 1)
        decided = len(made.grants) + len(made.shrinks) + len(made.evictions) + len(made.starts)
        return lines.count // (1 + decided)


def _weighty(workload: Workload) -> Workload:
    """Whose pods take something: what takes nothing never waits."""
    some = Resources.parse({"cpu": "1"})
    pod_sets = tuple(replace(one, requests=one.requests or some, floor=max(1, one.floor)) for one in workload.pod_sets)
    return replace(workload, created=ARRIVED, pod_sets=pod_sets)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(worlds(), st.booleans())
def test_what_waits_costs_nothing(world: World, somebody_goes: bool) -> None:
    few, many = Crowd(world, FEW), Crowd(world, MANY)
    assume(len(few.running) == len(many.running) and few.all_have_somebody_behind)
    gone = few.running[0] if somebody_goes and few.running else None
    assume(gone is None or gone in many.running)
    before, after = few.cost(gone), many.cost(gone)
    assume(few.all_have_somebody_behind)
    assert after <= AT_MOST * before, (before, after)


def test_who_gave_way_is_not_asked_again() -> None:
    """One gang for which many small ones go: each time all who had gone already were gone through once more."""
    costs = []
    for many in (20, 200):
        world = World(cpu=str(2 * many))
        for team in "ab":
            world.queue(f"{team}/q")
        for number in range(2 * many):
            world.submit(f"a/w{number}", pods(1, cpu="1"), queue="a/q")
        world.settle()
        world.submit("b/gang", pods(many, cpu="1"), queue="b/q", created=1)
        with Lines() as lines:
            made = world.cycle()
        assert len(made.evictions) == many
        costs.append(lines.count // many)
    assert costs[1] <= costs[0], costs


def test_who_arrives_does_not_have_all_others_weighed_again() -> None:
    """With a choice of flavors every workload that was put had the rows of all Queues looked at once more: ten thousand
    in a thousand Queues took ten seconds to be heard of."""
    costs = []
    for queues in (5, 50):
        world = World()
        for flavor in ("slow", "fast"):
            world.flavor(flavor, nodeLabels={"kind": flavor})
            world.node(flavor, {"kind": flavor}, cpu="4")
        for number in range(queues):
            world.queue(f"t{number}/q")
            world.submit(f"t{number}/w", pods(3, cpu="1"), queue=f"t{number}/q")
        planner = Planner()
        planner.configure(world.snapshot(), workloads=world.workloads.values())
        another = replace(world.workloads["t0/w"], name="t0/another")
        with Lines() as lines:
            planner.put(another)
        costs.append(lines.count)
    assert costs[1] <= AT_MOST * costs[0], costs


def test_the_count_sees_what_grows_with_what_waits() -> None:
    """A planner that starts from nothing looks at everybody."""
    world = World(cpu="4")
    world.queue("a/q")
    world.submit("a/w", pods(3, cpu="1"), queue="a/q")
    counts = []
    for size in (FEW, MANY):
        crowd = Crowd(world, size)
        with Lines() as lines:
            crowd.planner.configure(world.snapshot())
            crowd.planner.plan(NOW + 1)
        counts.append(lines.count)
    assert counts[1] > AT_MOST * counts[0]
