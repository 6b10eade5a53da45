"""Mending: what was handed out is brought to what it would be had demand always been what it is now.

Theory of operation. A Queue is served its asks in an order of its own, and every one it is granted raises (or leaves)
its share. So turns are a merge: at each node the sequences of its children, by the share they would have with their
next ask. A state is a *beginning* of handing out if no child, at any node, was given something that comes after what a
sibling is to be given next. While everybody's next ask fits nobody was passed: then it matters that it is a beginning,
and not how it was reached.

So when demand changes: undo what was given since somebody first did not fit (few asks: all that is smaller than the
largest); put in, or take out, what changed; then look along the paths of the Queues concerned for a child that is
ahead of a sibling's next ask. It gives its last back, or the one behind is given its next, until nobody is ahead. From
there handing out goes on as ever. A change costs what it moves, not what was handed out; and what it moves is below
one root, since roots that share no machines have nothing to do with each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.fair.fill import Fill, Given
from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.policies import DRF, Drf, Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.cells import total
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_MOST_STEPS = 256
"""More than these, and handing out afresh is sooner done."""
_LONGEST_RUN = 16


class _UnclearError(Exception):
    """What came last cannot be told from what is kept."""


class Mending:
    """Keeps a Fill true as demand changes."""

    def __init__(self, fill: Fill) -> None:
        self.fill = fill
        self.ledger = fill.ledger
        self._disturbed: dict[TreeNode, None] = {}
        self._lasts: dict[TreeNode, tuple[int, Given | None]] = {}
        """What was given last below a ClusterQueue, as of how many changes there."""
        self._ages: dict[TreeNode, tuple[int, int]] = {}
        """How old what a node was given last is, as of how many changes there."""
        self._late: dict[TreeNode, list[Given]] = {}
        """By root: what was given since somebody below it first did not fit."""
        self._children = [[child.index for child in node.children] for node in fill.tree.in_order]
        """By index of a node, theirs."""
        self._strict = any(node.rules.ordering is Ordering.STRICT for node in fill.tree.in_order)

    def disturb(self, workload: Workload) -> None:
        """What a workload wants is about to change; nothing is its own until then."""
        queue = self.fill.tree.nodes[workload.queue]
        for given in reversed(self._late.pop(queue.root, ())):
            self.fill.undo(given)
        if self._strict:  # Who blocked others may fit now.
            self.fill.line.reopen()
        self._disturbed[queue] = None
        self.fill.forget(workload)

    def begin_with(self, asks: Iterable[Ask]) -> None:
        """If nothing was handed out yet: these are the first, one after the other."""
        if self.fill.holdings:
            return
        self._disturbed.clear()
        for ask in asks:
            assert ask.row.only is not None
            self.fill.grant(ask, ask.row.only)

    def run(self) -> None:
        """Hand out what there is to those who want it now."""
        fill = self.fill
        if self._disturbed and fill.holdings:
            try:
                self._mend()
            except _UnclearError:
                self._begin_again()
        self._disturbed.clear()
        while ask := fill.line.next():
            assert ask.row.only is not None
            root = ask.queue.root
            if root not in self._late and not fill.line.has_room_for_all and self._is_tight(root):
                self._late[root] = []
            if self._strict and not self.ledger.fits(ask.queue, ask.need):
                fill.line.block(ask)
                continue
            given = fill.grant(ask, ask.row.only)
            if root in self._late:
                self._late[root].append(given)

    def _begin_again(self) -> None:
        """Nothing is given below the roots of who changed."""
        for root in {queue.root for queue in self._disturbed}:
            for node in root.below():
                given_in = self.fill.given_in[node.index]
                while given_in:
                    self.fill.undo(given_in[-1])

    def _mend(self) -> None:
        concerned = {node: None for queue in self._disturbed for node in reversed(queue.path)}
        inside_first = list(reversed(concerned))
        unsure = set(inside_first)
        """Where somebody may be ahead: where nobody was, nobody is until something moves below there."""
        for _ in range(_MOST_STEPS):
            moved = None
            for node in filter(unsure.__contains__, inside_first):
                moved = self._step(node, concerned)
                if moved is not None:
                    break
                unsure.remove(node)
            if moved is None:
                tight = next(filter(self._is_tight, inside_first), None)
                if tight is None:
                    return
                moved = self._take_back(tight)
            unsure.update(moved.path)
        raise _UnclearError

    def _step(self, node: TreeNode, concerned: dict[TreeNode, None]) -> TreeNode | None:
        """If a child is ahead of another, it gives its last back, or the other is given its next; in which Queue that
        was."""
        next_one = self.fill.line.next_below(node)
        if next_one is None:
            return None
        key, behind, ask = next_one
        hidden = False
        if node.is_queue:
            given_in = self.fill.given_in[node.index]
            ahead = node if given_in and (ask.row.rank, ask.place) < given_in[-1].order else None
        else:
            # Nobody's next can come before their last. Whom that hides, among equal shares, is seen once it is given.
            hidden = self.ledger.shares[behind.index] == key[0] and self._came_last(behind) > key
            ahead = self._ahead(node, behind, self._came_last(behind) if hidden else key)
        if ahead is None and not hidden:
            return None
        assert ask.row.only is not None
        tight = any(map(self._is_tight, node.path))
        if ahead is not None and (tight or (ahead is not node and ahead in concerned)):
            return self._take_back(ahead)
        if tight:
            raise _UnclearError
        return self.fill.grant(ask, ask.row.only).queue

    def _ahead(self, node: TreeNode, behind: TreeNode, key: tuple[Any, ...]) -> TreeNode | None:
        """The child that is furthest ahead of a sibling's next ask, if any is."""
        shares = self._shares_below(node)
        most = max(shares, default=0)
        if most < key[0]:
            return None
        ahead = _with(most, shares, node.children)
        if most == key[0]:
            turn = key[1:]
            ahead = [child for child in ahead if child is not behind and self._turn(child) > turn]
        return self._whose_turn_was_last(ahead)

    def _shares_below(self, node: TreeNode) -> list[int]:
        """Those of a node's children."""
        return list(map(self.ledger.shares.__getitem__, self._children[node.index]))

    def _whose_turn_was_last(self, equals: Sequence[TreeNode]) -> TreeNode | None:
        """Of some siblings with equal shares."""
        return max(equals, key=self._turn, default=None) if len(equals) != 1 else equals[0]

    def _came_last(self, node: TreeNode) -> tuple[Any, ...]:
        """Where a node's last turn was, among its siblings'."""
        return (self.ledger.shares[node.index], *self._turn(node))

    def _turn(self, node: TreeNode) -> tuple[int, int]:
        """Between equal shares: the age of what a node was given last, and its name."""
        return (self._age(node), node.by_name)

    def _age(self, node: TreeNode) -> int:
        """Of what raised its share to what it is, and all after that: the youngest."""
        fill = self.fill
        changes = fill.moves[node.index] if node.is_queue else fill.line.changes_below(node)
        as_of, age = self._ages.get(node, (-1, 0))
        if as_of != changes:
            age = self._age_of(node) if node.is_queue else self._age_below(node)
            self._ages[node] = (changes, age)
        return age

    def _age_below(self, node: TreeNode) -> int:
        last = self._last(node)
        if last is None:
            return -1
        if self.ledger.share_without(node, last.placement.need) == self.ledger.shares[node.index]:
            raise _UnclearError
        return last.ask.created

    def _age_of(self, node: TreeNode) -> int:
        now, run = self.ledger.shares[node.index], []
        for given in reversed(self.fill.given_in[node.index]):
            run.append(given)
            if self.ledger.share_without(node, total(one.placement.need for one in run)) < now:
                break
            if len(run) > _LONGEST_RUN:
                raise _UnclearError
        return max((given.ask.created for given in run), default=-1)

    def _last(self, node: TreeNode) -> Given | None:
        """What was given last below a node."""
        if node.is_queue:
            given_in = self.fill.given_in[node.index]
            return given_in[-1] if given_in else None
        changes = self.fill.line.changes_below(node)
        as_of, last = self._lasts.get(node, (-1, None))
        if as_of != changes:
            shares = self._shares_below(node)
            most = max(shares, default=0)
            given = _with(most, shares, node.children)
            if not most:  # Who has a share was given something; where nobody has, some may be inside their guarantees.
                given = list(filter(self.ledger.granted_anything, given))
            child = self._whose_turn_was_last(given)
            last = None if child is None else self._last(child)
            self._lasts[node] = (changes, last)
        return last

    def _take_back(self, node: TreeNode) -> TreeNode:
        """Undo what was given last below a node, and say in which Queue that was."""
        last = self._last(node)
        if last is None:
            raise _UnclearError
        self.fill.undo(last)
        return last.queue

    def _is_tight(self, node: TreeNode) -> bool:
        return self.fill.line.is_tight(node)


def _with(share: int, shares: Iterable[int], nodes: Iterable[TreeNode]) -> list[TreeNode]:
    """The nodes that have this share."""
    return list(compress(nodes, map(share.__eq__, shares)))


def can_be_mended(tree: Tree, policies: Policies) -> bool:
    """Whether turns are a merge by shares, so that it does not matter in which order they were taken; as long as nobody
    has a choice of flavors."""
    queues = [node for node in tree.in_order if node.is_queue]
    return (
        tree.machines is None
        and not any(node.kept for node in tree.in_order)
        and all(len(axes) == 1 for queue in queues for axes, _, _ in queue.capped)
        and not any(queue.rules.ordering is Ordering.STRICT and _is_bounded(queue) for queue in queues)
        and all(type(policies.get(node.rules.policy) or policies[DRF]) is Drf for node in tree.in_order)
    )


def _is_bounded(queue: TreeNode) -> bool:
    """Whether it may be full where its tree is not. Whoever may not be passed then blocks others, as if there were no
    room at all; but not for want of what it may have none of, since that can never fit."""
    return bool(queue.capped) or any(node.parent and any(node.bounds.values()) for node in queue.path)
