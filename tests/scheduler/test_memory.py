"""A planner runs for months: what it keeps follows what there is, not what has been."""

from __future__ import annotations

import gc
import tracemalloc

from tests.scheduler.world import World, pods
from tidegate.scheduler import Planner, Workload

WARM, LONG = 200, 600


def test_a_planner_does_not_grow_with_what_has_been() -> None:
    """Jobs come and go in a full cluster, behind others that wait for ever in front of them."""
    world = World(cpu="8", memory="8")
    for queue in ("a/q", "b/q"):
        world.queue(queue)
    planner = Planner()
    planner.configure(world.snapshot())
    for queue, size in (("a/q", 7), ("b/q", 6), ("b/q", 9)):
        planner.put(_job(queue, 10_000 + size, cpu=size, priority=5))
    tracemalloc.start()
    sizes = []
    for number in range(LONG):
        queue = ("a/q", "b/q")[number % 2]
        planner.put(_job(queue, number, cpu=1 + number % 3, priority=number % 2))
        planner.plan(number)
        planner.drop(f"{queue[0]}/w{number - 6}")
        if number in (WARM, LONG - 1):
            gc.collect()  # What is in circles goes when the collector likes: later in a process that has been large.
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[1] < sizes[0] + 50_000


def _job(queue: str, number: int, *, cpu: int, priority: int) -> Workload:
    shape = pods(1, cpu=str(cpu))
    return Workload(
        name=f"{queue[0]}/w{number}",
        queue=queue,
        created=number,
        priority=priority,
        pod_sets=(shape,),
        max_run_seconds=9,
    )
