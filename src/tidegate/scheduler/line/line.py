"""The line: who asks for what, in rows, and which ask is next.

Within a Queue: priority, then floors before growth, floors by age, growth by the workload's own smallest share, then
age. Between the children of a ClusterQueue its policy decides (`turns`); each child stands there with the ask that is
next below it: the first that fits, or one before that which does not but might have room made, whichever comes first.
Everybody else is not looked at: what does not fit under the ceiling, and may take nothing from anybody, waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.line.asks import Ask, Row, floor_place, growth
from tidegate.scheduler.line.ceilings import Ceiling, Ceilings, under
from tidegate.scheduler.line.fit import place
from tidegate.scheduler.line.guarded import Guarded
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.places import Place
from tidegate.scheduler.line.rows import Rows, order
from tidegate.scheduler.line.shapes import floor_kind
from tidegate.scheduler.line.turns import Turns
from tidegate.scheduler.policies import Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

Hopes = Callable[[TreeNode, Need], Callable[[Row], bool] | None]
"""Of a Queue in which everybody asks for so much at least: whether one of its asks that does not fit might have room
made for it, or held; None if none might. With nothing for the least anybody may be impatient."""
Ever = Callable[[Ask], bool]
"""Whether an ask would fit if nobody but its workload held anything."""


class Line:
    """All asks, in the order of who is next. Holds are the ledger's: tell the line which Queue has `changed`."""

    def __init__(self, tree: Tree, ledger: Ledger, policies: Policies, ever: Ever, hopes: Hopes | None = None) -> None:
        self.tree = tree
        self.ledger = ledger
        self._ever = ever
        self._hopes = hopes
        self._ceilings = Ceilings(tree, ledger)
        self._strict = [node.is_queue and node.rules.ordering is Ordering.STRICT for node in tree.in_order]
        only = hopes is None and not any(self._strict)
        self._rows = Rows(tree, self._ceilings, lends=ledger.keeps)
        asking = self._rows.by_queue
        self._turns = Turns(tree, ledger, policies, self._ceilings, self._head, asking=asking, only_what_fits=only)
        self._floors: dict[str, Row] = {}
        self._growth: dict[str, list[tuple[Row, Place]]] = {}
        self._failed: list[Row] = []
        self._blocked: dict[int, Ask] = {}
        self._room_is_held = False
        self.next = self._turns.next
        self.next_below = self._turns.next_below
        self.all_below = self._turns.all_below
        self.changes_below = self._turns.changes_below
        self._guarded = Guarded(tree, self._ceilings)
        self.changed = self._changed_beside if self._guarded else self._turns.changed
        self.is_tight = self._ceilings.is_tight
        self.known_row = self._rows.known

    def __len__(self) -> int:
        """How many workloads stand in it."""
        return len(self._floors) + len(self._growth)

    @property
    def somebody_is_impatient(self) -> bool:
        return self._ceilings.impatient > 0

    @property
    def has_room_for_all(self) -> bool:
        """Whether, when it was last said who is next, anybody in line would have fitted in their place."""
        return self._turns.ceiling is self._ceilings.none

    # ── who asks ──

    def join(self, workload: Workload, queue: TreeNode, *, impatient: bool = False) -> Row:
        """A workload asks for its floor."""
        row = self._floors[workload.name] = self._rows.row(queue, floor_kind(workload, impatient=impatient))
        self._add(row, floor_place(workload))
        return row

    def join_growth(self, holding: Holding) -> None:
        """A workload that is admitted asks for its next steps."""
        asks = []
        for index, pod_set in enumerate(holding.workload.pod_sets):
            if holding.count(index) + pod_set.ended < pod_set.count and (wanted := growth(holding, index)):
                assert holding.queue is not None
                row = self._rows.row(holding.queue, wanted[0])
                self._add(row, wanted[1])
                asks.append((row, wanted[1]))
        if asks:
            self._growth[holding.workload.name] = asks

    def leave(self, workload: Workload) -> None:
        """A workload asks for nothing any more."""
        row = self._floors.pop(workload.name, None)
        if row is not None:
            self._remove(row, floor_place(workload))
        for row, step in self._growth.pop(workload.name, ()):
            self._remove(row, step)

    def serve(self, ask: Ask, holding: Holding | None) -> None:
        """Somebody was granted what they asked for, and asks for their next steps; None: there are none."""
        if ask.kind.is_floor:
            self._remove_first(self._floors.pop(ask.name))
        elif holding is not None:
            self.leave(holding.workload)
        if holding is not None:
            self.join_growth(holding)
        self.changed(ask.queue)

    def _add(self, row: Row, at: Place) -> None:
        if row.add(at) and not row.failed:
            self._rows.offer(row)
            self.changed(row.queue)

    def _remove(self, row: Row, at: Place) -> None:
        if row.first != at:
            row.remove(at)
            return
        if self._remove_first(row) or not row.failed:
            self.changed(row.queue)

    def _remove_first(self, row: Row) -> bool:
        """Whether it was the last of its row, too."""
        row.remove_first()
        if row.first is None:
            self._rows.close(row)
            return True
        if not row.failed:
            self._rows.offer(row)
        return False

    def _changed_beside(self, queue: TreeNode) -> None:
        """In a Queue, and in those that have a guarantee in common with it."""
        self._turns.changed(queue)
        for beside in self._guarded.moved_by(queue):
            self._turns.changed(beside)

    # ── who may not be served ──

    def set_aside(self, ask: Ask) -> None:
        """It does not fit: those behind it may pass, except those of its row."""
        ask.row.failed = self._turns.in_vain = True
        self._failed.append(ask.row)
        self.changed(ask.queue)

    def block(self, ask: Ask) -> None:
        """It does not fit and may not be passed: nobody in its ClusterQueue is served any more."""
        assert ask.queue.parent is not None
        self._blocked[ask.queue.parent.index] = ask
        self._doors_changed(ask.queue.parent)

    def _doors_changed(self, cluster_queue: TreeNode) -> None:
        for child in cluster_queue.children:
            if child.is_queue:
                self.changed(child)

    def room_is_held(self, held: bool) -> None:
        """Whether room is set aside for somebody, in which others may have a turn."""
        if held is not self._room_is_held:
            self._room_is_held = held
            for row in self._rows.ending:
                self.changed(row.queue)

    @property
    def set_aside_rows(self) -> Sequence[Row]:
        """Rows of which the first was looked at in vain."""
        return self._failed

    @property
    def failures(self) -> int:
        """How many rows were set aside since all were open."""
        return len(self._failed)

    def reopen(self, since: int = 0) -> None:
        """Whoever was set aside or blocked may try again; `since`: only those set aside after so many."""
        for row in self._failed[since:]:
            row.failed = False
            if row.first is not None:
                self._rows.offer(row)
                self.changed(row.queue)
        del self._failed[since:]
        self._turns.in_vain = bool(self._failed)
        for index in self._blocked:
            self._doors_changed(self.tree.in_order[index])
        self._blocked.clear()
        for row in self._rows.choosy:
            self.changed(row.queue)

    @property
    def blocks(self) -> bool:
        """Whether anybody may not be passed."""
        return bool(self._blocked)

    def blocker(self, queue: TreeNode) -> Ask | None:
        """The ask that nobody in this Queue may pass."""
        return self._blocked.get(queue.parent.index) if queue.parent else None

    # ── who stands where ──

    def somebody_asks(self, queue: TreeNode) -> bool:
        """Whether anybody of a Queue stands in line."""
        return bool(self._rows.of(queue))

    def rows(self, queue: TreeNode) -> Iterator[Row]:
        """The rows of a Queue that somebody stands in, in order."""
        return iter(sorted(self._rows.of(queue), key=order))

    def floor_row(self, name: str) -> Row | None:
        """Where a workload waits for its floor."""
        return self._floors.get(name)

    def _head(self, queue: TreeNode, ceiling: Ceiling) -> Ask | None:
        """The first ask of a Queue that is worth looking at."""
        if self._blocked and queue.parent is not None and queue.parent.index in self._blocked:
            return None
        if self._strict[queue.index]:
            return self._first_of_strict(queue)
        if ceiling is not self._ceilings.none and self._ceilings.shuts_out(ceiling):
            return self._first_of_many(queue, ceiling)
        row = self._rows.first_open(queue)
        if row is None:
            return None
        # The first of all, if it fits, is nobody's to pass.
        if ceiling is self._ceilings.none and row.only is not None and not queue.capped:
            return row.only_ask()
        return self._ask(row, True) if self._fits(row, ceiling) else self._first_of_many(queue, ceiling)

    def _first_of_strict(self, queue: TreeNode) -> Ask | None:
        """The first, whether it fits or not; but what can never fit is in nobody's way."""
        while row := self._rows.first_open(queue):
            fits = place(row, self.ledger) is not None
            ask = self._ask(row, fits)
            if fits or self._ever(ask):
                return ask
            row.failed = True
            self._failed.append(row)
        return None

    def _first_of_many(self, queue: TreeNode, ceiling: Ceiling) -> Ask | None:
        """The first that fits, or the first that does not but may hope, whose turn comes first."""
        first: Row | None = None
        hopeful: Row | None = None
        hopes = self._hopes(queue, self._ceilings.least) if self._hopes is not None else None
        if hopes is None and not self._room_is_held and self._ceilings.shuts_out(ceiling):
            return None
        for row in self._rows.of(queue):
            if row.failed:
                continue
            if self._fits(row, ceiling):
                if first is None or order(row) < order(first):
                    first = row
            elif hopeful is not None and order(hopeful) < order(row):
                continue
            elif (self._room_is_held and row in self._rows.ending) or (hopes is not None and hopes(row)):
                hopeful = row
        fits = self._ask(first, True) if first else None
        might = self._ask(hopeful, False) if hopeful else None
        if fits is None or might is None:
            return fits or might
        # One that does not fit keeps its own, later turn; before those it stands behind it has none.
        return min(fits, might, key=self._place) if order(might.row) < order(fits.row) else fits

    def _fits(self, row: Row, ceiling: Ceiling) -> bool:
        """Whether there is room for a row, as far as a ceiling tells; where it has a choice of flavors, or others keep
        room for themselves, the rest is seen at its turn. What a Queue's limits allow is the same in every flavor."""
        only, first = row.only, row.shape.first
        if only is not None:
            fits = under(ceiling, only.need)
        else:
            fits = all(any(under(ceiling, need) for need in pieces) for pieces in row.shape.pieces)
        return fits and (not row.queue.capped or first is None or self.ledger.keeps_limits(row.queue, first.need))

    def _ask(self, row: Row, fits: bool) -> Ask:
        """The first of a row, weighed by what it takes where it fits, or else in the flavors it would like best."""
        if row.only is not None:
            return row.only_ask()
        placement = (place(row, self.ledger) if fits else None) or row.shape.first
        assert row.first is not None
        return Ask(row, row.first, placement.need if placement else ())

    def _place(self, ask: Ask) -> tuple[Any, ...]:
        """One that fits and one that does not, of the same Queue: whose turn comes first."""
        return (self._turns.weigh(ask.queue, ask), ask.row.rank, ask.place)
