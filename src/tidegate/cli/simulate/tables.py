"""A result for people: the timeline, and how every queue stands at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidegate.model.duration import Duration
from tidegate.model.ratio import Ratio
from tidegate.model.resources import Resources
from tidegate.scheduler import Standing
from tidegate.sim.scenario.playing import Result
from tidegate.sim.world import World

_MARGIN = "  "


def shown(result: Result) -> str:
    """One scenario."""
    verdict = "passed" if result.passed else "FAILED"
    lines = [f"{result.script.name} ({result.script.document.file}): {verdict}", ""]
    lines += timeline(result)
    if result.plan is not None:
        lines += ["", *queues(result.plan.standings, result.world)]
    return "\n".join(lines)


def timeline(result: Result) -> list[str]:
    rows = [(str(Duration(one.at)), one.what, one.who, one.detail) for one in result.world.timeline]
    return columns(rows, right={0})


def queues(standings: dict[str, Standing] | object, world: World) -> list[str]:
    """The tree, each place with its numbers."""
    assert isinstance(standings, dict)
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


def columns(rows: Sequence[Sequence[str]], *, right: set[int] = frozenset()) -> list[str]:  # type: ignore[assignment]
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
