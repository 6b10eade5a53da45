"""The laws of every Plan, over random worlds and what may happen in them."""

from __future__ import annotations

import os
from copy import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.properties import laws
from tests.properties.worlds import submit, worlds
from tests.scheduler.world import MOST_CYCLES, World

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
EVENTS = ("submit", "end", "succeed", "resize", "lose", "pass")


def settled(world: World, *, frugal: bool = False) -> None:
    """Plan and carry out until nothing changes, with every law checked on the way; `frugal`: law 2 to its end too."""
    for number in range(MOST_CYCLES):
        before = copy(world)
        before.workloads = dict(world.workloads)
        decided = world.cycle()
        laws.taking_has_a_reason(world, decided)
        if frugal:
            laws.nothing_taken_was_needless(before, decided)
        laws.fair_reclaim_stops_at_what_is_deserved(world, decided)
        laws.nothing_is_over_committed(world)
        laws.floors_are_whole(world)
        laws.everybody_who_waits_knows_why(world, decided)
        # Law 4: what the first Plan left to everybody, no second one takes, though pods have gone meanwhile.
        assert number == 0 or not (decided.shrinks or decided.evictions), (number, decided)
        if decided.is_empty:
            return
    raise AssertionError(f"does not settle: {world.last}")


def happen(draw: st.DrawFn, world: World, number: int) -> None:
    event = draw(st.sampled_from(EVENTS))
    running = sorted(name for name, workload in world.workloads.items() if workload.admitted_at is not None)
    if event == "submit":
        submit(draw, world, f"x{number}")
    elif event == "lose" and len(world.nodes) > 1:
        del world.nodes[draw(st.sampled_from(sorted(world.nodes)))]
    elif event == "pass":
        world.now += 30
    elif running:
        name = draw(st.sampled_from(running))
        first = world.workloads[name].pod_sets[0]
        if event == "end":
            world.end(name)
        elif event == "succeed" and sum(first.granted.values()):
            world.succeed(name)
        elif event == "resize" and len(world.workloads[name].pod_sets) == 1 and not first.ended:
            world.resize(name, draw(st.integers(first.floor, first.floor + 6)))


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(st.data(), worlds())
def test_every_plan_of_a_history_keeps_the_laws(data: st.DataObject, world: World) -> None:
    settled(world)
    for number in range(data.draw(st.integers(0, 6))):
        world.now += 1
        happen(data.draw, world, number)  # type: ignore[arg-type]
        laws.the_order_of_reading_does_not_matter(world)
        settled(world)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(st.data(), worlds())
def test_no_plan_takes_what_is_not_needed(data: st.DataObject, world: World) -> None:
    settled(world, frugal=True)
    for number in range(data.draw(st.integers(0, 6))):
        world.now += 1
        happen(data.draw, world, number)  # type: ignore[arg-type]
        settled(world, frugal=True)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(worlds())
def test_every_workload_that_can_fit_is_admitted_in_the_end(world: World) -> None:
    """Law 7, where every workload ends some time after it was admitted."""
    for _ in range(len(world.workloads) * 4):
        settled(world)
        running = [(one.admitted_at, name) for name, one in world.workloads.items() if one.admitted_at is not None]
        if not running:
            break
        world.end(min(running)[1])
        world.now += 1000
    assert world.last is not None
    stuck = {waiting.workload: waiting.reason for waiting in world.last.waiting if waiting.workload in world.workloads}
    assert set(stuck.values()) <= {"ExceedsQuota", "NoMatchingFlavor"}, stuck
