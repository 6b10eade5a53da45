"""A planner that is told what changed decides exactly what one that starts from nothing decides, cycle after cycle."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.test_laws import happen
from tests.properties.worlds import worlds
from tests.scheduler.world import MOST_CYCLES, World
from tidegate.scheduler import Planner, Workload, plan

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))


class Follower:
    """Tells a planner about a world only what changed since it last looked."""

    def __init__(self) -> None:
        self.planner = Planner()
        self.known: dict[str, Workload] = {}
        self.nodes: object = None

    def look(self, world: World) -> None:
        configuration = (dict(world.nodes), dict(world.cluster_queues), dict(world.queues))
        if configuration != self.nodes:
            self.planner.configure(world.snapshot())
            self.nodes = configuration
        for name in self.known.keys() - world.workloads.keys():
            self.planner.drop(name)
        for name, workload in world.workloads.items():
            if self.known.get(name) is not workload:
                self.planner.put(workload)
        self.known = dict(world.workloads)


def agreed(world: World, follower: Follower, *, linger: bool) -> None:
    """Plan both ways until nothing changes any more."""
    for _ in range(MOST_CYCLES):
        follower.look(world)
        afresh, kept = plan(world.snapshot(), world.now), follower.planner.plan(world.now, report=True)
        assert kept == afresh
        world.last = afresh
        world.lingering = linger
        world.carry_out(afresh)
        world.let_go()
        if afresh.is_empty:
            return


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data(), worlds(), st.booleans())
def test_a_kept_planner_agrees_with_one_from_scratch(data: st.DataObject, world: World, linger: bool) -> None:
    follower = Follower()
    agreed(world, follower, linger=linger)
    for number in range(data.draw(st.integers(0, 8))):
        world.now += 1
        happen(data.draw, world, number)  # type: ignore[arg-type]
        agreed(world, follower, linger=linger)
