"""Rows: where asks stand, by Queue, and which row of a Queue is the first that was not looked at in vain."""

from __future__ import annotations

from collections.abc import Collection
from heapq import heapify, heappop, heappush, heapreplace
from typing import Any

from tidegate.scheduler.line.asks import Row
from tidegate.scheduler.line.ceilings import Ceilings
from tidegate.scheduler.line.places import Place
from tidegate.scheduler.line.shapes import Kind, Shapes
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_Offer = tuple[int, Place | None, int, Row]
"""A row with its rank and its first as they were when it was offered, and a number that no other has."""


class Rows:
    """All rows that somebody stands in."""

    def __init__(self, tree: Tree, ceilings: Ceilings, *, lends: bool) -> None:
        """`lends`: whether anybody keeps a part of what is guaranteed for itself."""
        self._shapes = Shapes(tree.flavors)
        self._ceilings = ceilings
        self._lends = lends
        self.by_queue: list[dict[Kind, Row]] = [{} for _ in range(tree.size)]
        """By index."""
        self._heaps: list[list[_Offer]] = [[] for _ in range(tree.size)]
        """With offers that are out of date."""
        self._offers = 0
        self.choosy: dict[Row, None] = {}
        """Those of asks whose choice of flavors a ceiling does not tell: it depends on just what everybody holds."""
        self.ending: dict[Row, None] = {}
        """Those of asks that end for sure: they may use room that is held for somebody else."""

    def row(self, queue: TreeNode, kind: Kind) -> Row:
        """Where asks of this kind stand; an empty one if nobody does."""
        rows = self.by_queue[queue.index]
        row = rows.get(kind)
        if row is None:
            shape = self._shapes.of_row(kind, queue)
            row = rows[shape.kind] = Row(queue, shape)
            self._ceilings.count(row, 1)
            if kind.max_run_seconds is not None:
                self.ending[row] = None
            if shape.fills_gaps or (row.only is None and self._lends):
                self.choosy[row] = None
        return row

    def known(self, queue: TreeNode, kind: Kind) -> Row | None:
        """Where asks of this kind stand, if anybody does."""
        return self.by_queue[queue.index].get(kind)

    def of(self, queue: TreeNode) -> Collection[Row]:
        """Those of a Queue, in no order."""
        return self.by_queue[queue.index].values()

    def close(self, row: Row) -> None:
        """Nobody stands in it any more."""
        row.let_go()
        self._shapes.let_go(row.shape, row.queue)
        del self.by_queue[row.queue.index][row.kind]
        self._ceilings.count(row, -1)
        self.ending.pop(row, None)
        self.choosy.pop(row, None)

    def offer(self, row: Row) -> None:
        """Its first is somebody else, or may be looked at again."""
        self._offers += 1
        heap, offer = self._heaps[row.queue.index], (row.rank, row.first, self._offers, row)
        if heap and heap[0][3] is row:
            heapreplace(heap, offer)
            return
        heappush(heap, offer)
        if len(heap) > 64 + 4 * len(self.by_queue[row.queue.index]):
            heap[:] = {id(entry[3]): entry for entry in heap if _is_current(entry)}.values()
            heapify(heap)

    def first_open(self, queue: TreeNode) -> Row | None:
        """The first row of a Queue that was not looked at in vain; offers that are out of date are dropped."""
        heap = self._heaps[queue.index]
        while heap:
            _, place, _, row = heap[0]
            if row.first is place and not row.failed:
                return row
            heappop(heap)
        return None


def order(row: Row) -> tuple[Any, ...]:
    """In which order rows of a Queue come."""
    return (row.rank, row.first)


def _is_current(offer: _Offer) -> bool:
    """Whether a row still stands where it stood when it was offered."""
    return offer[3].first is offer[1] and not offer[3].failed
