"""The quota tree: who stands below whom, what each node is guaranteed, may hold at most, and keeps for itself.

All of it follows from configuration and nodes; what is in use is the ledger's. Three numbers per cell matter:

  guarantee  the node's nominalQuota; where it states none, the sum of its children's. Use beyond it is borrowed.
  most       guarantee + borrowingLimit; at a root its capacity. Without a borrowingLimit there is no bound but those
             of the nodes above.
  kept       guarantee - lendingLimit: what stays free for the node even while it is idle. Without a lendingLimit, 0.

A ClusterQueue that names flavors in its quotas uses those alone, in its order; one that names none uses its parent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, ResourceQuota, Stop
from tidegate.model.kinds.queue import ROOT, QueueSpec
from tidegate.scheduler.amounts import Cell, Cells, over_flavors
from tidegate.scheduler.flavors import Flavors
from tidegate.scheduler.snapshot import Snapshot


class TreeNode:
    """A ClusterQueue or a Queue in its place."""

    __slots__ = (
        "capacity",
        "children",
        "flavors",
        "guarantee",
        "kept",
        "limits",
        "most",
        "name",
        "parent",
        "path",
        "spec",
        "total_capacity",
        "weight",
    )

    def __init__(self, name: str, spec: ClusterQueueSpec | None, parent: TreeNode | None, weight: int) -> None:
        self.name = name
        self.spec = spec
        """None for a Queue."""
        self.parent = parent
        self.weight = weight
        self.children: list[TreeNode] = []
        self.path: tuple[TreeNode, ...] = (self, *parent.path) if parent else (self,)
        """From this node up to its root."""
        self.guarantee: Cells = {}
        self.most: Cells = {}
        self.kept: Cells = {}
        self.limits: Mapping[str, int] = {}
        """Of a Queue: hard caps by resource, over all flavors."""
        self.flavors: tuple[str, ...] = parent.flavors if parent else ()
        self.capacity: Cells = {}
        """The most it could hold if all above it were its own."""
        self.total_capacity: dict[str, int] = {}
        if parent:
            parent.children.append(self)

    @property
    def is_queue(self) -> bool:
        return self.spec is None

    @property
    def rules(self) -> ClusterQueueSpec:
        """The spec of the ClusterQueue that this node is, or that it is a door of."""
        if self.spec is not None:
            return self.spec
        assert self.parent is not None
        return self.parent.rules

    @property
    def stop(self) -> Stop:
        """The strictest of its own stop and those above."""
        stops = {node.spec.stop for node in self.path if node.spec is not None}
        return next((stop for stop in (Stop.HOLD_AND_DRAIN, Stop.HOLD) if stop in stops), Stop.NONE)

    def bound(self, cell: Cell) -> int | None:
        """How much of a cell it may hold at most; None: as much as the nodes above."""
        return self.most.get(cell) if self.parent else self.most.get(cell, 0)

    def below(self) -> Iterator[TreeNode]:
        """This node and all under it, parents first."""
        yield self
        for child in self.children:
            yield from child.below()


class Tree:
    """All nodes by name: ClusterQueues by theirs, Queues by namespace/name."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.flavors = Flavors(snapshot)
        self.nodes: dict[str, TreeNode] = {}
        self.roots: list[TreeNode] = []
        specs = {ROOT: ClusterQueueSpec(), **snapshot.cluster_queues}
        children: dict[str | None, list[str]] = {}
        for name in sorted(specs):
            children.setdefault(specs[name].parent, []).append(name)
        queues: dict[str, list[str]] = {}
        for name in sorted(snapshot.queues):
            queues.setdefault(snapshot.queues[name].cluster_queue, []).append(name)
        for name in children.get(None, ()):
            self.roots.append(self._grow(name, None, specs, children))
        for cluster_queue, names in queues.items():
            # What hangs on a parent that is missing, or on itself, is in no tree; its workloads have no queue.
            if cluster_queue in self.nodes:
                for name in names:
                    self._open(name, snapshot.queues[name], self.nodes[cluster_queue])
        for root in self.roots:
            _sum_guarantees(root)
            self._size(root)

    def _grow(
        self,
        name: str,
        parent: TreeNode | None,
        specs: Mapping[str, ClusterQueueSpec],
        children: Mapping[str | None, list[str]],
    ) -> TreeNode:
        spec = specs[name]
        node = self.nodes[name] = TreeNode(name, spec, parent, spec.weight)
        named = tuple(quotas.flavor for quotas in spec.quotas)
        if parent is None:
            node.flavors = named
        elif named:
            node.flavors = tuple(flavor for flavor in named if not parent.flavors or flavor in parent.flavors)
        for child in children.get(name, ()):
            self._grow(child, node, specs, children)
        return node

    def _open(self, name: str, spec: QueueSpec, parent: TreeNode) -> None:
        node = self.nodes[name] = TreeNode(name, None, parent, spec.weight)
        node.limits = {resource: limit.nano for resource, limit in spec.limits.items()}

    def _size(self, root: TreeNode) -> None:
        """Capacity from the root down, and who uses which flavors."""
        assert root.spec is not None
        named = {flavor for node in root.below() if node.spec for flavor in (q.flavor for q in node.spec.quotas)}
        root.flavors = root.flavors or tuple(sorted(named | self.flavors.specs.keys()))
        stated = {cell: quota.nominal_quota.nano for cell, quota in _quotas(root.spec)}
        if self.flavors.has_nodes:
            found = dict(chain.from_iterable(self.flavors.capacity(flavor).items() for flavor in root.flavors))
        else:
            found = {cell: amount for cell, amount in root.guarantee.items() if cell[0] in root.flavors}
        root.guarantee = root.most = root.capacity = {**found, **stated}
        root.kept = {}
        root.total_capacity = over_flavors(root.capacity)
        for node in root.below():
            if node.parent is not None:
                node.flavors = node.flavors if node.spec and node.spec.quotas else node.parent.flavors
                bounds = node.parent.capacity
                node.capacity = {cell: min(amount, node.most.get(cell, amount)) for cell, amount in bounds.items()}
                node.total_capacity = over_flavors(node.capacity)


def _sum_guarantees(node: TreeNode) -> None:
    """Guarantees from the leaves up; `most` and `kept` follow from what the node states itself."""
    for child in node.children:
        _sum_guarantees(child)
        for cell, amount in child.guarantee.items():
            node.guarantee[cell] = node.guarantee.get(cell, 0) + amount
    for cell, quota in _quotas(node.spec) if node.spec else ():
        guarantee = node.guarantee[cell] = quota.nominal_quota.nano
        if quota.borrowing_limit is not None:
            node.most[cell] = guarantee + quota.borrowing_limit.nano
        if quota.lending_limit is not None:
            node.kept[cell] = max(0, guarantee - quota.lending_limit.nano)


def _quotas(spec: ClusterQueueSpec) -> Iterator[tuple[Cell, ResourceQuota]]:
    for quotas in spec.quotas:
        for resource, quota in quotas.resources.items():
            yield (quotas.flavor, resource), quota
