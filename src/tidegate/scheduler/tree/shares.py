"""What every node of the tree was granted, and how large its share is.

A share is how much more than its guarantee a node holds, as a part of what its parent could hold:

    share(node) = max over resources r of   excess_r / (capacity of the parent)_r / weight
    excess_r    = sum over flavors f of     max(0, granted_rf - guarantee_rf)

Inside the guarantee the share is 0; without guarantees it is the dominant share of DRF. The excess is counted flavor by
flavor: an idle guarantee of slow machines does not make borrowed fast ones free of charge. A node is compared with its
siblings only, so shares are kept as integers: in parts of their parent's `unit`, of which all of them are multiples.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import mul

from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import TreeNode
from tidegate.scheduler.tree.tree import Tree

_Step = tuple[int, list[int], list[int], list[int]]
"""Of one node: its index, what is granted, what is guaranteed, what shares are counted in."""


class Shares:
    """Amounts that were granted below every node, and its share."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        nodes, width = tree.size, len(tree.axes)
        self.granted = [[0] * width for _ in range(nodes)]
        self.shares = [0] * nodes
        self._one_flavor = width == len(tree.axes.resources)
        """Then an axis is a resource, and what is borrowed of it is known from what is granted."""
        self._excess = [] if self._one_flavor else [[0] * len(tree.axes.resources) for _ in range(nodes)]
        self._step: list[_Step] = [
            (node.index, self.granted[node.index], node.guarantee, node.scale) for node in tree.in_order
        ]
        """What is looked at of a node, at hand."""
        self._steps = [[self._step[one.index] for one in node.path if one.parent] for node in tree.in_order]
        """Of the nodes that have siblings, in every grant to a Queue;"""
        self._tops = [[self.granted[one.index] for one in node.path if not one.parent] for node in tree.in_order]
        """those of the others have no share, and are summed up alone."""
        self._news: set[TreeNode] = set()

    def charge(self, queue: TreeNode, need: Need, times: int) -> None:
        """So many times more (or fewer) is granted along the path of a Queue."""
        self._news.add(queue)
        if times != 1:
            need = tuple([(axis, amount * times) for axis, amount in need])
        for granted in self._tops[queue.index]:
            for axis, amount in need:
                granted[axis] += amount
        if not self._one_flavor:
            self._charge_several(queue, need, times)
            return
        shares = self.shares
        for index, granted, guarantee, scale in self._steps[queue.index]:
            share = shares[index]
            for axis, amount in need:
                granted[axis] = after = granted[axis] + amount
                part = (after - guarantee[axis]) * scale[axis]
                if part > share:  # noqa: PLR1730 - this is done thousands of times a cycle
                    share = part
            # What is added can only raise a share: nothing but what is added is looked at.
            shares[index] = share if times > 0 else _share_of(granted, guarantee, scale)

    def _charge_several(self, queue: TreeNode, need: Need, times: int) -> None:
        resource, shares = self.tree.axes.resource, self.shares
        for index, granted, guarantee, scale in self._steps[queue.index]:
            excess, share = self._excess[index], shares[index]
            for axis, amount in need:
                before = granted[axis]
                after = granted[axis] = before + amount
                free, place = guarantee[axis], resource[axis]
                if after > free:
                    excess[place] = more = excess[place] + after - (before if before > free else free)
                    part = more * scale[place]
                    if part > share:  # noqa: PLR1730 - this is done thousands of times a cycle
                        share = part
                elif before > free:
                    excess[place] -= before - free
            shares[index] = share if times > 0 else _largest(excess, scale)

    def note(self, queues: Iterable[TreeNode]) -> None:
        """These are news."""
        self._news.update(queues)

    def news(self) -> set[TreeNode]:
        """The Queues that were granted something, or gave something back, since this was last asked."""
        news, self._news = self._news, set()
        return news

    def share(self, node: TreeNode) -> Fraction:
        """A node's share as people see it."""
        return Fraction(self.shares[node.index], node.parent.unit) if node.parent else Fraction(0)

    def share_with(self, node: TreeNode, need: Need) -> int:
        """A node's share if it held this besides."""
        index, granted, guarantee, scale = self._step[node.index]
        most = self.shares[index]
        if self._one_flavor:
            for axis, amount in need:
                part = (granted[axis] + amount - guarantee[axis]) * scale[axis]
                if part > most:  # noqa: PLR1730 - this is asked thousands of times a cycle
                    most = part
            return most
        excess, resource = self._excess[index], self.tree.axes.resource
        total: dict[int, int] = {}
        for axis, amount in need:
            over = granted[axis] + amount - guarantee[axis]
            if over > 0:
                place = resource[axis]
                total[place] = total.get(place, excess[place]) + (amount if over > amount else over)
        for place, amount in total.items():
            share = amount * scale[place]
            most = max(most, share)
        return most

    def share_without(self, node: TreeNode, need: Need) -> int:
        """A node's share if it held this less."""
        granted, guarantee = self.granted[node.index], node.guarantee
        if self._one_flavor:
            left = granted.copy()
            for axis, amount in need:
                left[axis] -= amount
            return _share_of(left, guarantee, node.scale)
        excess = self._excess[node.index].copy()
        for axis, amount in need:
            over = granted[axis] - guarantee[axis]
            if over > 0:
                excess[self.tree.axes.resource[axis]] -= min(amount, over)
        return _largest(excess, node.scale)

    def granted_anything(self, node: TreeNode) -> bool:
        """Whether anybody below a node holds something that counts."""
        return any(self.granted[node.index])


def _share_of(granted: list[int], guarantee: list[int], scale: list[int]) -> int:
    """Of who holds this much, where an axis is a resource."""
    share = 0
    for axis, amount in enumerate(granted):
        part = (amount - guarantee[axis]) * scale[axis]
        if part > share:  # noqa: PLR1730 - this is done thousands of times a cycle
            share = part
    return share


def _largest(excess: list[int], scale: list[int]) -> int:
    """The share of who borrows this much."""
    return max(0, max(map(mul, excess, scale), default=0))
