"""The line: which ask is next.

Within a Queue: priority, then floors before growth, floors by age, growth by the workload's own smallest share, then
age. Between the children of a ClusterQueue its policy decides; each child stands there with the ask that is next
below it: the first that fits, or the first that does not but might have room made for it, whichever comes first.

A Queue keeps its rows in a heap by their first ask, a ClusterQueue its children by theirs; only the path of a Queue is
weighed again when something happens in it. Entries that are out of date are recognised when they come up, and dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Any

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.line.asks import Ask, Kind, Place, Row, floor_kind, floor_place, growth
from tidegate.scheduler.line.fit import first_choice, place
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.tight import Watch
from tidegate.scheduler.policies import DRF, Candidate, Drf, Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree


class Line:
    """All asks, in the order of who is next. Holds are the ledger's: tell the line which Queue has `changed`."""

    def __init__(self, tree: Tree, ledger: Ledger, policies: Policies, *, room_can_be_made: bool) -> None:
        self.tree = tree
        self.ledger = ledger
        self.room_can_be_made = room_can_be_made
        """Whether asks that do not fit have a turn too."""
        self._policies = [_policy(node, policies) for node in tree.in_order]
        self._watch = Watch(tree, ledger)
        size = tree.size
        self._rows: list[dict[Kind, Row]] = [{} for _ in range(size)]
        self._heaps: list[list[Any]] = [[] for _ in range(size)]
        self._tight_heaps: list[list[Any]] = [[] for _ in range(size)]
        self._next: list[Ask | None] = [None] * size
        self._need: list[Need] = [()] * size
        self._current = [0] * size
        self._versions = count(1)
        self._stale: dict[TreeNode, None] = {}
        self._floors: dict[str, Row] = {}
        self._growth: dict[str, list[tuple[Row, Place]]] = {}
        self._failed: list[Row] = []
        self._tight: list[Row] = []
        self._blocked: dict[int, Ask] = {}

    # ── who asks ──

    def join(self, workload: Workload, queue: TreeNode, *, impatient: bool = False) -> Row:
        """A workload asks for its floor."""
        row = self._floors[workload.name] = self.row(queue, floor_kind(workload, impatient=impatient))
        self._add(row, floor_place(workload))
        return row

    def join_growth(self, holding: Holding) -> None:
        """A workload that is admitted asks for its next steps."""
        assert holding.queue is not None
        asks = []
        for index in range(len(holding.granted)):
            wanted = growth(holding, index)
            if wanted is not None:
                row = self.row(holding.queue, wanted[0])
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

    def row(self, queue: TreeNode, kind: Kind) -> Row:
        """Where asks of this kind stand; an empty one if nobody does."""
        rows = self._rows[queue.index]
        row = rows.get(kind)
        if row is None:
            row = rows[kind] = Row(queue, kind, self.tree.flavors)
            self._watch.add(row)
        return row

    def known_row(self, queue: TreeNode, kind: Kind) -> Row | None:
        """Where asks of this kind stand, if anybody does."""
        return self._rows[queue.index].get(kind)

    def _add(self, row: Row, at: Place) -> None:
        row.asks.add(at)
        if row.asks[0] is at and not row.failed:
            self._offer(row)

    def _offer(self, row: Row) -> None:
        heaps = self._tight_heaps if row.tight else self._heaps
        heappush(heaps[row.queue.index], (row.rank, row.asks[0], next(self._versions), row))
        self._stale[row.queue] = None

    def _remove(self, row: Row, at: Place) -> None:
        first = row.asks[0] == at
        row.asks.remove(at)
        if not row.asks:
            del self._rows[row.queue.index][row.kind]
            self._stale[row.queue] = None
        elif first and not row.failed:
            self._offer(row)

    # ── whose turn it is ──

    def next(self) -> Ask | None:
        """Whose turn it is."""
        self._freshen()
        return next((ask for root in self.tree.roots if (ask := self._next[root.index])), None)

    def _freshen(self) -> None:
        for queue in list(self._stale):
            for row in self._watch.squeezed(queue):
                self._squeeze(row)
        for queue in self._stale:
            for node in queue.path:
                self._weigh(node)
        self._stale.clear()

    def _squeeze(self, row: Row) -> None:
        """Those behind an ask that does not fit any more may pass it, except where the first blocks the rest."""
        strict = row.queue.rules.ordering is Ordering.STRICT
        if row.tight or strict or not row.asks or place(row, self.ledger) is not None:
            return
        row.tight = True
        self._tight.append(row)
        if not row.failed:
            row.failed = not self.room_can_be_made
            self._failed += [row] * row.failed
            self._offer(row)

    def changed(self, queue: TreeNode) -> None:
        """What a Queue holds is different: weigh its path again."""
        self._stale[queue] = None

    def set_aside(self, ask: Ask) -> None:
        """It does not fit: those behind it may pass, except those of its row."""
        ask.row.failed = True
        self._failed.append(ask.row)
        self._stale[ask.queue] = None

    def block(self, ask: Ask) -> None:
        """It does not fit and may not be passed: nobody in its ClusterQueue is served any more."""
        assert ask.queue.parent is not None
        self._blocked[ask.queue.parent.index] = ask
        for sibling in ask.queue.parent.children:
            if sibling.is_queue:
                self._stale[sibling] = None

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
        again = self._failed[since:] if since else [*self._failed, *self._tight]
        for row in {id(row): row for row in again}.values():
            if row.tight:
                self._watch.add(row)
            row.failed = row.tight = False
            if row.asks:
                self._offer(row)
        del self._failed[since:]
        self._tight = [row for row in self._tight if row.tight]
        for index in self._blocked:
            for child in self.tree.in_order[index].children:
                self._stale[child] = None
        self._blocked.clear()

    @property
    def blocks(self) -> bool:
        """Whether anybody may not be passed."""
        return bool(self._blocked)

    def blocker(self, queue: TreeNode) -> Ask | None:
        """The ask that nobody in this Queue may pass."""
        return self._blocked.get(queue.parent.index) if queue.parent else None

    def rows(self, queue: TreeNode) -> Iterator[Row]:
        """The rows of a Queue that somebody stands in, in order."""
        return iter(sorted(self._rows[queue.index].values(), key=lambda row: (row.rank, row.asks[0])))

    def ahead(self, ask: Ask) -> int:
        """How many asks of its Queue come before it."""
        before = 0
        for row in self._rows[ask.queue.index].values():
            if row.rank == ask.row.rank:
                before += row.asks.bisect_left(ask.place)
            elif row.rank < ask.row.rank:
                before += len(row.asks)
        return before

    def floor_row(self, name: str) -> Row | None:
        """Where a workload waits for its floor."""
        return self._floors.get(name)

    def _weigh(self, node: TreeNode) -> None:
        index = node.index
        ask = self._next[index] = self._head(node) if node.is_queue else self._first_child(index)
        version = self._current[index] = next(self._versions)
        if ask is not None and node.parent is not None:
            heappush(self._heaps[node.parent.index], (self._key(node, ask), version, index))

    def _first_child(self, index: int) -> Ask | None:
        heap, current = self._heaps[index], self._current
        while heap:
            _, version, child = heap[0]
            if current[child] == version:
                ask: Ask | None = self._next[child]
                return ask
            heappop(heap)
        return None

    def _head(self, queue: TreeNode) -> Ask | None:
        """The first ask of a Queue that is worth looking at."""
        if queue.parent is not None and queue.parent.index in self._blocked:
            return None
        row = _first(self._heaps[queue.index], tight=False)
        tight = _first(self._tight_heaps[queue.index], tight=True)
        if row is None or tight is None:
            row = row or tight
        elif self._place(tight) < self._place(row):
            row = tight
        if row is None:
            return None
        self._need[queue.index] = self._need_of(row)
        return Ask(row, row.asks[0])

    def _place(self, row: Row) -> tuple[Any, ...]:
        """One that fits and one that does not, of the same Queue: whose turn comes first."""
        index = row.queue.index
        now = self.ledger.shares[index]
        share = now if row.kind.impatient else self.ledger.share_with(row.queue, self._need_of(row))
        return (share, row.rank, row.asks[0])

    def _need_of(self, row: Row) -> Need:
        """What it would take, for weighing it: where it fits, or else in the flavors it would like best."""
        placement = row.only or place(row, self.ledger) or first_choice(row)
        return placement.need if placement else ()

    def _key(self, node: TreeNode, ask: Ask) -> tuple[Any, ...]:
        """Where a child stands among its siblings, with the ask that is next below it."""
        assert node.parent is not None
        now = self.ledger.shares[node.index]
        share = now if ask.row.kind.impatient else self.ledger.share_with(node, self._need[ask.queue.index])
        policy = self._policies[node.parent.index]
        if policy is None:
            return (share, ask.created, node.name)
        unit = node.parent.unit
        candidate = Candidate(
            name=node.name,
            weight=node.weight,
            share=Fraction(share, unit),
            share_now=Fraction(now, unit),
            workload=ask.name,
            priority=ask.kind.priority,
            created=ask.created,
            pods=ask.row.pods,
            is_floor=ask.kind.is_floor,
        )
        return (policy.order(candidate), ask.created, node.name)


def _first(heap: list[Any], *, tight: bool) -> Row | None:
    """The first row of a heap, without those that are out of date."""
    while heap:
        _, first, _, row = heap[0]
        if row.tight is tight and not row.failed and row.asks and row.asks[0] is first:
            found: Row = row
            return found
        heappop(heap)
    return None


def _policy(node: TreeNode, policies: Policies) -> Any:
    """None for drf, whose order is the share alone and can stay an integer."""
    policy = policies.get(node.rules.policy) or policies[DRF]
    return None if type(policy) is Drf else policy
