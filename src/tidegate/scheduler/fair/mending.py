"""Mending: what was handed out is brought to what it would be had demand always been what it is now.

Theory of operation. A Queue is served its asks in an order of its own, and where a child stands among its siblings
depends on nothing but itself and its next ask. So turns are a merge: at each node the sequences of its children, by
what the node's policy says of their next. A state is a *beginning* of handing out if no child, at any node, had a turn
that comes after a sibling's next one (`past`). While everybody's next ask fits nobody was passed: then it matters that
it is a beginning, and not how it was reached.

So when demand changes: undo what was given since somebody first did not fit (few asks: all that is smaller than the
largest); put in, or take out, what changed; then look along the paths of the Queues concerned for a child that is
ahead of a sibling's next ask. It gives its last back, or the one behind is given its next, until nobody is ahead. From
there handing out goes on as ever. A change costs what it moves, not what was handed out; and what it moves is below
one root, since roots that share no machines have nothing to do with each other.

A node that may not hold all there is can be full where its tree is not. What it goes on to give, past those who do not
fit, is a sequence of its own, that nothing outside of it has a part in: it is kept as it came about, and taken back
from its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.scheduler.fair.fill import Fill, Given
from tidegate.scheduler.fair.past import Past, UnclearError, orders
from tidegate.scheduler.line.asks import Ask
from tidegate.scheduler.policies import ByPriority, Drf, Fifo, Policies
from tidegate.scheduler.snapshot import Workload
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_MOST_STEPS = 256
"""More than these, and handing out afresh is sooner done."""


class Mending:
    """Keeps a Fill true as demand changes."""

    def __init__(self, fill: Fill) -> None:
        self.fill = fill
        self.ledger = fill.ledger
        self._disturbed: dict[TreeNode, None] = {}
        self._late: dict[TreeNode, list[Given]] = {}
        """By ClusterQueue: what was given below it, in that order, since somebody below it first did not fit there."""
        self._bounded = [[node for node in one.bounded if not node.is_queue] for one in fill.tree.in_order]
        """By index of a Queue: where it may not fit, of the nodes above it."""
        self._only_roots_bind = not fill.ledger.keeps and all(len(nodes) < 2 for nodes in self._bounded)
        self._lenders = [_lenders(node) for node in fill.tree.in_order] if fill.ledger.keeps else []
        """By index of a node: where somebody below it may have a turn in vain."""
        self._by = orders(fill.tree, fill.policies)
        self._past = Past(fill, self._by, self._late)
        self._strict = any(node.rules.ordering is Ordering.STRICT for node in fill.tree.in_order)
        self._may_not_fit = self._strict or fill.ledger.keeps
        """Whether somebody may have a turn in vain."""

    def disturb(self, workload: Workload) -> None:
        """What a workload wants is about to change; nothing is its own until then."""
        queue = self.fill.tree.nodes[workload.queue]
        for node in reversed(self._bounded[queue.index]):
            while node in self._late:
                self._undo(self._late[node][-1])
        if self._strict or self.fill.line.failures:  # Who blocked others, or was set aside, may fit now.
            self.fill.line.reopen()
        self._disturbed[queue] = None
        self.fill.forget(workload)

    def begin_with(self, asks: Iterable[Ask]) -> None:
        """If nothing was handed out yet: these are the first, one after the other."""
        if self.fill.has_given:
            return
        self._disturbed.clear()
        for ask in asks:
            self._grant(ask)

    def run(self) -> None:
        """Hand out what there is to those who want it now."""
        fill = self.fill
        if self._disturbed and fill.has_given:
            try:
                self._mend()
            except UnclearError:
                self._begin_again()
        self._disturbed.clear()
        while ask := fill.line.next():
            assert ask.row.only is not None
            if self._may_not_fit and not self.ledger.fits(ask.queue, ask.need):
                is_strict = ask.queue.rules.ordering is Ordering.STRICT
                (fill.line.block if is_strict else fill.line.set_aside)(ask)
            elif self._only_roots_bind and not self._late and fill.line.has_room_for_all:
                fill.grant(ask, ask.row.only)
            else:
                self._grant(ask)

    def _grant(self, ask: Ask) -> TreeNode:
        """Give somebody their next, and say in which Queue that was."""
        assert ask.row.only is not None
        late = [node for node in self._bounded[ask.queue.index] if node in self._late or self._is_tight(node)]
        given = self.fill.grant(ask, ask.row.only)
        for node in late:
            self._late.setdefault(node, []).append(given)
        return given.queue

    def _undo(self, given: Given) -> TreeNode:
        """Take back what was given last below some node, and say in which Queue that was."""
        for node in self._bounded[given.queue.index]:
            late = self._late.get(node)
            if late is not None:
                if late[-1] is not given:
                    raise UnclearError
                late.pop()
                if not late:
                    del self._late[node]
        self.fill.undo(given)
        return given.queue

    def _begin_again(self) -> None:
        """Nothing is given below the roots of who changed."""
        for root in {queue.root for queue in self._disturbed}:
            for node in root.below():
                self._late.pop(node, None)
                given_in = self.fill.given_in[node.index]
                while given_in:
                    self.fill.undo(given_in[-1])

    def _mend(self) -> None:
        """From the inside out: once nobody is ahead below a node and there is room for everybody in it, it stays true,
        since it is given its own next and gives back its own last."""
        concerned = {node: None for queue in self._disturbed for node in reversed(queue.path)}
        steps = 0
        for node in reversed(concerned):
            while self._step(node, concerned) or (self._is_tight(node) and self._take_back(node)):
                steps += 1
                if steps > _MOST_STEPS:
                    raise UnclearError

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
        elif self._by[node.index] is Drf:
            # Nobody's next can come before their last. Whom that hides, among equal shares, is seen once it is given.
            hidden = self.ledger.shares[behind.index] == key[0] and self._past.turn(behind) > key
            ahead = self._ahead(node, behind, self._past.turn(behind) if hidden else key)
        else:
            ahead, ask = self._ahead_by_policy(node, key, behind, ask)
        if ahead is None and not hidden:
            return None
        tight = any(map(self._is_tight, node.path))
        if ahead is not None and (tight or (ahead is not node and ahead in concerned)):
            return self._take_back(ahead)
        return self._take_back(node) if tight else self._grant(ask)

    def _ahead(self, node: TreeNode, behind: TreeNode, key: tuple[Any, ...]) -> TreeNode | None:
        """The child that is furthest ahead of a sibling's next ask, if any is."""
        most, ahead = self._past.with_most(node)
        if most < key[0]:
            return None
        if most == key[0]:
            ahead = [child for child in ahead if child is not behind and self._past.turn(child) > key]
        return self._past.latest(ahead)

    def _ahead_by_policy(
        self, node: TreeNode, key: tuple[Any, ...], behind: TreeNode, ask: Ask
    ) -> tuple[TreeNode | None, Ask]:
        """The same where turns are not by share; and the ask it is ahead of. Among old and young, whose next comes long
        before their last is nothing rare: then all are looked at by the later of the two."""
        turn = self._past.turn
        if turn(behind) > key:
            later = [(max(key, turn(child)), child, ask) for key, child, ask in self.fill.line.all_below(node)]
            key, behind, ask = min(later)
        ahead = max(node.children, key=turn)
        return (None if ahead is behind or turn(ahead) < key else ahead), ask

    def _take_back(self, node: TreeNode) -> TreeNode:
        """Undo what was given last below a node, and say in which Queue that was."""
        last = self._past.last(node)
        if last is None:
            raise UnclearError
        return self._undo(last)

    def _is_tight(self, node: TreeNode) -> bool:
        """Whether somebody below it may not fit there, or may have a turn in vain below there."""
        is_tight = self.fill.line.is_tight
        return is_tight(node) or (bool(self._lenders) and any(map(is_tight, self._lenders[node.index])))


def can_be_mended(tree: Tree, policies: Policies) -> bool:
    """Whether turns are a merge, so that it does not matter in which order they were taken, and it can be told how far
    everybody has got; as long as nobody has a choice of flavors."""
    queues = [node for node in tree.in_order if node.is_queue]
    lending = {node.root for node in tree.in_order if node.kept}
    strict = [queue for queue in queues if queue.rules.ordering is Ordering.STRICT]
    return (
        tree.machines is None
        and all(len(axes) == 1 for queue in queues for axes, _, _ in queue.capped)
        and not any(queue.root in lending or _is_bounded(queue) for queue in strict)
        and all(map(_is_merged, tree.in_order, orders(tree, policies)))
    )


def _is_merged(node: TreeNode, by: type) -> bool:
    """Whether it can be told how far a node's children have got by what they were given. By age or priority that is
    different for what is inside a guarantee, and which part of it that was is not known."""
    return by is Drf or (by in (Fifo, ByPriority) and not any(any(child.guarantee) for child in node.children))


def _is_bounded(queue: TreeNode) -> bool:
    """Whether it may be full where its tree is not. Whoever may not be passed then blocks others, as if there were no
    room at all; but not for want of what it may have none of, since that can never fit."""
    return bool(queue.capped) or any(node.parent and any(node.bounds.values()) for node in queue.path)


def _lenders(node: TreeNode) -> list[TreeNode]:
    """Those from a node down that may not hold all there is, and below which somebody keeps room for itself: there an
    ask may look as if it fitted, and keeps its turn until it is found not to."""
    return [one for one in node.below() if one.bounds and any(below.kept for below in one.below() if below is not one)]
