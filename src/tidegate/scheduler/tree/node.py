"""A ClusterQueue or a Queue in its place in the tree, with its bounds as numbers.

Three numbers per cell matter:

  guarantee  the node's nominalQuota; where it states none, the sum of its children's. Use beyond it is borrowed.
  most       guarantee + borrowingLimit; at a root its capacity. Without a borrowingLimit there is no bound but those
             of the nodes above.
  kept       guarantee - lendingLimit: what stays free for the node even while it is idle. Without a lendingLimit, 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import lcm

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, Ordering, Stop
from tidegate.scheduler.tree.cells import Axes, Cells

NO_BOUND = 1 << 200


class TreeNode:
    """Everything about a node that follows from configuration and nodes; what is in use is the ledger's."""

    def __init__(self, name: str, spec: ClusterQueueSpec | None, parent: TreeNode | None, weight: int) -> None:
        self.name = name
        self.spec = spec
        """None for a Queue."""
        self.is_queue = spec is None
        self.parent = parent
        self.weight = weight
        self.index = 0
        """Its place in the lists of a ledger."""
        self.children: list[TreeNode] = []
        self.path: tuple[TreeNode, ...] = (self, *parent.path) if parent else (self,)
        """From this node up to its root; above that only what several roots share."""
        self.guarantees: Cells = {}
        self.bounds: Cells = {}
        self.keeps: Cells = {}
        self.capacities: Cells = {}
        """The most it could hold if all above it were its own."""
        self.limits: Mapping[str, int] = {}
        """Of a Queue: hard caps by resource, over all flavors."""
        self.flavors: tuple[str, ...] = parent.flavors if parent else ()
        if parent:
            parent.children.append(self)

    def enumerate(self, index: int, axes: Axes) -> None:
        """Give the node its place and its numbers, once all of the tree is known; parents come first."""
        self.index = index
        self.axes = axes
        self.guarantee = axes.vector(self.guarantees)
        above = self.parent.guards if self.parent else [None] * len(axes)
        guards = [
            self if self.parent and cell in self.guarantees else guard
            for cell, guard in zip(axes.cells, above, strict=True)
        ]
        self.guards: list[TreeNode | None] = guards
        """By axis the nearest node, from here up, that is guaranteed something of it."""
        self.most = axes.vector(self.bounds, 0 if self.parent is None else NO_BOUND)
        self.kept = axes.vector(self.keeps) if self.keeps else None
        self.capacity = axes.vector(self.capacities)
        self.capped = [
            ([axis for axis, cell in enumerate(axes.cells) if cell[1] == resource], limit, resource)
            for resource, limit in sorted(self.limits.items())
        ]
        """A Queue's limits: the axes that count together, and their most."""

    @cached_property
    def root(self) -> TreeNode:
        """The top of its tree."""
        return self.parent.root if self.parent else self

    @cached_property
    def rules(self) -> ClusterQueueSpec:
        """The spec of the ClusterQueue that this node is, or that it is a door of."""
        if self.spec is not None:
            return self.spec
        assert self.parent is not None
        return self.parent.rules

    @cached_property
    def patience(self) -> int | None:
        """After how many seconds room is held for an ask; None where nobody passes anybody anyway."""
        return None if self.rules.ordering is Ordering.STRICT else self.rules.patience.seconds

    @cached_property
    def stop(self) -> Stop:
        """The strictest of its own stop and those above."""
        stops = {node.spec.stop for node in self.path if node.spec is not None}
        return next((stop for stop in (Stop.HOLD_AND_DRAIN, Stop.HOLD) if stop in stops), Stop.NONE)

    @cached_property
    def total_capacity(self) -> list[int]:
        """By resource, over all flavors."""
        return self.axes.by_resource(self.capacity)

    @cached_property
    def over_promised(self) -> frozenset[int]:
        """The axes of which it, or a node above it, guarantees more to those below than it has itself."""
        if not self.children:
            return frozenset()
        promised = [sum(child.guarantee[axis] for child in self.children) for axis in range(len(self.guarantee))]
        over = {axis for axis, amount in enumerate(promised) if amount > self.guarantee[axis]}
        return self.parent.over_promised | over if self.parent else frozenset(over)

    @cached_property
    def contested(self) -> frozenset[int]:
        """The axes of its guarantee that others may be guaranteed as well: there it may hold more than it deserves and
        still be inside of it."""
        over = self.parent.over_promised if self.parent and self.guarantees else frozenset()
        return frozenset(axis for axis in over if self.guarantee[axis])

    @cached_property
    def unit(self) -> int:
        """The whole, in which the shares of this node's children are counted: with it all of them are integers."""
        # Use of something of which there is no more (a lost node) outweighs everything, yet stays a number.
        wholes = lcm(*(amount or 1 for amount in self.total_capacity))
        return wholes * lcm(*(child.weight for child in self.children))

    @cached_property
    def scale(self) -> list[int]:
        """By resource: an excess times this is the node's share, in the units of its parent."""
        if self.parent is None:
            return [0] * len(self.axes.resources)
        unit = self.parent.unit
        return [unit // ((amount or 1) * self.weight) for amount in self.parent.total_capacity]

    @cached_property
    def measure(self) -> dict[str, int]:
        """By resource: an amount times this is a part of all this node could hold, for comparing workloads in it."""
        whole = lcm(*(amount or 1 for amount in self.total_capacity))
        return {
            name: whole // (amount or 1) for name, amount in zip(self.axes.resources, self.total_capacity, strict=True)
        }

    def below(self) -> Iterator[TreeNode]:
        """This node and all under it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    def meets(self, other: TreeNode) -> tuple[TreeNode, ...]:
        """The nodes of this path below the lowest node that is on the other's path too, this node first."""
        theirs = other.path
        return tuple([node for node in self.path if node not in theirs])
