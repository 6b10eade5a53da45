"""Hopes: who is worth a look although they do not fit, since room might be made or held for them."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.model.kinds.cluster_queue import WithinQueue
from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.line.asks import Row
from tidegate.scheduler.line.fit import in_one_flavor_each
from tidegate.scheduler.room.books import Books
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import TreeNode


class Hopes:
    """Who might have room made, or held, although it does not fit. It is asked again when the Queue, or what it
    deserves, has changed."""

    def __init__(self, books: Books, deserved: Deserved) -> None:
        self._books = books
        self._deserved = deserved

    def __call__(self, queue: TreeNode, least: Need) -> Callable[[Row], bool] | None:
        """Asked of the rows of a Queue, all of which ask for so much at least; None if nobody of it may hope."""
        within = takes_within(queue, self._books)
        share_with, due = self._books.ledger.share_with, self._deserved.share(queue)
        is_above = share_with(queue, least) > due
        if is_above and least and not within:
            return None

        def hopes(row: Row) -> bool:
            if row.kind.impatient or (within and row.kind.is_floor):
                return True
            if is_above:
                return False
            if row.only is not None:
                return share_with(queue, row.only.need) <= due
            return any(share_with(queue, way.need) <= due for way in in_one_flavor_each(row))

        return hopes


def takes_within(queue: TreeNode, books: Books) -> bool:
    """Whether a floor might take something in its own Queue."""
    return queue.rules.preemption.within_queue is not WithinQueue.NEVER or books.has_surplus(queue)
