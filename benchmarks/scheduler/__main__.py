"""Measures the planner and prints the table: see the package's docstring."""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.scheduler.world import NOW, elastic, end_a_pod, gangs, start_pods, tree
from tidegate.scheduler import Planner, Workload
from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.tree.tree import Tree

SAMPLES = 30


class Row(NamedTuple):
    name: str
    milliseconds: float
    decisions: int


def timed(action: Callable[[], object]) -> float:
    """Milliseconds of this process's CPU: what else runs on the machine does not count."""
    began = time.process_time_ns()
    action()
    return (time.process_time_ns() - began) / 1e6


def growing(pending: int, queues: int) -> list[Row]:
    """The rows whose cost is to be compared between sizes."""
    planner = Planner()
    planner.configure(tree(queues))
    waiting = list(gangs(pending, queues))
    load = timed(lambda: [planner.put(workload) for workload in waiting])
    plan = None

    def admit() -> None:
        nonlocal plan
        plan = planner.plan(NOW)

    admitting = timed(admit)
    assert plan is not None
    start_pods(planner, plan)
    planner.plan(NOW + 1)
    rows = [Row("put one workload", load / pending, 1), Row("admit all there is room for", admitting, len(plan.grants))]
    rows.append(Row("one workload arrived", _arrivals(planner, pending, queues), 1))
    rows.append(Row("deserved from scratch", _deserved(planner, waiting, queues), len(plan.grants)))
    running = [one for grant in plan.grants if (one := planner.workload(grant.workload))]
    rows.append(Row("one pod ended", _endings(planner, running), 1))
    return rows


def _deserved(planner: Planner, waiting: list[Workload], queues: int) -> float:
    """What everybody deserves, handed out from empty to all who wait and run."""
    snapshot = tree(queues)
    deserved = Deserved(Tree(snapshot), planner.policies, snapshot)
    for workload in waiting:
        deserved.want(workload)
    return timed(deserved.news)


def _arrivals(planner: Planner, pending: int, queues: int) -> float:
    def cycle(workload: Workload) -> None:
        planner.put(workload)
        planner.plan(NOW + 2)

    return statistics.median(timed(lambda one=one: cycle(one)) for one in gangs(SAMPLES, queues, first=pending))


def _endings(planner: Planner, running: list[Workload]) -> float:
    def cycle(workload: Workload) -> None:
        after = end_a_pod(workload)
        if after is None:
            planner.drop(workload.name)
        else:
            planner.put(after)
        start_pods(planner, planner.plan(NOW + 3))

    some = running[:: max(1, len(running) // SAMPLES)][:SAMPLES]
    return statistics.median(timed(lambda one=one: cycle(one)) for one in some)


def reclaim(workloads: int) -> Row:
    """One team holds everything above its floors; another comes and takes its half back, pod by pod."""
    planner = Planner()
    planner.configure(tree(2, cpu=workloads * 4))
    for workload in elastic(workloads, "t0/q", pods=4):
        planner.put(workload)
    start_pods(planner, planner.plan(NOW))
    for workload in elastic(workloads, "t1/q", pods=4):
        planner.put(workload)
    plan = None

    def take() -> None:
        nonlocal plan
        plan = planner.plan(NOW + 1)

    spent = timed(take)
    assert plan is not None
    return Row(f"fair reclaim, {len(plan.shrinks):,} shrunk", spent, sum(len(one.pods) for one in plan.grants))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scheduler", description=__doc__)
    parser.add_argument("--pending", default="1000,10000,100000,1000000", help="how many wait, by commas")
    parser.add_argument("--queues", default="10,100,1000", help="over how many queues, by commas")
    given = parser.parse_args()
    print("| waiting | queues | | ms | µs per decision | peak MB |\n|--:|--:|---|--:|--:|--:|")
    for pending in map(int, given.pending.split(",")):
        for queues in map(int, given.queues.split(",")):
            for row in growing(pending, queues):
                _print(f"{pending:,}", f"{queues:,}", row)
    _print("", "2", reclaim(1500))
    return 0


def _print(pending: str, queues: str, row: Row) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    each = row.milliseconds * 1000 / max(1, row.decisions)
    name = row.name if row.decisions == 1 else f"{row.name} ({row.decisions:,})"
    print(f"| {pending} | {queues} | {name} | {row.milliseconds:,.3f} | {each:,.1f} | {peak:,} |")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
