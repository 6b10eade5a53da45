"""Handing out: asks are granted one after another, from empty, as in a cycle, with nobody patient or impatient."""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.line.asks import Ask, Placement
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.tree import Tree


class Fill:
    """What everybody was granted, and who is still in line."""

    def __init__(self, tree: Tree, policies: Policies, demand: Mapping[str, Workload]) -> None:
        self.tree = tree
        self.ledger = Ledger(tree)
        self.line = Line(tree, self.ledger, policies, room_can_be_made=False)
        self._demand = demand
        self._empty = Ledger(tree)
        self._holdings: dict[str, Holding] = {}

    def join(self, workload: Workload) -> bool:
        """A workload wants something. Whether that changes nothing, since it stands behind one that did not fit."""
        self.line.join(workload, self.tree.nodes[workload.queue])
        return self.stands_behind(workload.name)

    def stands_behind(self, name: str) -> bool:
        """Whether a workload waits behind one like it that did not fit."""
        row = self.line.floor_row(name)
        return row is not None and row.failed and row.asks[0][1] != name

    def leave(self, workload: Workload) -> None:
        """It wants nothing any more."""
        self.line.leave(workload)
        holding = self._holdings.pop(workload.name, None)
        if holding is not None and holding.queue is not None:
            self.ledger.grant(holding.queue, holding.need(), -1)
            self.line.changed(holding.queue)

    def start_afresh(self) -> None:
        """Take everything back, and let everybody ask."""
        for name in list(self._holdings):
            self.leave(self._demand[name])
            self.line.join(self._demand[name], self.tree.nodes[self._demand[name].queue])
        self.line.reopen()

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
        self.line.leave(workload)
        self.line.join_growth(holding)
        self.line.changed(ask.queue)

    def _can_ever_fit(self, ask: Ask) -> bool:
        return can_ever_fit(ask, self._empty, self._holdings.get(ask.name))


def can_ever_fit(ask: Ask, empty: Ledger, holding: Holding | None) -> bool:
    """Whether it would fit if nobody but the asker held anything."""
    own = holding.need() if holding is not None else ()
    empty.grant(ask.queue, own)
    fits = place(ask.row, empty) is not None
    empty.grant(ask.queue, own, -1)
    return fits
