"""Handing out: asks are granted one after another, from empty, as in a cycle, with nobody patient or impatient.

Who asks makes no difference before it is their turn in their own Queue. So when demand changes, what was handed out up
to there still holds: all later grants are undone, the last first, and handing out goes on from that moment. A workload
that comes last in its Queue costs a few grants, whatever is waiting; one that was served first costs all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.line.asks import Ask, Placement, floor_kind, floor_place, floor_rank
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class _Given:
    """One ask that was granted."""

    __slots__ = ("failed", "is_floor", "name", "order", "placement", "queue")

    def __init__(self, ask: Ask, placement: Placement, failed: int) -> None:
        self.name = ask.name
        self.queue = ask.queue
        self.is_floor = ask.kind.is_floor
        self.order = (ask.row.rank, ask.place)
        self.placement = placement
        self.failed = failed
        """How many rows had been found not to fit before."""


class Fill:
    """What everybody was granted, and who is still in line."""

    def __init__(self, tree: Tree, policies: Policies, demand: Mapping[str, Workload]) -> None:
        self.tree = tree
        self.ledger = Ledger(tree)
        self.line = Line(tree, self.ledger, policies, room_can_be_made=False)
        self._demand = demand
        self._empty = Ledger(tree)
        self._holdings: dict[str, Holding] = {}
        self._given: list[_Given] = []

    def join(self, workload: Workload) -> None:
        """A workload wants something."""
        self.line.join(workload, self.tree.nodes[workload.queue])

    def would_stand_behind(self, workload: Workload) -> bool:
        """Whether one like it did not fit and comes before it, so that nothing changes if it joins."""
        row = self.line.known_row(self.tree.nodes[workload.queue], floor_kind(workload))
        return row is not None and row.failed and row.asks[0] < floor_place(workload)

    def stands_behind(self, name: str) -> bool:
        """Whether a workload waits behind one like it that did not fit."""
        row = self.line.floor_row(name)
        return row is not None and row.failed and row.asks[0][1] != name

    def leave(self, workload: Workload) -> None:
        """It wants nothing any more, and was granted nothing: `rewind` first."""
        self.line.leave(workload)

    def rewind(self, workload: Workload) -> None:
        """Back to the moment when it is, or would be, a workload's turn in its Queue."""
        queue = self.tree.nodes[workload.queue]
        own = (floor_rank(workload), floor_place(workload))
        kept = len(self._given)
        if self.line.blocks:
            kept = 0
        while kept and not (self._given[kept - 1].queue is queue and self._given[kept - 1].order < own):
            kept -= 1
        failed = self._given[kept - 1].failed if kept else 0
        while len(self._given) > kept:
            self._undo(self._given.pop())
        self.line.reopen(failed)

    def run(self) -> None:
        """Hand out."""
        while ask := self.line.next():
            placement = place(ask.row, self.ledger)
            if placement is not None:
                self._grant(ask, placement)
            elif ask.queue.rules.ordering is Ordering.STRICT and self._can_ever_fit(ask):
                self.line.block(ask)
            else:
                self.line.set_aside(ask)

    def _grant(self, ask: Ask, placement: Placement) -> None:
        workload = self._demand[ask.name]
        holding = self._holdings.get(ask.name)
        if holding is None:
            holding = self._holdings[ask.name] = Holding(workload, ask.queue, afresh=True)
        for index, flavor, count in placement.pods:
            holding.change(index, flavor, count)
        self.ledger.grant(ask.queue, placement.need)
        self._given.append(_Given(ask, placement, self.line.failures))
        self._ask_for_more(holding, ask.queue)

    def _undo(self, given: _Given) -> None:
        holding = self._holdings[given.name]
        self.ledger.grant(given.queue, given.placement.need, -1)
        for index, flavor, count in given.placement.pods:
            holding.change(index, flavor, -count)
        if given.is_floor:
            del self._holdings[given.name]
            self.line.leave(holding.workload)
            self.line.join(holding.workload, given.queue)
            self.line.changed(given.queue)
        else:
            self._ask_for_more(holding, given.queue)

    def _ask_for_more(self, holding: Holding, queue: TreeNode) -> None:
        self.line.leave(holding.workload)
        self.line.join_growth(holding)
        self.line.changed(queue)

    def _can_ever_fit(self, ask: Ask) -> bool:
        return can_ever_fit(ask, self._empty, self._holdings.get(ask.name))


def can_ever_fit(ask: Ask, empty: Ledger, holding: Holding | None) -> bool:
    """Whether it would fit if nobody but the asker held anything."""
    own = holding.need() if holding is not None else ()
    empty.grant(ask.queue, own)
    fits = place(ask.row, empty) is not None
    empty.grant(ask.queue, own, -1)
    return fits
