"""What every node of the tree has given out, and whether more would fit.

Theory of operation. Four sums are kept per node and cell, all of them plain additions along the path to the root:

  granted   what workloads below hold.
  inner     what is taken from the node as its children see it: per child the larger of what it took itself and what it
            keeps for itself (`kept`). Without lendingLimits this is `granted`. A child that asks inside what it keeps
            takes nothing new from its parent.
  going     what pods use whose grant was taken back and who are still there.
  held      the part of `granted` that may not start before such pods are gone.

Room that is on its way out is not free, unless for the grants that were given for it. So beyond what is granted a
node has `going - held` (if above 0) that nobody may use yet who is to start now. `reserved` is room set aside for asks
that lost patience; see `room.hold`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import add, gt, sub
from typing import NamedTuple

from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.node import NO_BOUND, TreeNode
from tidegate.scheduler.tree.shares import Shares
from tidegate.scheduler.tree.tree import Tree


class Short(NamedTuple):
    """Where an ask does not fit, and by how much."""

    node: TreeNode
    axes: tuple[int, ...]
    """The cell that lacks; those of all flavors where a Queue's limit is what binds."""
    lacking: int
    limited: bool = False
    """Whether it is a Queue's limit, which counts over all flavors."""


class Ledger(Shares):
    """Amounts in use below every node."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        nodes, width = tree.size, len(tree.axes)
        self.keeps = any(node.kept for node in tree.in_order)
        self.inner = [[0] * width for _ in range(nodes)] if self.keeps else self.granted
        self.going = [[0] * width for _ in range(nodes)]
        self.fresh = [[0] * width for _ in range(nodes)]
        """The part of `going` whose grant was taken back in this very cycle."""
        self._freshened: set[TreeNode] = set()
        self.fresh_is_free = False
        self.held = [[0] * width for _ in range(nodes)]
        self.reserved = [[0] * width for _ in range(nodes)]
        self._none = [[0] * width] * nodes
        self._unusable_anywhere = 0
        """More than 0 while something is going or reserved: only then the sums above need looking at."""
        if self.keeps:
            # What is kept below one root is kept from others that read the same nodes, too.
            shared = tree.machines.children if tree.machines else []
            for top in filter(None, [tree.machines, *(root for root in tree.roots if root not in shared)]):
                self._keep(top)
        self._kept_idle = [inner.copy() for inner in self.inner] if self.keeps else self.inner

    def _keep(self, node: TreeNode) -> list[int]:
        """What a node keeps while nothing is granted, as its parent sees it."""
        inner = self.inner[node.index]
        for child in node.children:
            for axis, amount in enumerate(self._keep(child)):
                inner[axis] += amount
        return list(map(max, inner, node.kept)) if node.kept else inner

    def grant(self, queue: TreeNode, need: Need, times: int = 1) -> None:
        """Charge (or with -1, give back) along the path of a Queue."""
        if self.keeps:
            self._take_in(queue, need, times)
        self.charge(queue, need, times)

    def _take_in(self, queue: TreeNode, need: Need, times: int) -> None:
        rising = [(axis, amount * times) for axis, amount in need]
        for node in queue.path:
            inner, kept = self.inner[node.index], node.kept
            for place, (axis, rise) in enumerate(rising):
                before = inner[axis]
                inner[axis] = before + rise
                if kept:
                    rising[place] = (axis, max(before + rise, kept[axis]) - max(before, kept[axis]))

    def keeps_all(self, node: TreeNode, axes: Iterable[int]) -> bool:
        """Whether taking from a node would free nothing of these cells for others, since it keeps them for itself."""
        if not self.keeps or node.kept is None:
            return False
        return all(self.inner[node.index][axis] <= node.kept[axis] for axis in axes)

    def hold(self, queue: TreeNode, need: Need, times: int = 1) -> None:
        """Mark a part of what is granted as not to start yet (-1: as free to start)."""
        _along(self.held, queue, need, times)

    def go(self, queue: TreeNode, need: Need, times: int = 1, *, fresh: bool = False) -> None:
        """Pods without a grant that are still there (-1: gone)."""
        _along(self.going, queue, need, times)
        if fresh:
            _along(self.fresh, queue, need, times)
            self._freshened.add(queue)
        self._unusable_anywhere += sum(amount for _, amount in need) * times

    def reserve(self, node: TreeNode, need: Need, times: int = 1) -> None:
        """Set room aside at one node."""
        for axis, amount in need:
            self.reserved[node.index][axis] += amount * times
        self._unusable_anywhere += sum(amount for _, amount in need) * times

    @contextmanager
    def nothing_reserved(self) -> Iterator[None]:
        """As if no room were set aside."""
        reserved, self.reserved = self.reserved, self._none
        yield
        self.reserved = reserved

    def free(self, node: TreeNode, axis: int, *, held: bool = False) -> int:
        """What is left of a cell at a node, or (`held`) will be once pods on their way out are gone."""
        bound = node.most[axis]
        if bound == NO_BOUND:
            return bound
        taken = max(self.granted[node.index][axis], self.inner[node.index][axis])
        return max(0, bound - taken - self._unusable(node, axis, held=held))

    @property
    def all_is_free_or_granted(self) -> bool:
        """Whether nothing is kept, going or set aside anywhere."""
        return not (self.keeps or self._unusable_anywhere)

    def fits(self, queue: TreeNode, need: Need, *, held: bool = False) -> bool:
        """Whether all of it can be granted below this Queue now, or (`held`) once pods on their way out are gone."""
        if self.keeps or queue.capped:
            return next(self.shortfalls(queue, need, held=held), None) is None
        unusable = self._unusable_anywhere and self._unusable
        for node in queue.bounded:
            granted, most = self.granted[node.index], node.most
            for axis, amount in need:
                taken = granted[axis] + amount
                if taken > most[axis] or (unusable and taken + unusable(node, axis, held=held) > most[axis]):
                    return False
        return True

    def keeps_limits(self, queue: TreeNode, need: Need) -> bool:
        """Whether a Queue's own limits allow it, with the pods that are on their way out."""
        return next(self._over_limits(queue, need, held=False), None) is None

    def frees_enough(self, queue: TreeNode, need: Need) -> bool:
        """Whether it fits once those are gone from whom something was taken in this very cycle."""
        for node in queue.path:
            index = node.index
            for axis, amount in need:
                fresh = self.fresh[index][axis]
                before = self.going[index][axis] - fresh - max(0, self.held[index][axis] - fresh)
                taken = max(self.granted[index][axis], self.inner[index][axis]) + self.reserved[index][axis]
                if taken + max(0, before) + amount > node.most[axis]:
                    return False
        return True

    def give_what_is_fresh(self) -> bool:
        """What was taken back in this very cycle is as good as free from now on, for grants that wait until it is;
        False if nothing is left of it."""
        self.fresh_is_free = any(map(self._leaves_something, {node for one in self._freshened for node in one.path}))
        return self.fresh_is_free

    def _leaves_something(self, node: TreeNode) -> bool:
        """Whether of what is fresh something is left where there may not be more than so much."""
        rows = zip(*(some[node.index] for some in (self.fresh, self.going, self.held)), node.most, strict=True)
        return any(fresh and going > held and (node.capped or most != NO_BOUND) for fresh, going, held, most in rows)

    def is_free_now(self, queue: TreeNode, need: Need) -> bool:
        """Whether it fits without what is fresh."""
        if not self.fresh_is_free:
            return True
        self.fresh_is_free = False
        with self.nothing_reserved():
            fits = self.fits(queue, need)
        self.fresh_is_free = True
        return fits

    def nothing_is_fresh(self) -> None:
        """A cycle is over."""
        self.fresh_is_free = False
        for queue in self._freshened:
            for node in queue.path:
                self.fresh[node.index] = [0] * len(self.fresh[node.index])
        self._freshened.clear()

    def shortfalls(self, queue: TreeNode, need: Need, *, held: bool = False) -> Iterator[Short]:
        """Every place where it does not fit, nearest to the Queue first."""
        yield from self._over_limits(queue, need, held)
        rising = list(need)
        for node in queue.path if self.keeps else queue.bounded:
            granted, inner, kept, most = self.granted[node.index], self.inner[node.index], node.kept, node.most
            for (axis, amount), (_, rise) in zip(need, rising, strict=True):
                total = granted[axis] + amount
                if rise > 0:
                    total = max(total, inner[axis] + rise)
                lacking = total + self._unusable(node, axis, held=held) - most[axis]
                if lacking > 0:
                    yield Short(node, (axis,), lacking)
            if kept:
                rising = [
                    (axis, max(inner[axis] + rise, kept[axis]) - max(inner[axis], kept[axis])) for axis, rise in rising
                ]

    def _over_limits(self, queue: TreeNode, need: Need, held: bool) -> Iterator[Short]:
        asked = dict(need)
        for axes, limit, _ in queue.capped:
            if not any(axis in asked for axis in axes):
                continue
            total = 0
            for axis in axes:
                amount = asked.get(axis, 0)
                total += self.granted[queue.index][axis] + amount
                total += self._unusable(queue, axis, held=held)
            if total > limit:
                yield Short(queue, tuple(axes), total - limit, limited=True)

    def _unusable(self, node: TreeNode, axis: int, *, held: bool = False) -> int:
        """Room that is neither granted nor free: set aside, or still in use by pods that leave. For pods that may wait
        until those are gone (`held`) it is as good as free."""
        going = 0 if held else self.going[node.index][axis]
        leaving = 0
        if going:
            fresh = self.fresh[node.index][axis] if self.fresh_is_free else 0
            leaving = max(0, going - fresh - max(0, self.held[node.index][axis] - fresh))
        return leaving + self.reserved[node.index][axis]

    def really_free(self, queue: TreeNode, need: Need) -> bool:
        """Whether pods of held grants could start now: nothing that runs or leaves is in their way."""
        for node in queue.path:
            granted, held, going = self.granted[node.index], self.held[node.index], self.going[node.index]
            for axis, amount in need:
                if granted[axis] - held[axis] + going[axis] + amount > node.most[axis]:
                    return False
        asked, at = dict(need), queue.index
        there = map(sub, map(add, self.granted[at], self.going[at]), self.held[at]) if queue.capped else ()
        runs = [amount + asked.get(axis, 0) for axis, amount in enumerate(there)]
        return all(sum(runs[axis] for axis in axes) <= limit for axes, limit, _ in queue.capped)

    def inside_guarantee(self, queue: TreeNode, need: Need) -> bool:
        """Whether it stays within what is guaranteed to the nearest node that has a guarantee for it. A resource that
        nobody guarantees does not count; but where none is guaranteed, all of it is borrowed."""
        guards, inside = queue.guards, False
        for axis, amount in need:
            node = guards[axis]
            if node is not None:
                if self.granted[node.index][axis] + amount > node.guarantee[axis]:
                    return False
                inside = True
        return inside

    def crowding(self, queue: TreeNode) -> list[int]:
        """What is taken at a Queue and the nodes above it, cell by cell, with pods that leave and have no successor;
        those may be more than there is, where a node was lost and came back."""
        found: list[int] = []
        for at in (node.index for node in queue.path):
            leaving = (max(0, going - held) for going, held in zip(self.going[at], self.held[at], strict=True))
            found += map(sum, zip(map(max, self.granted[at], self.inner[at]), leaving, self.reserved[at], strict=True))
        return found

    def is_crowded(self, queue: TreeNode, before: Iterable[int]) -> bool:
        """Whether a Queue or a node above it holds more than it may, or more than it may is taken than `before`."""
        mosts = [most for node in queue.path for most in node.most]
        if any(now > max(most, was) for now, most, was in zip(self.crowding(queue), mosts, before, strict=True)):
            return True
        for node in queue.path:
            # What is kept can be more than there is: that alone crowds nobody.
            at, lent = node.index, map(max, node.most, self._kept_idle[node.index]) if self.keeps else node.most
            if any(map(gt, self.granted[at], node.most)) or any(map(gt, self.inner[at], lent)):
                return True
        return any(sum(self.granted[queue.index][axis] for axis in axes) > limit for axes, limit, _ in queue.capped)

    def excesses(self, node: TreeNode) -> list[Short]:
        """Where more is granted than a node may hold, or is lent out of what others keep for themselves."""
        granted = self.granted[node.index]
        if not (self.keeps or node.capped or any(map(gt, granted, node.most))):
            return []
        if self.keeps:
            # What is kept can be more than there is; then nobody can be asked for the difference.
            lent = zip(self.inner[node.index], self._kept_idle[node.index], node.most, strict=True)
            granted = [amount if amount > max(idle, most) else 0 for amount, idle, most in lent]
            granted = list(map(max, granted, self.granted[node.index]))
        over = [
            Short(node, (axis,), amount - node.most[axis])
            for axis, amount in enumerate(granted)
            if amount > node.most[axis]
        ]
        for axes, limit, _ in node.capped:
            held = sum(self.granted[node.index][axis] for axis in axes)
            if held > limit:
                over.append(Short(node, tuple(axes), held - limit, limited=True))
        return over


def _along(sums: list[list[int]], queue: TreeNode, need: Need, times: int) -> None:
    for node in queue.path:
        amounts = sums[node.index]
        for axis, amount in need:
            amounts[axis] += amount * times
