"""Amounts are counted in grains of their resource, and come out as exact as they went in."""

from __future__ import annotations

import pytest

from tests.scheduler.world import World, pods
from tidegate.scheduler import Planner, plan
from tidegate.scheduler.tree.cells import grain


@pytest.mark.parametrize(
    ("memory", "cpu"),
    [
        ("1Mi", "250m"),
        ("1000", "0.5"),  # No whole KiB.
        ("1500m", "1"),  # Thousandths of a byte, as some tools write them.
        ("1Gi", "1n"),
    ],
)
def test_who_asks_for_less_than_a_grain_is_counted_exactly(memory: str, cpu: str) -> None:
    """The planner knew gibibytes and whole cores; then somebody comes with less, and everything is counted anew."""
    world = World(cpu="4", memory="8Gi")
    for name in ("a", "b"):
        world.queue(f"{name}/q")
    world.submit("a/large", pods(3, cpu="1", memory="2Gi"), queue="a/q")
    planner = Planner()
    planner.configure(world.snapshot(), world.snapshot().workloads)
    planner.plan(0)
    world.submit("b/small", pods(1, cpu=cpu, memory=memory), queue="b/q")
    planner.configure(world.snapshot(), [])
    for workload in world.snapshot().workloads:
        planner.put(workload)
    kept, anew = planner.plan(0, report=True), plan(world.snapshot(), 0)
    assert kept == anew
    small = pods(1, cpu=cpu, memory=memory).requests
    assert kept.standings["b/q"].allocated.total() == small


def test_the_smallest_there_is_decides_the_grain() -> None:
    assert grain("memory", [2**30 * 10**9, 2**20 * 10**9]) == 1024 * 10**9
    assert grain("memory", [2**30 * 10**9, 1000 * 10**9]) == 10**9
    assert grain("cpu", [10**9, 25 * 10**7]) == 10**6
    assert grain("nvidia.com/gpu", [10**9]) == 10**9
    assert grain("cpu", [1]) == grain("memory", [7]) == 1
