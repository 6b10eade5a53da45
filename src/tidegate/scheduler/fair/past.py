"""Past: what was given last below a node, and where its turns have got to among its siblings'.

Theory of operation. The order in which turns were taken is not kept; it follows from what was given. A node is served
in an order of its own, so once it has had its last turn it has had its *latest* too: the one that its policy puts
behind all the others. Between siblings that latest turn says whose came after whose:

  drf       a share never falls, so it is the turn of the share as it is; of those who left it so, of the youngest
  fifo      the turn of the youngest
  priority  the turn of the lowest priority, and of those, of the largest share: in a Queue that is the last one, below
            a ClusterQueue one goes back to it from the last

What is inside a guarantee comes before all that is not. Where this matters nobody has one (`can_be_mended`): then only
those who ask for nothing stay inside.

To go back is to look at the same node without what was given last, and then without that. It is done for a few steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidegate.scheduler.fair.fill import Fill, Given
from tidegate.scheduler.policies import DRF, ByPriority, Drf, Fifo, Policies
from tidegate.scheduler.tree.cells import total
from tidegate.scheduler.tree.node import NO_BOUND, TreeNode
from tidegate.scheduler.tree.tree import Tree

_NEVER = -NO_BOUND
_LONGEST_WAY = 16
"""Further back than this one does not go."""

Turn = tuple[Any, int, int]
"""Where a child stands among its siblings with one of its asks: what its policy says, the ask's age, its own name."""
Late = Mapping[TreeNode, Sequence[Given]]


class UnclearError(Exception):
    """What came last cannot be told from what is kept."""


def orders(tree: Tree, policies: Policies) -> list[type]:
    """By index of a node: in which order its children are served."""
    return [type(policies.get(node.rules.policy) or policies[DRF]) for node in tree.in_order]


class _Seen:
    """What was found out of a node, as of how many changes there."""

    __slots__ = ("age", "changes", "has_last", "last", "lowest", "turn", "youngest")

    def __init__(self, changes: int) -> None:
        self.changes = changes
        self.has_last = False
        self.last: Given | None = None
        self.age: int | None = None
        self.turn: Turn | None = None
        self.youngest: int | None = None
        self.lowest: int | None = None


class Past:
    """What was given, in the order in which turns were taken."""

    def __init__(self, fill: Fill, by: Sequence[type], late: Late, now: Past | None = None) -> None:
        """`late`: what was given below some nodes where it does not follow from turns, in order. `now`: the past as it
        is, of which this is to leave something out."""
        self.fill = fill
        self.ledger = fill.ledger
        self._by = by
        self._late = late
        self._now = now or self
        self._gone: dict[TreeNode, list[Given]] = {}
        """What is left out, by each of the nodes above it."""
        self._seen: dict[TreeNode, _Seen] = {}

    def last(self, node: TreeNode) -> Given | None:
        """What was given last below a node."""
        gone = len(self._gone.get(node, ()))
        if node.is_queue:
            given_in = self.fill.given_in[node.index]
            return given_in[-1 - gone] if len(given_in) > gone else None
        late = self._late.get(node, ())
        if len(late) > gone:
            return late[-1 - gone]
        seen = self._look(node)
        if not seen.has_last:
            child = self._child_served_last(node)
            seen.has_last, seen.last = True, None if child is None else self.last(child)
        return seen.last

    def _child_served_last(self, node: TreeNode) -> TreeNode | None:
        given = node.children
        if self._by[node.index] is Drf:
            most, given = self.with_most(node)
            if most:  # Who has a share was given something; where nobody has, some may be inside their guarantees.
                return self.latest(given)
        return self.latest([child for child in given if self.last(child) is not None])

    def latest(self, siblings: Sequence[TreeNode]) -> TreeNode | None:
        """Of some children of a node, in the order of drf with equal shares: whose turn was last."""
        return max(siblings, key=self.turn, default=None) if len(siblings) != 1 else siblings[0]

    def with_most(self, node: TreeNode) -> tuple[int, list[TreeNode]]:
        """The largest share of a node's children, and which of them have it."""
        shares, as_it_is = self.ledger.shares, node not in self._gone
        most, found = 0, list[TreeNode]()
        for child in node.children:
            share = shares[child.index] if as_it_is else self._share(child)
            if share > most:
                most, found = share, [child]
            elif share == most:
                found.append(child)
        return most, found

    def turn(self, node: TreeNode) -> Turn:
        """The latest turn that a node had, among its siblings'."""
        seen = self._look(node)
        if seen.turn is None:
            seen.turn = self._turn(node)
        return seen.turn

    def _turn(self, node: TreeNode) -> Turn:
        assert node.parent is not None
        by, share = self._by[node.parent.index], self._share(node)
        if by is Fifo:
            age = self._youngest(node)
            return ((share > 0, age), age, node.by_name)
        if by is ByPriority:
            lowest = self._lowest(node)
            share, age = self._rise(node, lowest)
            return ((share > 0, -lowest, share), age, node.by_name)
        return (share, self.age(node), node.by_name)

    def age(self, node: TreeNode) -> int:
        """Of what raised a node's share to what it is, and all after that: the youngest."""
        seen = self._look(node)
        if seen.age is None:
            _, seen.age = self._rise(node, None)
        return seen.age

    def _rise(self, node: TreeNode, priority: int | None) -> tuple[int, int]:
        """To which share the last of this priority (or of any) raised a node, and the youngest who left it so."""
        share, age, after = -1, _NEVER, self._share(node)
        way: list[Given] = []
        for given in self._back(node):
            if priority is None or given.ask.kind.priority == priority:
                share, age = after, max(age, given.ask.created)
            if len(way) == _LONGEST_WAY:
                raise UnclearError
            way.append(given)
            after = self._share_without(node, way)
            if after < share:  # Before it is asked who came before: that takes long to say.
                break
        return max(0, share), age

    def _youngest(self, node: TreeNode) -> int:
        """Of those who are not inside a guarantee, or if all are, of all."""
        seen = self._look(node)
        if seen.youngest is None:
            inside = not self._share(node)
            if node.is_queue:
                seen.youngest = self._youngest_in(node, inside)
            else:
                counted = [child for child in node.children if inside or self._share(child)]
                seen.youngest = max(map(self._youngest, counted), default=_NEVER)
        return seen.youngest

    def _youngest_in(self, queue: TreeNode, inside: bool) -> int:
        given_in, ages = self.fill.given_in[queue.index], self.fill.ages[queue.index]
        left = len(given_in) - len(self._gone.get(queue, ()))
        if left == len(ages) and ages and (inside or given_in[0].placement.need):
            return ages[-1]
        first = 0
        while not inside and first < left and not given_in[first].placement.need:
            first += 1
        return max((given.ask.created for given in given_in[first:left]), default=_NEVER)

    def _lowest(self, node: TreeNode) -> int:
        """The lowest priority of those who are not inside a guarantee, or if all are, of all."""
        seen = self._look(node)
        if seen.lowest is None:
            if node.is_queue:
                last = self.last(node)
                seen.lowest = NO_BOUND if last is None else last.ask.kind.priority
            else:
                inside = not self._share(node)
                counted = [child for child in node.children if inside or self._share(child)]
                seen.lowest = min(map(self._lowest, counted), default=NO_BOUND)
        return seen.lowest

    def _back(self, node: TreeNode) -> Iterator[Given]:
        """What was given below a node, the last first."""
        if node.is_queue:
            given_in = self.fill.given_in[node.index]
            for at in range(len(given_in) - len(self._gone.get(node, ())) - 1, -1, -1):
                yield given_in[at]
            return
        last = self.last(node)
        if last is None:
            return
        yield last
        earlier = Past(self.fill, self._by, self._late, self._now)
        earlier._gone = {one: [*given] for one, given in self._gone.items()}
        while last is not None:
            for one in last.queue.path:
                earlier._gone.setdefault(one, []).append(last)
            last = earlier.last(node)
            if last is not None:
                yield last

    def _share(self, node: TreeNode) -> int:
        return self._share_without(node, ()) if node in self._gone else self.ledger.shares[node.index]

    def _share_without(self, node: TreeNode, way: Sequence[Given]) -> int:
        gone = (*self._gone.get(node, ()), *way)
        return self.ledger.share_without(node, total(given.placement.need for given in gone))

    def _look(self, node: TreeNode) -> _Seen:
        gone = self._gone.get(node)
        if gone is None and self._now is not self:
            return self._now._look(node)
        if gone is not None:
            changes = len(gone)
        else:
            changes = self.fill.moves[node.index] if node.is_queue else self.fill.line.changes_below(node)
        seen = self._seen.get(node)
        if seen is None or seen.changes != changes:
            seen = self._seen[node] = _Seen(changes)
        return seen
