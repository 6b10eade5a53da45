"""The quota tree: who stands below whom, and what each node is guaranteed, may hold at most, and keeps for itself.

A ClusterQueue that names flavors in its quotas uses those alone, in its order, and may hold nothing of others; one that
names none uses its parent's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec, ResourceQuota
from tidegate.model.kinds.queue import ROOT, QueueSpec
from tidegate.model.resources import Resources
from tidegate.scheduler.snapshot import Snapshot
from tidegate.scheduler.tree.cells import Axes, Cell, grain
from tidegate.scheduler.tree.flavors import Flavors
from tidegate.scheduler.tree.node import NO_BOUND, TreeNode


class Tree:
    """All nodes by name: ClusterQueues by theirs, Queues by namespace/name."""

    def __init__(
        self, snapshot: Snapshot, more_cells: Collection[Cell] = (), requests: Iterable[Resources] = ()
    ) -> None:
        """`more_cells`: those that somebody holds, whatever the tree says. `requests`: what single pods ask for."""
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
        self.machines = self._machines()
        """Above roots that read the same capacity from the nodes, so that they cannot both use it; otherwise no node of
        the tree. None where there are no such roots."""
        self._enumerate(more_cells, self._grains(snapshot, requests, more_cells))

    def _grow(
        self,
        name: str,
        parent: TreeNode | None,
        specs: Mapping[str, ClusterQueueSpec],
        children: Mapping[str | None, list[str]],
    ) -> TreeNode:
        spec = specs[name]
        node = self.nodes[name] = TreeNode(name, spec, parent, spec.weight)
        for child in children.get(name, ()):
            self._grow(child, node, specs, children)
        return node

    def _open(self, name: str, spec: QueueSpec, parent: TreeNode) -> None:
        node = self.nodes[name] = TreeNode(name, None, parent, spec.weight)
        node.limits = {resource: limit.nano for resource, limit in spec.limits.items()}

    def _size(self, root: TreeNode) -> None:
        """Capacity from the root down, and who uses which flavors."""
        assert root.spec is not None
        named = {flavor for node in root.below() for flavor in _named(node)}
        root.flavors = _named(root) or tuple(sorted(named | self.flavors.specs.keys()))
        stated = {cell: quota.nominal_quota.nano for cell, quota in _quotas(root.spec)}
        if self.flavors.has_nodes:
            found = dict(chain.from_iterable(self.flavors.capacity(flavor).items() for flavor in root.flavors))
        else:
            found = {cell: amount for cell, amount in root.guarantees.items() if cell[0] in root.flavors}
        root.guarantees = root.bounds = root.capacities = {**found, **stated}
        root.keeps = {}
        for node in root.below():
            if node.parent is not None:
                own = _named(node)
                node.flavors = tuple(flavor for flavor in own or node.parent.flavors if flavor in node.parent.flavors)
                above = node.parent.capacities
                node.bounds |= {cell: 0 for cell in above if own and cell[0] not in own}
                node.capacities = {cell: min(amount, node.bounds.get(cell, amount)) for cell, amount in above.items()}

    def _machines(self) -> TreeNode | None:
        readers: dict[Cell, list[TreeNode]] = {}
        for root in self.roots if self.flavors.has_nodes else ():
            assert root.spec is not None
            stated = {cell for cell, _ in _quotas(root.spec)}
            if any(node.is_queue for node in root.below()):
                for cell in root.capacities.keys() - stated:
                    readers.setdefault(cell, []).append(root)
        shared = {cell: roots for cell, roots in readers.items() if len(roots) > 1}
        if not shared:
            return None
        machines = TreeNode("", ClusterQueueSpec(), None, 1)
        machines.bounds = {cell: roots[0].capacities[cell] for cell, roots in shared.items()}
        machines.capacities = dict(machines.bounds)
        for root in self.roots:
            if any(root in roots for roots in shared.values()):
                machines.children.append(root)
                for node in root.below():
                    node.path = (*node.path, machines)
        return machines

    def _grains(
        self, snapshot: Snapshot, requests: Iterable[Resources], more_cells: Collection[Cell]
    ) -> dict[str, int]:
        """By resource: what everything there is, and everything asked for, is a multiple of."""
        amounts: dict[str, set[int]] = {resource: set() for _, resource in more_cells}
        for node in [*self.nodes.values(), *filter(None, [self.machines])]:
            for (_, resource), amount in chain.from_iterable(
                map(dict.items, (node.guarantees, node.bounds, node.keeps, node.capacities))
            ):
                amounts.setdefault(resource, set()).add(amount)
            for resource, amount in node.limits.items():
                amounts.setdefault(resource, set()).add(amount)
        for some in requests:
            for resource, amount in some.items():
                amounts.setdefault(resource, set()).add(amount)
        for queue in snapshot.queues.values():
            for resource in queue.request:
                amounts.setdefault(resource, set()).add(1)  # It is demand in units of any size.
        return {resource: grain(resource, some) for resource, some in amounts.items()}

    def _enumerate(self, more_cells: Collection[Cell], grains: Mapping[str, int]) -> None:
        cells = (cell for node in self.nodes.values() for cell in (*node.guarantees, *node.bounds, *node.capacities))
        self.axes = Axes(chain(cells, more_cells), grains)
        self.in_order = [node for root in self.roots for node in root.below()]
        """Parents first; a node's place here is its index."""
        for index, node in enumerate([*self.in_order, *filter(None, [self.machines])]):
            node.enumerate(index, self.axes)
        if self.machines is not None:
            self.machines.most = self.axes.vector(self.machines.bounds, NO_BOUND)
        for node in self.in_order:
            node.look_for_bounds()
        self.size = len(self.in_order) + (self.machines is not None)
        """How many nodes the lists of a ledger have."""


def _sum_guarantees(node: TreeNode) -> None:
    """Guarantees from the leaves up; `bounds` and `keeps` follow from what the node states itself."""
    for child in node.children:
        _sum_guarantees(child)
        for cell, amount in child.guarantees.items():
            node.guarantees[cell] = node.guarantees.get(cell, 0) + amount
    for cell, quota in _quotas(node.spec) if node.spec else ():
        guarantee = node.guarantees[cell] = quota.nominal_quota.nano
        if quota.borrowing_limit is not None:
            node.bounds[cell] = guarantee + quota.borrowing_limit.nano
        if quota.lending_limit is not None:
            node.keeps[cell] = max(0, guarantee - quota.lending_limit.nano)


def _named(node: TreeNode) -> tuple[str, ...]:
    """The flavors a ClusterQueue names itself."""
    return tuple(quotas.flavor for quotas in node.spec.quotas) if node.spec else ()


def _quotas(spec: ClusterQueueSpec) -> Iterator[tuple[Cell, ResourceQuota]]:
    for quotas in spec.quotas:
        for resource, quota in quotas.resources.items():
            yield (quotas.flavor, resource), quota
