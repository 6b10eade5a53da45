"""Ways an ask could go if room were made: where it has room already it goes first, and only the rest has room made.

A pod's flavor is the first in order where there is room, else the first where room can be made. So one pod set of a
gang may go where it fits, and pods that may be split fill what is free, before anybody has to give way.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice

from tidegate.scheduler.line.asks import Row
from tidegate.scheduler.line.fit import MOST_CHOICES
from tidegate.scheduler.line.shapes import Placement
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode


def ways(row: Row, ledger: Ledger, empty: Ledger) -> Iterator[Placement]:
    """Every pod set in one flavor, in order of preference; then, for pods that may be split, over several. `empty`: as
    if nobody else were there."""
    if row.only is not None:
        yield row.only
        return
    found = _in_one_flavor_each(row, ledger, (), ())
    yield from (row.shape.placed(flavors) for flavors in islice(found, MOST_CHOICES))
    if any(part.splits for part in row.kind.parts) and (split := _split(row, ledger, empty)):
        yield split


def _in_one_flavor_each(row: Row, ledger: Ledger, before: tuple[str, ...], need: Need) -> Iterator[tuple[str, ...]]:
    """The flavors of all parts, besides those that have theirs and need this."""
    if len(before) == len(row.shape.hosts):
        yield before
        return
    options = [(flavor, total((need, own))) for flavor, own in row.shape.hosts[len(before)]]
    for flavor, more in sorted(options, key=lambda option: not ledger.fits(row.queue, option[1], held=True)):
        yield from _in_one_flavor_each(row, ledger, (*before, flavor), more)


def _split(row: Row, ledger: Ledger, empty: Ledger) -> Placement | None:
    """Part by part into what is free, and what is left into what could be; pods that stay together all or none."""
    pods: list[tuple[int, str, int]] = []
    need: Need = ()
    for part, options in zip(row.kind.parts, row.shape.hosts, strict=True):
        counts: dict[str, int] = {}
        together = 1 if part.splits else part.pods
        for there in (ledger, empty):
            for flavor, _ in options:
                unit = row.queue.axes.pods(part.requests, flavor, together)
                times = _times(unit, (part.pods - sum(counts.values())) // together, need, there, row.queue)
                counts[flavor] = counts.get(flavor, 0) + times * together
                need = total((need, _scaled(unit, times)))
        if sum(counts.values()) < part.pods:
            return None
        pods += ((part.pod_set, flavor, count) for flavor, count in counts.items() if count)
    return Placement(tuple(pods), need)


def _times(unit: Need, most: int, need: Need, ledger: Ledger, queue: TreeNode) -> int:
    """How often a unit fits besides `need`."""

    def too_often(times: int) -> bool:
        return not ledger.fits(queue, total((need, _scaled(unit, times))), held=True)

    return bisect_left(range(1, most + 1), True, key=too_often)


def _scaled(unit: Need, times: int) -> Need:
    return tuple((axis, amount * times) for axis, amount in unit)
