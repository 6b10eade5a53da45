"""Results for people: the timeline, how every queue stands at the end, and what a long run comes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from fractions import Fraction

from tidegate.cli.queued.tables import span
from tidegate.model.duration import Duration
from tidegate.model.quantity import NANO
from tidegate.model.ratio import Ratio
from tidegate.model.resources import Resources
from tidegate.scheduler import Standing, message
from tidegate.sim.results.measures import Measures, Summary, summary
from tidegate.sim.scenario.playing import Result
from tidegate.sim.world import World

_MARGIN = "  "
_MOST_NAMED = 3


def shown(result: Result, *, timeline: bool = False, namespace: str | None = None) -> str:
    """One scenario: what happened and how the queues stand; of one that ran to its end by itself, its measures."""
    verdict = "passed" if result.passed else "FAILED"
    policy = f", policy {result.policy}" if result.policy else ""
    lines = [f"{result.script.name} ({result.script.document.file}{policy}): {verdict}"]
    if result.script.live is not None:
        from tidegate.cli.simulate.live import expected

        told = happenings(result) if timeline or result.script.moments else []
        return "\n".join(
            [*lines[1 if result.passed else 0 :], *told, *([""] if told else []), *expected(result, namespace)]
        )
    open_ended = result.script.is_open_ended
    if timeline or not open_ended:
        lines += ["", *happenings(result)]
    if open_ended:
        lines += ["", *measured(summary(result.world, result.history)), *never_started(result)]
    elif result.plan is not None:
        lines += ["", *queues(result.plan.standings, result.world)]
    return "\n".join(lines)


def measured(numbers: Summary) -> list[str]:
    """Waiting times, losses and fairness, per queue and overall. Times are rounded to seconds."""
    header = ("QUEUE", "JOBS", "DONE", "WAIT MEAN", "P50", "P90", "P99", "EVICTED", "LOST", "BELOW DUE", "USED")
    rows: list[Sequence[str]] = [header]
    for name, one in [*numbers.by_queue.items(), ("all", numbers.overall)]:
        waits = one.waits
        times = [span(round(waits.mean)), *(span(n) for n in (waits.p50, waits.p90, waits.p99))] if waits else ["-"] * 4
        counts = [str(one.submitted), str(one.finished)]
        below = span(one.below_deserved_seconds)
        rows.append((name, *counts, *times, str(one.evictions), _lost(one), below, _used(one)))
    fairness = "-" if numbers.fairness is None else f"{float(numbers.fairness):.3f}"
    return [
        *columns(rows, right=set(range(1, 10))),
        "",
        f"{_MARGIN}{span(numbers.seconds)} simulated; fairness (Jain's index over dominant shares) {fairness}",
    ]


def never_started(result: Result) -> list[str]:
    """Who was left when nothing happened any more, and why; the first few by name."""
    left = {name for name, one in result.world.applications.items() if one.first_admitted_at is None}
    reasons = {one.workload: one for one in (result.plan.waiting if result.plan else ()) if one.workload in left}
    if not reasons:
        return []
    rows = [(name, f"{one.reason}: {message(one)}") for name, one in list(reasons.items())[:_MOST_NAMED]]
    others = [f"{_MARGIN * 2}and {len(reasons) - len(rows)} more"] if len(reasons) > len(rows) else []
    return ["", f"{_MARGIN}{len(reasons)} never started:", *(_MARGIN + line for line in columns(rows)), *others]


def comparison(results: Sequence[Result]) -> list[str]:
    """Policies side by side."""
    rows: list[Sequence[str]] = [
        ("SCENARIO", "POLICY", "WAIT MEAN", "P50", "P99", "EVICTED", "LOST", "FAIRNESS", "USED")
    ]
    for result in results:
        numbers = summary(result.world, result.history)
        one, waits = numbers.overall, numbers.overall.waits
        times = [span(n) for n in (round(waits.mean), waits.p50, waits.p99)] if waits else ["-"] * 3
        fairness = "-" if numbers.fairness is None else f"{float(numbers.fairness):.3f}"
        name = result.script.name
        rows.append((name, result.policy or "-", *times, str(one.evictions), _lost(one), fairness, _used(one)))
    return columns(rows, right=set(range(2, 8)))


def _lost(one: Measures) -> str:
    """Of cpu, in core-hours; of another resource where no cpu was lost."""
    if not one.work_lost:
        return "-"
    name = "cpu" if "cpu" in one.work_lost else min(one.work_lost)
    return f"{float(Fraction(one.work_lost[name], NANO * 3600)):.2f} {name} h"


def _used(one: Measures) -> str:
    return ", ".join(f"{name} {_percent(part)}" for name, part in sorted(one.used.items())) or "-"


def _percent(part: Fraction) -> str:
    return f"{round(part * 100)} %"


def happenings(result: Result) -> list[str]:
    rows = [(str(Duration(one.at)), one.what, one.who, one.detail) for one in result.world.timeline]
    return columns(rows, right={0})


def queues(standings: Mapping[str, Standing], world: World) -> list[str]:
    """The tree, each place with its numbers."""
    rows: list[Sequence[str]] = [("QUEUE", "DESERVED", "ALLOCATED", "SHARE", "PENDING", "ADMITTED")]
    for name, depth in _tree(world, set(standings)):
        standing = standings[name]
        rows.append(
            (
                _MARGIN * depth + name,
                amounts(standing.deserved.total()),
                amounts(standing.allocated.total()),
                str(Ratio(round(standing.share, 3))),
                str(standing.pending),
                str(standing.admitted),
            )
        )
    return columns(rows, right={3, 4, 5})


def amounts(resources: Resources) -> str:
    """ "cpu 3, memory 12Gi"; a dash for nothing."""
    return ", ".join(f"{name} {amount}" for name, amount in resources.quantities().items()) or "-"


def _tree(world: World, known: set[str]) -> Iterable[tuple[str, int]]:
    """Places with their depth, parents first; an implied root as well."""
    children: dict[str | None, list[str]] = {}
    for name in sorted(known):
        queue, cluster_queue = world.queues.get(name), world.cluster_queues.get(name)
        parent = queue.cluster_queue if queue else cluster_queue.parent if cluster_queue else None
        children.setdefault(parent, []).append(name)
    stack = [(name, 0) for name in reversed(children.get(None, []))]
    while stack:
        name, depth = stack.pop()
        below = children.get(name, [])
        if depth or below or world.cluster_queues.get(name):
            yield name, depth
        stack += [(child, depth + 1) for child in reversed(below)]


def columns(rows: Sequence[Sequence[str]], *, right: Set[int] = frozenset()) -> list[str]:
    """Rows with their cells under each other."""
    if not rows:
        return []
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((_MARGIN + _MARGIN.join(cells)).rstrip())
    return lines
