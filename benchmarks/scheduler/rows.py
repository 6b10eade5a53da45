"""What is measured: rows of the table, for one size of the world."""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.scheduler.world import NOW, carry_out, elastic, end_a_pod, gangs, tree
from tidegate.kube.pauses import collect_rarely
from tidegate.scheduler import Plan, Planner, Snapshot, Workload
from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.tree.tree import Tree

SAMPLES = 200
WARM, WARMING = 5_000, 4
"""Workloads and rounds before anything is measured."""


class Row(NamedTuple):
    name: str
    milliseconds: float
    decisions: int


def timed(action: Callable[[], object]) -> float:
    """Milliseconds of this process's CPU: what else runs on the machine does not count."""
    began = time.process_time_ns()
    action()
    return (time.process_time_ns() - began) / 1e6


def growing(pending: int, queues: int, snapshot: Snapshot) -> list[Row]:
    """The rows whose cost is to be compared between sizes."""
    waiting = list(gangs(pending, queues))
    collect_rarely()
    for _ in range(WARMING):  # Whatever the size: the first cycles of a process cost twice as much.
        _warm_up(queues, snapshot)
    planner, plan, load, admitting = _admitted(waiting, snapshot)
    carry_out(planner, plan, NOW + 1)
    rows = [Row("put one workload", load / pending, 1), Row("admit all there is room for", admitting, len(plan.grants))]
    rows.append(Row("one workload arrived", _arrivals(planner, pending, queues), 1))
    rows.append(Row("deserved from scratch", _deserved(planner, waiting, snapshot), len(plan.grants)))
    rows.append(Row("one pod ended", _endings(planner, plan), 1))
    return rows


def _warm_up(queues: int, snapshot: Snapshot) -> None:
    """All that is measured, once, of another world."""
    planner, plan, _, _ = _admitted(list(gangs(WARM, queues)), snapshot)
    carry_out(planner, plan, NOW + 1)
    _arrivals(planner, WARM, queues)
    _endings(planner, plan)


def _admitted(waiting: list[Workload], snapshot: Snapshot) -> tuple[Planner, Plan, float, float]:
    """A planner to whom all of them came and who let in as many as there was room for; what either took."""
    planner = Planner()
    planner.configure(snapshot)
    load = timed(lambda: [planner.put(workload) for workload in waiting])
    plans: list[Plan] = []
    admitting = timed(lambda: plans.append(planner.plan(NOW)))
    return planner, plans[0], load, admitting


def _deserved(planner: Planner, waiting: list[Workload], snapshot: Snapshot) -> float:
    """What everybody deserves, handed out from empty to all who wait and run."""
    deserved = Deserved(Tree(snapshot), planner.policies, snapshot)
    for workload in waiting:
        deserved.want(workload)
    return timed(deserved.news)


def _arrivals(planner: Planner, pending: int, queues: int) -> float:
    return statistics.median(
        _cycle(planner, NOW + 2, lambda one=one: planner.put(one)) for one in gangs(SAMPLES, queues, first=pending)
    )


def _endings(planner: Planner, plan: Plan) -> float:
    """Of some that were let in, here and there."""

    def end(name: str) -> None:
        workload = planner.workload(name)
        assert workload is not None
        after = end_a_pod(workload)
        if after is None:
            planner.drop(name)
        else:
            planner.put(after)

    running = [one for grant in plan.grants if (one := planner.workload(grant.workload))]
    some = running[:: max(1, len(running) // SAMPLES)][:SAMPLES]
    return statistics.median(_cycle(planner, NOW + 3, lambda name=one.name: end(name)) for one in some)


def _cycle(planner: Planner, now: int, change: Callable[[], object]) -> float:
    """What it takes to hear of a change and to plan. What was decided is carried out before the next."""
    plans: list[Plan] = []

    def hear_and_plan() -> None:
        change()
        plans.append(planner.plan(now))

    spent = timed(hear_and_plan)
    carry_out(planner, plans[0], now)
    return spent


def reclaim(workloads: int) -> Row:
    """One team holds everything above its floors; another comes and takes its half back, pod by pod."""
    planner = Planner()
    planner.configure(tree(2, cpu=workloads * 4))
    for workload in elastic(workloads, "t0/q", pods=4):
        planner.put(workload)
    carry_out(planner, planner.plan(NOW), NOW)
    for workload in elastic(workloads, "t1/q", pods=4):
        planner.put(workload)
    plan = None

    def take() -> None:
        nonlocal plan
        plan = planner.plan(NOW + 1)

    spent = timed(take)
    assert plan is not None
    return Row(f"fair reclaim, {len(plan.shrinks):,} shrunk", spent, sum(len(one.pods) for one in plan.grants))


def measured(pending: int, queues: int, **fields: Any) -> tuple[list[Row], int]:
    """The rows of one size, in a tree with these `fields`, and the most memory it took, in MB."""
    rows = growing(pending, queues, tree(queues, **fields))
    return rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
