"""What every node of the tree has given out, and whether more would fit.

Theory of operation. Four sums are kept per node and cell, all of them plain additions along the path to the root:

  granted   what workloads below hold.
  inner     what is taken from the node as its children see it: per child the larger of what it took itself and what it
            keeps for itself (`kept`). Without lendingLimits this is `granted`. A child that asks inside what it keeps
            takes nothing new from its parent.
  going     what pods use whose grant was taken back and who are still there.
  held      the part of `granted` that may not start before such pods are gone.

Room that is on its way out is not free, unless for the grants that were given for it. So beyond what is granted a
node has `going - held` (if above 0) that nobody may use yet; a grant that may wait (`held`) counts against it, one
that is to start now does not. `reserved` is room set aside for asks that lost patience; see `hold`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tidegate.scheduler.amounts import Cell, Cells, add
from tidegate.scheduler.tree import Tree, TreeNode


class Short(NamedTuple):
    """Where an ask does not fit, and by how much."""

    node: TreeNode
    cell: Cell
    """Flavor and resource; no flavor where a Queue's limit, which counts over all flavors, is what binds."""
    lacking: int


class Ledger:
    """Amounts in use below every node."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.granted: dict[str, Cells] = defaultdict(dict)
        self.going: dict[str, Cells] = defaultdict(dict)
        self.held: dict[str, Cells] = defaultdict(dict)
        self.reserved: dict[str, Cells] = defaultdict(dict)
        self._inner: dict[str, Cells] = defaultdict(dict)
        for root in tree.roots:
            self._keep(root)

    def _keep(self, node: TreeNode) -> Cells:
        """What a node keeps while nothing is granted, as its parent sees it."""
        inner = self._inner[node.name]
        for child in node.children:
            add(inner, self._keep(child))
        return {cell: max(inner.get(cell, 0), node.kept.get(cell, 0)) for cell in {*inner, *node.kept}}

    def grant(self, queue: TreeNode, cells: Mapping[Cell, int], times: int = 1) -> None:
        """Charge (or with -1, give back) along the path of a Queue."""
        rising = {cell: amount * times for cell, amount in cells.items()}
        for node in queue.path:
            add(self.granted[node.name], cells, times)
            inner, kept = self._inner[node.name], node.kept
            before = {cell: inner.get(cell, 0) for cell in rising}
            add(inner, rising)
            if kept:
                rising = {
                    cell: max(inner.get(cell, 0), kept.get(cell, 0)) - max(before[cell], kept.get(cell, 0))
                    for cell in rising
                }

    def hold(self, queue: TreeNode, cells: Mapping[Cell, int], times: int = 1) -> None:
        """Mark a part of what is granted as not to start yet (-1: as free to start)."""
        self._along(self.held, queue, cells, times)

    def go(self, queue: TreeNode, cells: Mapping[Cell, int], times: int = 1) -> None:
        """Pods without a grant that are still there (-1: gone)."""
        self._along(self.going, queue, cells, times)

    def reserve(self, node: TreeNode, cells: Mapping[Cell, int], times: int = 1) -> None:
        """Set room aside at one node."""
        add(self.reserved[node.name], cells, times)

    def free(self, node: TreeNode, cell: Cell, *, most: int) -> int:
        """What is left of a cell at a node, where that is less than `most`."""
        bound = node.bound(cell)
        if bound is None:
            return most
        taken = max(self.granted[node.name].get(cell, 0), self._inner[node.name].get(cell, 0))
        return min(most, max(0, bound - taken - self._unusable(node, cell, 0)))

    def _along(self, sums: dict[str, Cells], queue: TreeNode, cells: Mapping[Cell, int], times: int) -> None:
        for node in queue.path:
            add(sums[node.name], cells, times)

    def fits(self, queue: TreeNode, need: Mapping[Cell, int], *, held: bool = False) -> bool:
        """Whether all of it can be granted below this Queue now, or (`held`) once pods on their way out are gone."""
        return next(self.shortfalls(queue, need, held=held), None) is None

    def shortfalls(self, queue: TreeNode, need: Mapping[Cell, int], *, held: bool = False) -> Iterator[Short]:
        """Every place where it does not fit, nearest to the Queue first."""
        yield from self._over_limits(queue, need, held)
        rising: Mapping[Cell, int] = need
        for node in queue.path:
            granted, inner, kept = self.granted[node.name], self._inner[node.name], node.kept
            for cell, amount in need.items():
                most = node.bound(cell)
                if most is None:
                    continue
                rise = rising[cell]
                total = granted.get(cell, 0) + amount
                if rise > 0:
                    total = max(total, inner.get(cell, 0) + rise)
                lacking = total + self._unusable(node, cell, amount if held else 0) - most
                if lacking > 0:
                    yield Short(node, cell, lacking)
            if kept:
                rising = {
                    cell: max(inner.get(cell, 0) + rise, kept.get(cell, 0)) - max(inner.get(cell, 0), kept.get(cell, 0))
                    for cell, rise in rising.items()
                }

    def _over_limits(self, queue: TreeNode, need: Mapping[Cell, int], held: bool) -> Iterator[Short]:
        for resource, limit in queue.limits.items():
            asked = sum(amount for (_, name), amount in need.items() if name == resource)
            if not asked:
                continue
            cells = {*self.granted[queue.name], *self.going[queue.name], *need}
            total = asked + sum(
                self.granted[queue.name].get(cell, 0) + self._unusable(queue, cell, need.get(cell, 0) if held else 0)
                for cell in cells
                if cell[1] == resource
            )
            if total > limit:
                yield Short(queue, ("", resource), total - limit)

    def _unusable(self, node: TreeNode, cell: Cell, waiting: int) -> int:
        """Room that is neither granted nor free: still in use by pods that leave, or set aside."""
        going = self.going[node.name].get(cell, 0)
        leaving = max(0, going - self.held[node.name].get(cell, 0) - waiting) if going else 0
        return leaving + self.reserved[node.name].get(cell, 0)

    def really_free(self, queue: TreeNode, cells: Mapping[Cell, int]) -> bool:
        """Whether pods of held grants could start now: nothing that runs or leaves is in their way."""
        for node in queue.path:
            granted, held, going = self.granted[node.name], self.held[node.name], self.going[node.name]
            for cell, amount in cells.items():
                most = node.bound(cell)
                if most is not None and (granted.get(cell, 0) - held.get(cell, 0) + going.get(cell, 0) + amount > most):
                    return False
        return True

    def inside_guarantee(self, queue: TreeNode, need: Mapping[Cell, int]) -> bool:
        """Whether it stays within what is guaranteed to the nearest node that has a guarantee for it."""
        return all(self._guaranteed(queue, cell, amount) for cell, amount in need.items())

    def _guaranteed(self, queue: TreeNode, cell: Cell, amount: int) -> bool:
        for node in queue.path:
            if node.parent is not None and cell in node.guarantee:
                return self.granted[node.name].get(cell, 0) + amount <= node.guarantee[cell]
        return True
