"""A ClusterQueue or a Queue in its place in the tree, with its bounds as numbers.

Three numbers per cell matter:

  guarantee  the node's nominalQuota; where it states none, the sum of its children's. Use beyond it is borrowed.
  most       guarantee + borrowingLimit; at a root its capacity. Without a borrowingLimit there is no bound but those
             of the nodes above.
  kept       guarantee - lendingLimit: what stays free for the node even while it is idle. Without a lendingLimit, 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import lcm
from operator import attrgetter

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, Ordering, Stop
from tidegate.scheduler.tree.cells import Axes, Cells

NO_BOUND = 1 << 200


class TreeNode:
    """Everything about a node that follows from configuration and nodes; what is in use is the ledger's."""

    __slots__ = (
        "axes",
        "bounded",
        "bounds",
        "by_name",
        "capacities",
        "capacity",
        "capped",
        "children",
        "contested",
        "flavors",
        "guarantee",
        "guarantees",
        "guards",
        "index",
        "is_queue",
        "keeps",
        "kept",
        "limits",
        "measure",
        "most",
        "name",
        "over_promised",
        "parent",
        "path",
        "patience",
        "root",
        "rules",
        "scale",
        "spec",
        "stop",
        "total_capacity",
        "unit",
        "weight",
    )

    def __init__(self, name: str, spec: ClusterQueueSpec | None, parent: TreeNode | None, weight: int) -> None:
        self.name = name
        self.spec = spec
        """None for a Queue."""
        self.is_queue = spec is None
        self.parent = parent
        self.weight = weight
        self.index = 0
        """Its place in the lists of a ledger."""
        self.by_name = 0
        """Its place among its siblings, by name."""
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
        """Give the node its place and its numbers, once all of the tree is known; parents come first. All of it is said
        here and not when it is first asked for: a cycle asks for it thousands of times."""
        self.index = index
        self.axes = axes
        self.guarantee = axes.vector(self.guarantees)
        self._look_for_guarantees()
        self.most = axes.vector(self.bounds, 0 if self.parent is None else NO_BOUND)
        self.kept = axes.vector(self.keeps) if self.keeps else None
        self.capacity = axes.vector(self.capacities)
        self.total_capacity = axes.same(axes.by_resource(self.capacity))
        """By resource, over all flavors."""
        self.capped = [
            (
                [axis for axis, cell in enumerate(axes.cells) if cell[1] == resource],
                axes.in_grains(resource, limit),
                resource,
            )
            for resource, limit in sorted(self.limits.items())
        ]
        """A Queue's limits: the axes that count together, and their most."""
        for place, child in enumerate(sorted(self.children, key=attrgetter("name"))):
            child.by_name = place
        self._measure()
        self._follow()

    def look_for_bounds(self) -> None:
        """Once the numbers of all nodes above are known."""
        self.bounded = [node for node in self.path if any(most != NO_BOUND for most in node.most)]
        """The nodes of its path that may not hold whatever there is: of thousands of Queues with none of their own they
        are the root alone."""

    def _look_for_guarantees(self) -> None:
        above = self.parent
        cells = zip(self.axes.cells, above.guards if above else [None] * len(self.axes), strict=True)
        self.guards: list[TreeNode | None] = [
            self if above and cell in self.guarantees else guard for cell, guard in cells
        ]
        """By axis the nearest node, from here up, that is guaranteed something of it."""
        over = above.over_promised if above else frozenset()
        self.contested = frozenset(axis for axis in over if self.guarantees and self.guarantee[axis])
        """The axes of its guarantee that others may be guaranteed as well: there it may hold more than it deserves and
        still be inside of it."""
        promised = [0] * len(self.axes)
        for child in self.children:
            for cell, amount in child.guarantees.items():
                axis = self.axes.number[cell]
                promised[axis] += amount // self.axes.grains[axis]
        own = {axis for axis, amount in enumerate(promised) if amount > self.guarantee[axis]}
        self.over_promised: frozenset[int] = over | own
        """The axes of which it, or a node above it, guarantees more to those below than it has itself."""

    def _measure(self) -> None:
        whole, grains = lcm(*(amount or 1 for amount in self.total_capacity)), self.axes.resource_grains
        self.unit = whole * lcm(*(child.weight for child in self.children))
        """The whole, in which the shares of this node's children are counted: with it all of them are integers."""
        there = list(zip(self.axes.resources, self.total_capacity, grains, strict=True))
        finest = lcm(*(amount * grain for _, amount, grain in there if amount))
        self.measure = {name: finest // (amount * grain) for name, amount, grain in there if amount}
        """By resource that is there: an amount of pods times this is a part of all the node could hold, for comparing
        workloads in it. What is not there counts for nothing, whether somebody held it once or not."""
        above = self.parent
        self.scale = self.axes.same(
            [
                # Use of something of which there is no more (a lost node) outweighs everything, yet stays a number.
                above.unit // (amount * self.weight) if amount else above.unit * grain // self.weight
                for amount, grain in zip(above.total_capacity, grains, strict=True)
            ]
            if above
            else [0] * len(grains)
        )
        """By resource: an excess times this is the node's share, in the units of its parent."""

    def _follow(self) -> None:
        above = self.parent
        self.root: TreeNode = above.root if above else self
        """The top of its tree."""
        if self.spec is not None:
            self.rules = self.spec
        else:
            assert above is not None
            self.rules = above.rules
        """The spec of the ClusterQueue that this node is, or that it is a door of."""
        strict = self.rules.ordering is Ordering.STRICT
        self.patience = None if strict else self.rules.patience.seconds
        """After how many seconds room is held for an ask; None where nobody passes anybody anyway."""
        stops = {node.spec.stop for node in self.path if node.spec is not None}
        self.stop = next((stop for stop in (Stop.HOLD_AND_DRAIN, Stop.HOLD) if stop in stops), Stop.NONE)
        """The strictest of its own stop and those above."""

    def below(self) -> Iterator[TreeNode]:
        """This node and all under it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()

    def meets(self, other: TreeNode) -> tuple[TreeNode, ...]:
        """The nodes of this path below the lowest node that is on the other's path too, this node first."""
        theirs = other.path
        return tuple([node for node in self.path if node not in theirs])
