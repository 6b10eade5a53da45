"""The laws of every Plan, over random worlds and what may happen in them.

Laws 1 to 4, and that everybody who waits is told why, are checked by the simulator at every Plan (`sim.laws`); here are
the histories, and what takes more than one Plan to see: laws 5 and 7. Law 6 is in `test_cost`.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.worlds import join, requota, submit, worlds
from tests.scheduler.world import World
from tidegate.scheduler import Instant, Plan, Snapshot, plan

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
EVENTS = ("submit", "submit", "end", "succeed", "fail", "resize", "lose", "join", "pass", "requota")
CAN_NEVER_BE = {"ExceedsQuota", "NoMatchingFlavor"}


def happen(draw: st.DrawFn, world: World, number: int) -> None:
    event = draw(st.sampled_from(EVENTS))
    running = sorted(name for name, workload in world.workloads.items() if workload.admitted_at is not None)
    if event == "submit":
        submit(draw, world, f"x{number}")
    elif event == "lose" and len(world.nodes) > 1:
        del world.nodes[draw(st.sampled_from(sorted(world.nodes)))]
    elif event == "join":
        join(draw, world, f"m{number}", sorted(world.flavors) or ["default"])
    elif event == "requota" and world.cluster_queues:
        requota(draw, world)
    elif event == "pass":
        world.now += draw(st.sampled_from([30, 700]))
    elif running:
        name = draw(st.sampled_from(running))
        first = world.workloads[name].pod_sets[0]
        if event == "end":
            world.end(name)
        elif event == "succeed" and world.pods(name):
            world.succeed(name)
        elif event == "fail" and world.pods(name):
            world.there.fail(name, first.name, 1)
        elif event == "resize" and len(world.workloads[name].pod_sets) == 1 and not first.ended:
            world.resize(name, draw(st.integers(first.floor, first.floor + 6)))


def in_any_order(snapshot: Snapshot, now: Instant, *, reasons: bool = True) -> Plan:
    """Law 5: the same Plan, whatever the order things were read in."""
    decided = plan(snapshot, now, reasons=reasons)
    assert plan(read_backwards(snapshot), now, reasons=reasons) == decided
    return decided


def read_backwards(snapshot: Snapshot) -> Snapshot:
    """The same world, everything read in the opposite order."""
    lists = {name: tuple(reversed(getattr(snapshot, name))) for name in ("nodes", "workloads")}
    names = ("flavors", "cluster_queues", "queues", "namespaces")
    maps = {name: dict(reversed(list(getattr(snapshot, name).items()))) for name in names}
    return replace(snapshot, **lists, **maps)


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.data(), worlds())
def test_every_plan_of_a_history_keeps_the_laws(data: st.DataObject, world: World) -> None:
    world.planned_by(in_any_order)
    world.settle()
    for number in range(data.draw(st.integers(0, 6))):
        world.now += 1
        happen(data.draw, world, number)  # type: ignore[arg-type]
        world.settle()


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(worlds())
def test_every_workload_that_can_fit_is_admitted_in_the_end(world: World) -> None:
    """Law 7, where every workload ends some time after it was admitted."""
    for _ in range(len(world.workloads) * 4):
        world.settle()
        world.settle(world.now + 1000)  # Whoever had to go is gone.
        running = [(one.admitted_at, name) for name, one in world.workloads.items() if one.admitted_at is not None]
        if not running:
            break
        world.end(min(running)[1])
    stuck = {waiting.workload: waiting.reason for waiting in world.last.waiting if waiting.workload in world.workloads}
    assert set(stuck.values()) <= CAN_NEVER_BE, stuck
