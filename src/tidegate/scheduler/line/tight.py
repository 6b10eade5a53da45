"""Tightness: who no longer fits, as room is used up.

A Queue stands in line with its first ask *that fits*. An ask may stop fitting because of what others were granted, so
every node with a bound keeps the rows below it by how much they need; when room there becomes less, those that need
more come up first, and nobody else is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from tidegate.scheduler.line.asks import Row
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import NO_BOUND, TreeNode
from tidegate.scheduler.tree.tree import Tree


class Gauge:
    """One bound of a node: how much is left of it, and who needs how much."""

    __slots__ = ("axes", "limit", "node", "rows")

    def __init__(self, node: TreeNode, axes: tuple[int, ...], limit: int | None = None) -> None:
        self.node = node
        self.axes = axes
        self.limit = limit
        """Of all the axes together; None: what the node may hold of the one."""
        self.rows: list[tuple[int, int, Row]] = []

    def free(self, ledger: Ledger) -> int:
        if self.limit is None:
            return ledger.free(self.node, self.axes[0])
        return self.limit - sum(ledger.granted[self.node.index][axis] for axis in self.axes)


class Watch:
    """Rows that fitted when they were last looked at."""

    def __init__(self, tree: Tree, ledger: Ledger) -> None:
        self.ledger = ledger
        nodes = [*tree.in_order, *filter(None, [tree.machines])]
        self._gauges = [_gauges(node) for node in nodes]
        self._numbers = count()

    def add(self, row: Row) -> None:
        """Tell when it might not fit any more. Where it has a choice of flavors that is only seen at its turn."""
        if row.only is None:
            return
        need = dict(row.only.need)
        for node in row.queue.path:
            for gauge in self._gauges[node.index]:
                amount = sum(need.get(axis, 0) for axis in gauge.axes)
                if amount:
                    heappush(gauge.rows, (-amount, next(self._numbers), row))

    def squeezed(self, queue: TreeNode) -> Iterator[Row]:
        """Rows for which there may be no room any more, now that a Queue holds more; each is told once."""
        for node in queue.path:
            for gauge in self._gauges[node.index]:
                rows = gauge.rows
                if rows:
                    free = gauge.free(self.ledger)
                    while rows and -rows[0][0] > free:
                        yield heappop(rows)[2]


def _gauges(node: TreeNode) -> list[Gauge]:
    bounds = [Gauge(node, (axis,)) for axis, most in enumerate(node.most) if most != NO_BOUND]
    return bounds + [Gauge(node, tuple(axes), limit) for axes, limit, _ in node.capped]
