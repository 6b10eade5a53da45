"""Handing out: asks are granted one after another, from empty, as in a cycle, with nobody patient or impatient.

Theory of operation. What the children of a node are granted depends on one another only through what does not fit: as
long as all fits, every Queue gets its asks in its own order, and the tree only decides how far each of them comes. So
after a small change it is not necessary to begin again:

  1. Undo what was granted after the first ask that did not fit (the *tail*).
  2. Take out what is not wanted any more. What is wanted now goes to its place in its Queue; what stood behind it there
     is undone as well.
  3. Go on. Queues that are behind have the smallest shares, so they are served first and catch up.
  4. When an ask does not fit, but somebody was granted something that would have come after it, undo that and look
     again.

This holds where an ask has one flavor it can stand in, nothing but the capacity of the root stands in the way of any,
children are served by share, and nobody blocks. Where it does not hold, or two shares are equal in a way that leaves
the order open, everything is handed out anew; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.line.asks import Ask, Placement, Row, floor_kind
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.line import Line
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class _Given:
    """One ask that was granted."""

    __slots__ = ("ask", "placement")

    def __init__(self, ask: Ask, placement: Placement) -> None:
        self.ask = ask
        self.placement = placement


class OrderIsOpenError(Exception):
    """What was granted cannot be put right piece by piece: hand everything out anew."""


class Fill:
    """What everybody was granted, in which order, and who is still in line."""

    def __init__(self, tree: Tree, policies: Policies, demand: Mapping[str, Workload]) -> None:
        self.tree = tree
        self.ledger = Ledger(tree)
        self.line = Line(tree, self.ledger, policies)
        self.simple = False
        """Whether it can be mended after a change."""
        self._demand = demand
        self._empty = Ledger(tree)
        self._holdings: dict[str, Holding] = {}
        self._given: list[list[_Given]] = [[] for _ in tree.in_order]
        self._tail: list[_Given] = []
        self._failed = False
        self._changed: dict[TreeNode, None] = {}
        """Queues in which something changed since all was handed out."""

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
        if holding is None or holding.queue is None:
            return
        self.ledger.grant(holding.queue, holding.need(), -1)
        self.line.changed(holding.queue)
        self._changed[holding.queue] = None
        given = self._given[holding.queue.index]
        given[:] = [one for one in given if one.ask.name != workload.name]

    # ── from empty ──

    def start_afresh(self) -> None:
        """Take everything back, and let everybody ask."""
        for name in list(self._holdings):
            self.leave(self._demand[name])
            self.line.join(self._demand[name], self.tree.nodes[self._demand[name].queue])
        self.line.reopen()
        self._tail.clear()
        self._changed.clear()
        self._failed = False
        self.simple = self.line.by_share and not self.ledger.keeps

    def mend(self) -> None:
        """Hand out after a change, beginning with what was handed out before."""
        while any([self._balance(queue) for queue in self._changed]):
            pass
        self._changed.clear()
        self.run(mend=True)

    def _balance(self, queue: TreeNode) -> bool:
        """Below the children of the root, undo what comes after the next ask of a Queue in which something changed, so
        that every one of these nodes has been granted the first of what it asks for. Whether something was undone."""
        undone = False
        for node in queue.path[:-2]:
            while (ask := self.line.first(node)) and ask.row.only:
                later = self._later_beside(node, ask, ask.row.only.need)
                if later is None:
                    break
                self._undo(later)
                undone = True
        return undone

    def run(self, *, mend: bool = False) -> None:
        """Hand out; `mend`: somebody may have been granted too much before."""
        while ask := self.line.next():
            placement = place(ask.row, self.ledger)
            if placement is not None:
                self._grant(ask, placement)
            elif mend and not self._failed and ask.row.only and (later := self._later_than(ask, ask.row.only.need)):
                self._undo(later)
            elif ask.queue.rules.ordering is Ordering.STRICT and self._can_ever_fit(ask):
                self.simple = False
                self.line.block(ask)
            else:
                self._fail(ask)
            if mend and not self.simple:
                raise OrderIsOpenError

    def _grant(self, ask: Ask, placement: Placement) -> None:
        workload = self._demand[ask.name]
        holding = self._holdings.get(ask.name)
        if holding is None:
            holding = self._holdings[ask.name] = Holding(workload, ask.queue, afresh=True)
        for index, flavor, count in placement.pods:
            holding.change(index, flavor, count)
        self.ledger.grant(ask.queue, placement.need)
        given = _Given(ask, placement)
        self._given[ask.queue.index].append(given)
        if self._failed:
            self._tail.append(given)
        self.simple = self.simple and ask.row.only is not None
        self._ask_again(holding, ask.queue)

    def _ask_again(self, holding: Holding, queue: TreeNode) -> None:
        self.line.leave(holding.workload)
        self.line.join_growth(holding)
        self.line.changed(queue)

    def _fail(self, ask: Ask) -> None:
        self.line.set_aside(ask)
        if not all(ask.row.hosts):
            return  # It never fits, whatever happens to others.
        self._failed = True
        below_root = ask.queue.path[:-1]
        only = ask.row.only
        if only is None or ask.queue.capped or not self.ledger.fits_at(below_root, only.need):
            self.simple = False

    def _can_ever_fit(self, ask: Ask) -> bool:
        return can_ever_fit(ask, self._empty, self._holdings.get(ask.name))

    # ── after a change ──

    def rewind(self) -> None:
        """Back to the moment before the first ask did not fit."""
        for given in reversed(self._tail):
            if self._given[given.ask.queue.index][-1:] != [given]:
                raise OrderIsOpenError
            self._undo(given)
        self._tail.clear()
        self._failed = False
        self.line.reopen()

    def make_way(self, workload: Workload) -> None:
        """What was granted to its Queue and comes after a workload that asks now is undone."""
        row = self.line.floor_row(workload.name)
        assert row is not None
        self._changed[row.queue] = None
        own = (row.rank, (workload.created, workload.name))
        given = self._given[row.queue.index]
        while given and (given[-1].ask.row.rank, given[-1].ask.place) > own:
            self._undo(given[-1])

    def lower(self, workload: Workload) -> bool:
        """A gang wants fewer pods than before: its place in the order stays. Whether that could be done."""
        holding = self._holdings.get(workload.name)
        if holding is None or holding.queue is None:
            return False
        given = next(one for one in self._given[holding.queue.index] if one.ask.name == workload.name)
        kind = floor_kind(workload)
        placement = Row(holding.queue, kind, self.tree.flavors).only if kind.parts else None
        if placement is None:
            return False
        fewer = Holding(workload, holding.queue, afresh=True)
        for index, flavor, count in placement.pods:
            fewer.change(index, flavor, count)
        self.ledger.grant(holding.queue, holding.need(), -1)
        self.ledger.grant(holding.queue, fewer.need())
        self._holdings[workload.name] = fewer
        given.placement = placement
        self._changed[holding.queue] = None
        self.line.changed(holding.queue)
        return True

    def _undo(self, given: _Given) -> None:
        """Take back the last that a Queue was granted."""
        ask = given.ask
        self._given[ask.queue.index].remove(given)
        holding = self._holdings[ask.name]
        self.ledger.grant(ask.queue, given.placement.need, -1)
        for index, flavor, count in given.placement.pods:
            holding.change(index, flavor, -count)
        if ask.kind.is_floor:
            del self._holdings[ask.name]
            self.line.leave(holding.workload)
            self.line.join(holding.workload, ask.queue)
            self.line.changed(ask.queue)
        else:
            self._ask_again(holding, ask.queue)

    def _later_than(self, ask: Ask, need: Need) -> _Given | None:
        """Something that was granted, and would not have been before this ask had its turn."""
        beside = (self._later_beside(node, ask, need) for node in ask.queue.path[:-1])
        return next((given for given in beside if given), None)

    def _later_beside(self, node: TreeNode, ask: Ask, need: Need) -> _Given | None:
        """Such a grant below a sibling of a node on the ask's path."""
        assert node.parent is not None
        key = (self.ledger.share_with(node, need), ask.created, node.name)
        for sibling in node.parent.children:
            share = self.ledger.shares[sibling.index]
            if sibling is node or share < key[0]:
                continue
            last = self._last(sibling)
            if last is None:
                continue
            if share == key[0]:
                self._check_rises(sibling, last)
            if (share, last.ask.created, sibling.name) > key:
                return last
        return None

    def _last(self, node: TreeNode) -> _Given | None:
        """The last that was granted below a node."""
        if node.is_queue:
            given = self._given[node.index]
            return given[-1] if given else None
        best: tuple[tuple[int, int, str], _Given, TreeNode] | None = None
        for child in node.children:
            share = self.ledger.shares[child.index]
            if best is not None and share < best[0][0]:
                continue
            last = self._last(child)
            if last is None:
                continue
            key = (share, last.ask.created, child.name)
            if best is not None and share == best[0][0]:
                self._check_rises(child, last)
                self._check_rises(best[2], best[1])
            if best is None or key > best[0]:
                best = (key, last, child)
        return best[1] if best else None

    def _check_rises(self, node: TreeNode, last: _Given) -> None:
        """Where a grant did not raise the share of a node, shares do not tell when it was made."""
        if self.ledger.share_without(node, last.placement.need) == self.ledger.shares[node.index]:
            raise OrderIsOpenError


def can_ever_fit(ask: Ask, empty: Ledger, holding: Holding | None) -> bool:
    """Whether it would fit if nobody but the asker held anything."""
    own = holding.need() if holding is not None else ()
    empty.grant(ask.queue, own)
    fits = place(ask.row, empty) is not None
    empty.grant(ask.queue, own, -1)
    return fits
