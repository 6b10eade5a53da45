"""A planner that is told what changed decides exactly what one that starts from nothing decides, cycle after cycle."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties.test_laws import happen
from tests.properties.worlds import worlds
from tests.scheduler.world import World, pods
from tidegate.scheduler import Instant, Plan, Snapshot, plan
from tidegate.sim.planning import KeepingPlanner

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))


class Both:
    """Asks one planner that keeps what it knows and one that knows nothing."""

    def __init__(self) -> None:
        self.kept = KeepingPlanner()

    def __call__(self, snapshot: Snapshot, now: Instant, *, reasons: bool = True) -> Plan:
        afresh = plan(snapshot, now, reasons=reasons)
        assert self.kept(snapshot, now, reasons=reasons) == afresh
        return afresh


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data(), worlds())
def test_a_kept_planner_agrees_with_one_from_scratch(data: st.DataObject, world: World) -> None:
    world.planned_by(Both())
    world.settle()
    for number in range(data.draw(st.integers(0, 8))):
        world.now += 1
        happen(data.draw, world, number)  # type: ignore[arg-type]
        world.settle()


def test_between_pod_sets_that_have_as_much_the_first_grows_whatever_happened_before() -> None:
    """The row of big's first pod set had another at its front for a while. When that one wanted no more, the row was
    offered again, behind that of big's second pod set, and a kept planner let the second grow."""
    world = World(cpu="5")
    world.planned_by(Both())
    world.queue("a/q")
    world.submit("a/small", pods(2, 1, cpu="1"), queue="a/q")
    world.submit("a/other", pods(2, cpu="1"), queue="a/q")
    world.submit("a/third", pods(2, cpu="1"), queue="a/q")
    world.settle()
    world.end("a/third")
    world.submit("a/big", pods(2, 1, name="x", cpu="1"), pods(2, 1, name="y", cpu="1"), queue="a/q")
    world.settle(1)
    world.resize("a/small", 1)
    world.settle(2)
    world.end("a/other")
    world.submit("a/next", pods(1, cpu="1"), queue="a/q")
    world.settle(3)
    assert world.granted("a/big") == 2
