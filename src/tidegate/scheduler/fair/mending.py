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

from collections.abc import Iterable
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
        """How old what a Queue was given last is, as of how many moves there."""
        self._late: dict[TreeNode, list[Given]] = {}
        """By root: what was given since somebody below it first did not fit."""
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
        for _ in range(_MOST_STEPS):
            if any(self._step(node, concerned) for node in inside_first):
                continue
            tight = next(filter(self._is_tight, inside_first), None)
            if tight is None:
                return
            self._take_back(tight)
        raise _UnclearError

    def _step(self, node: TreeNode, concerned: dict[TreeNode, None]) -> bool:
        """If a child is ahead of another, it gives its last back, or the other is given its next."""
        next_one = self.fill.line.next_below(node)
        if next_one is None:
            return False
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
            return False
        assert ask.row.only is not None
        tight = any(map(self._is_tight, node.path))
        if ahead is not None and (tight or (ahead is not node and ahead in concerned)):
            self._take_back(ahead)
        elif tight:
            raise _UnclearError
        else:
            self.fill.grant(ask, ask.row.only)
        return True

    def _ahead(self, node: TreeNode, behind: TreeNode, key: tuple[Any, ...]) -> TreeNode | None:
        """The child that is furthest ahead of a sibling's next ask, if any is."""
        shares, share, turn = self.ledger.shares, key[0], key[1:]
        ahead = [child for child in node.children if shares[child.index] > share and child is not behind]
        if not ahead:
            equals = (child for child in node.children if shares[child.index] == share and child is not behind)
            ahead = [child for child in equals if self._turn(child) > turn]
        return self._furthest(ahead)

    def _furthest(self, nodes: list[TreeNode]) -> TreeNode | None:
        """The one of some siblings whose turn was last."""
        if len(nodes) < 2:
            return nodes[0] if nodes else None
        shares = self.ledger.shares
        most = max(shares[node.index] for node in nodes)
        nodes = [node for node in nodes if shares[node.index] == most]
        return nodes[0] if len(nodes) == 1 else max(nodes, key=self._turn)

    def _came_last(self, node: TreeNode) -> tuple[Any, ...]:
        """Where a node's last turn was, among its siblings'."""
        return (self.ledger.shares[node.index], *self._turn(node))

    def _turn(self, node: TreeNode) -> tuple[int, int]:
        """Between equal shares: the age of what a node was given last, and its name."""
        return (self._age(node), node.by_name)

    def _age(self, node: TreeNode) -> int:
        """Of what raised its share to what it is, and all after that: the youngest."""
        now = self.ledger.shares[node.index]
        if not node.is_queue:
            last = self._last(node)
            if last is None:
                return -1
            if self.ledger.share_without(node, last.placement.need) == now:
                raise _UnclearError
            return last.ask.created
        moves = self.fill.moves[node.index]
        as_of, age = self._ages.get(node, (-1, 0))
        if as_of != moves:
            age = self._age_of(node, now)
            self._ages[node] = (moves, age)
        return age

    def _age_of(self, node: TreeNode, now: int) -> int:
        run: list[Given] = []
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
            child = self._furthest([child for child in node.children if self.ledger.granted_anything(child)])
            last = None if child is None else self._last(child)
            self._lasts[node] = (changes, last)
        return last

    def _take_back(self, node: TreeNode) -> None:
        last = self._last(node)
        if last is None:
            raise _UnclearError
        self.fill.undo(last)

    def _is_tight(self, node: TreeNode) -> bool:
        return self.fill.line.is_tight(node)


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
    room at all."""
    return bool(queue.capped) or any(node.parent and node.bounds for node in queue.path)
