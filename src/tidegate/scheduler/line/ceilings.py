"""Ceilings: how large an ask may be and still fit, below every node.

A Queue stands in line with its first ask *that fits*, and an ask may stop fitting because of what others were granted.
Nobody goes round to tell: what still fits below a node is one amount per cell, its *ceiling*, the largest that somebody
asks for and for which there is room. It changes only when room falls below (or rises above) a size that is asked for,
so there are few of them, and what was found out below a node under one ceiling holds whenever that is the ceiling.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from operator import sub

from tidegate.scheduler.line.asks import Row
from tidegate.scheduler.tree.cells import Need
from tidegate.scheduler.tree.ledger import Ledger
from tidegate.scheduler.tree.node import NO_BOUND, TreeNode
from tidegate.scheduler.tree.tree import Tree

Ceiling = tuple[int, ...]
"""By axis."""


class Ceilings:
    """The sizes that are asked for, and which of them fit below a node."""

    def __init__(self, tree: Tree, ledger: Ledger) -> None:
        self._ledger = ledger
        width = len(tree.axes)
        self.none: Ceiling = (NO_BOUND,) * width
        """Where there is room for everybody, one at a time."""
        self._asked: list[dict[int, int]] = [{} for _ in range(width)]
        self._sizes: list[list[int]] = [[] for _ in range(width)]
        self._rows = 0
        self._choosy = 0
        """How many of them have a choice of flavors."""
        self.impatient = 0
        """How many of them are weighed without what they ask for."""
        self._asking = [0] * width
        """How many of the others ask for something of a cell."""
        self._least: Need | None = None
        self._judged: Ceiling | None = None
        self._shuts_out = False
        """Whether the ceiling that was last judged does."""
        nodes = [*tree.in_order, *filter(None, [tree.machines])]
        self._bounds = [_bounds(node) for node in nodes]
        self._lends_inside = [ledger.keeps and any(one.kept for one in node.below()) for node in nodes]
        self.bounded = [bool(bounds) for bounds in self._bounds]
        """By index of a node: whether it has bounds of its own."""
        self._machines = tree.machines

    def count(self, row: Row, times: int) -> None:
        """Somebody asks for this much (-1: nobody of this row does any more)."""
        self._rows += times
        self._choosy += times if row.only is None else 0
        self.impatient += times if row.kind.impatient else 0
        self._least = self._judged = None
        for axis, amount in row.shape.sizes:
            self._asking[axis] += times
            self._count(axis, amount, times)
        for axis, amount in row.shape.wholes:
            self._count(axis, amount, times)

    def _count(self, axis: int, amount: int, times: int) -> None:
        asked = self._asked[axis]
        rows = asked.get(amount, 0) + times
        if rows:
            if amount not in asked:
                insort(self._sizes[axis], amount)
            asked[amount] = rows
        else:
            del asked[amount]
            del self._sizes[axis][bisect_left(self._sizes[axis], amount)]

    def over(self, root: TreeNode) -> Ceiling:
        """What stands above a root."""
        shared = self._machines is not None and root.path[-1] is self._machines
        return self.at(self._machines, self.none) if shared and self._machines else self.none

    def at(self, node: TreeNode, above: Ceiling) -> Ceiling:
        """The ceiling below a node, given the one above it."""
        ceiling = above
        granted, plain = self._ledger.granted[node.index], self._ledger.all_is_free_or_granted
        for axis, most in self._bounds[node.index]:
            sizes = self._sizes[axis]
            free = most - granted[axis] if plain else self._free(node, axis, most)
            if sizes and free < sizes[-1]:
                ceiling = self._lowered(ceiling, axis, free)
        return ceiling

    def shuts_out(self, ceiling: Ceiling) -> bool:
        """Whether it is so low that nobody in line fits below it: of a cell that everybody asks for there is too little
        for the smallest."""
        if ceiling is not self._judged:
            cells = zip(ceiling, self._sizes, self._asking, strict=True)
            too_low = (asking == self._rows and sizes and most < sizes[0] for most, sizes, asking in cells)
            self._judged, self._shuts_out = ceiling, not self._choosy and any(too_low)
        return self._shuts_out

    def used_up(self, root: TreeNode) -> list[int]:
        """The axes that everybody in line asks for and of which too little is left below a root for the smallest,
        unless it is kept for them."""
        cells = enumerate(zip(self._sizes, self._asking, strict=True))
        asked = [(axis, sizes[0]) for axis, (sizes, asking) in cells if sizes and asking == self._rows]
        return [axis for axis, least in asked if not self._choosy and self._ledger.free(root, axis) < least]

    @property
    def least(self) -> Need:
        """What everybody in line would add to what is held at least; nothing where that cannot be told."""
        if self._least is None:
            asked = zip(self._sizes, self._asking, strict=True)
            told = self._rows and not (self._choosy or self.impatient)
            least = [(axis, sizes[0]) for axis, (sizes, asking) in enumerate(asked) if told and asking == self._rows]
            self._least = tuple(least)
        return self._least

    def whole(self, node: TreeNode) -> Ceiling:
        """The ceiling below a node if nobody held anything at it or above it."""
        ceiling = self.none
        for above in node.path:
            for axis, most in self._bounds[above.index]:
                sizes = self._sizes[axis]
                if sizes and most < sizes[-1]:
                    ceiling = self._lowered(ceiling, axis, most)
        return ceiling

    def inside(self, node: TreeNode) -> tuple[int, ...]:
        """By axis the largest size that somebody asks for and that is left of what a node is guaranteed."""
        return tuple(map(_largest, self._sizes, map(sub, node.guarantee, self._ledger.granted[node.index])))

    def _lowered(self, ceiling: Ceiling, axis: int, room: int) -> Ceiling:
        """With the largest size of a cell for which there is room."""
        largest = _largest(self._sizes[axis], room)
        return ceiling if largest >= ceiling[axis] else (*ceiling[:axis], largest, *ceiling[axis + 1 :])

    def is_tight(self, node: TreeNode) -> bool:
        """Whether there may not be room for everybody in line any more, one at a time, whom the node could hold at all.
        Who asks inside what it keeps for itself would have room even then."""
        granted, plain = self._ledger.granted[node.index], self._ledger.all_is_free_or_granted
        for axis, most in self._bounds[node.index]:
            sizes = self._sizes[axis]
            free = most - granted[axis]
            if sizes and not plain:
                free = min(max(0, free), self._ledger.free(node, axis))
            if sizes and free < sizes[-1] and bisect_right(sizes, most) > bisect_right(sizes, free):
                return True
        return False

    def _free(self, node: TreeNode, axis: int, most: int) -> int:
        left = most - self._ledger.granted[node.index][axis]
        if self._ledger.all_is_free_or_granted:
            return left
        if self._lends_inside[node.index]:
            # Who asks inside what it keeps for itself takes nothing new from here: that is seen when it is looked at.
            return max(0, left)
        return min(max(0, left), self._ledger.free(node, axis))


def _bounds(node: TreeNode) -> list[tuple[int, int]]:
    """What a node may hold, by axis. A Queue's limit over several flavors is no such bound."""
    bounds = {axis: most for axis, most in enumerate(node.most) if most != NO_BOUND}
    for axes, limit, _ in node.capped:
        if len(axes) == 1:
            bounds[axes[0]] = min(limit, bounds.get(axes[0], limit))
    return sorted(bounds.items())


def _largest(sizes: list[int], room: int) -> int:
    """The largest size for which there is room; 0 if there is for none."""
    fitting = bisect_right(sizes, room)
    return sizes[fitting - 1] if fitting else 0


def under(ceiling: Ceiling, need: Need) -> bool:
    """Whether a need is below a ceiling in every cell."""
    for axis, amount in need:  # noqa: SIM110 - this is asked thousands of times a cycle
        if amount > ceiling[axis]:
            return False
    return True
