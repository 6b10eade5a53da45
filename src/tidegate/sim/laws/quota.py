"""Bounds and shares of the quota tree, worked out from a Snapshot's configuration alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import ResourceFlavorSpec, TaintEffect, Toleration, TolerationOperator
from tidegate.model.kinds.queue import ROOT
from tidegate.scheduler import Node, Snapshot, Taint

Cell = tuple[str, str]
"""Flavor and resource."""
Amounts = dict[Cell, int]
MACHINES = "the nodes of several roots"
"""Stands above roots that read the same nodes, which have no more together than each alone. No queue is called so."""


def add(total: Amounts, more: Mapping[Cell, int], times: int = 1) -> None:
    for cell, amount in more.items():
        total[cell] = total.get(cell, 0) + amount * times


@dataclass(slots=True, eq=False)
class Place:
    """A ClusterQueue or a Queue: what it may hold."""

    name: str
    parent: Place | None
    weight: int
    guarantee: Amounts = field(default_factory=dict)
    most: Amounts = field(default_factory=dict)
    """Guarantee and borrowing limit; a root's capacity. A cell that is not named has no bound of its own."""
    kept: Amounts = field(default_factory=dict)
    """Of the guarantee, what may not be lent."""
    limits: Mapping[str, int] = field(default_factory=dict)
    capacity: Amounts = field(default_factory=dict)
    children: list[Place] = field(default_factory=list)
    machines: Place | None = None
    """Of a root: what it shares with other roots."""

    @property
    def path(self) -> Iterator[Place]:
        """From here up to the root, and to the nodes it shares with others."""
        yield self
        if (above := self.parent or self.machines) is not None:
            yield from above.path

    def below(self) -> Iterator[Place]:
        yield self
        for child in self.children:
            yield from child.below()

    def bound(self, cell: Cell) -> int | None:
        is_root = self.parent is None and self.name != MACHINES
        return self.most.get(cell, 0) if is_root else self.most.get(cell)

    def share(self, holds: Mapping[Cell, int]) -> Fraction:
        """max over resources of what is held above the guarantee / capacity of the parent, over the weight."""
        if self.parent is None:
            return Fraction(0)
        capacity: dict[str, int] = {}
        for (_, resource), amount in self.parent.capacity.items():
            capacity[resource] = capacity.get(resource, 0) + amount
        excess: dict[str, int] = {}
        for cell, amount in holds.items():
            over = max(0, amount - self.guarantee.get(cell, 0))
            excess[cell[1]] = excess.get(cell[1], 0) + over
        # What there is no more of (a lost node) weighs more than anything, and is still a number.
        parts = [Fraction(amount, capacity.get(resource, 0) or 1) for resource, amount in excess.items()]
        return max(parts, default=Fraction(0)) / self.weight


class QuotaTree:
    """All places by name: ClusterQueues by theirs, Queues by namespace/name."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.places: dict[str, Place] = {}
        specs = {ROOT: ClusterQueueSpec(), **snapshot.cluster_queues}
        self._specs = specs
        for name, spec in specs.items():
            if spec.parent is None:
                self._grow(name, None)
        for name, queue in snapshot.queues.items():
            parent = self.places.get(queue.cluster_queue)
            if parent is not None and parent.name in specs:
                limits = {resource: limit.nano for resource, limit in queue.limits.items()}
                self._put(Place(name, parent, queue.weight, limits=limits))
        self.roots = [place for place in self.places.values() if place.parent is None]
        for root in self.roots:
            self._sum_up(root)
            self._size(root, snapshot)
        if snapshot.nodes:
            self._share_nodes()

    def _put(self, place: Place) -> Place:
        self.places[place.name] = place
        if place.parent is not None:
            place.parent.children.append(place)
        return place

    def _grow(self, name: str, parent: Place | None) -> None:
        place = self._put(Place(name, parent, self._specs[name].weight))
        for child, spec in self._specs.items():
            if spec.parent == name:
                self._grow(child, place)

    def _sum_up(self, place: Place) -> None:
        for child in place.children:
            self._sum_up(child)
            add(place.guarantee, child.guarantee)
        for quotas in self._specs[place.name].quotas if place.name in self._specs else ():
            for resource, quota in quotas.resources.items():
                cell, nominal = (quotas.flavor, resource), quota.nominal_quota.nano
                place.guarantee[cell] = nominal
                if quota.borrowing_limit is not None:
                    place.most[cell] = nominal + quota.borrowing_limit.nano
                if quota.lending_limit is not None:
                    place.kept[cell] = max(0, nominal - quota.lending_limit.nano)

    def _size(self, root: Place, snapshot: Snapshot) -> None:
        """A root's capacity is what it states; where it states nothing what the nodes have; without nodes what its
        children are guaranteed."""
        flavors = self._named(root)
        stated = self.stated(root)
        found = capacity_of_nodes(snapshot) if snapshot.nodes else root.guarantee
        found = {cell: amount for cell, amount in found.items() if not flavors or cell[0] in flavors}
        root.capacity = root.most = {**found, **stated}
        root.kept = {}
        for place in root.below():
            if place.parent is not None:
                above = place.parent.capacity
                named = self._named(place)
                place.most |= {cell: 0 for cell in above if named and cell[0] not in named}
                place.capacity = {cell: min(amount, place.most.get(cell, amount)) for cell, amount in above.items()}

    def _named(self, place: Place) -> list[str]:
        """The flavors a ClusterQueue uses, and it alone; none where it does not say so."""
        return [one.flavor for one in self._specs[place.name].quotas] if place.name in self._specs else []

    def stated(self, root: Place) -> Amounts:
        """What a root says itself that it has."""
        quotas = self._specs[root.name].quotas
        return {(one.flavor, name): quota.nominal_quota.nano for one in quotas for name, quota in one.resources.items()}

    def has_doors(self, root: Place) -> bool:
        """Whether there is any Queue below it."""
        return any(place.name not in self._specs for place in root.below())

    def _share_nodes(self) -> None:
        readers: dict[Cell, list[Place]] = {}
        for root in filter(self.has_doors, self.roots):
            for cell in root.capacity.keys() - self.stated(root).keys():
                readers.setdefault(cell, []).append(root)
        shared = {cell: roots for cell, roots in readers.items() if len(roots) > 1}
        if shared:
            machines = self._put(Place(MACHINES, None, 1))
            machines.capacity = machines.most = {cell: roots[0].capacity[cell] for cell, roots in shared.items()}
            machines.children = [root for root in self.roots if any(root in roots for roots in shared.values())]
            for root in machines.children:
                root.machines = machines


def capacity_of_nodes(snapshot: Snapshot) -> Amounts:
    """What the nodes have by flavor, oversubscribed as the flavors say. A node is of one flavor: of those whose labels
    it has the one with most labels, then the first by name."""
    flavors = dict(snapshot.flavors) or {"default": ResourceFlavorSpec()}
    total: Amounts = {}
    for node in snapshot.nodes:
        matching = [name for name, spec in flavors.items() if spec.node_labels.items() <= node.labels.items()]
        flavor = min(matching, key=lambda name: (-len(flavors[name].node_labels), name), default=None)
        if flavor is not None and _may_run(node, flavors[flavor].tolerations):
            add(total, {(flavor, resource): amount for resource, amount in node.allocatable.items()})
    for flavor, spec in flavors.items():
        for resource, ratio in spec.overcommit.items():
            if (flavor, resource) in total:
                total[flavor, resource] = int(total[flavor, resource] * ratio)
    return total


def _may_run(node: Node, tolerations: Iterable[Toleration]) -> bool:
    hard = [taint for taint in node.taints if taint.effect is not TaintEffect.PREFER_NO_SCHEDULE]
    return all(any(_tolerates(one, taint) for one in tolerations) for taint in hard)


def _tolerates(one: Toleration, taint: Taint) -> bool:
    if one.effect not in (None, taint.effect) or (one.key and one.key != taint.key):
        return False
    return not one.key or one.operator is TolerationOperator.EXISTS or one.value == taint.value


def over_flavors(amounts: Amounts) -> dict[str, int]:
    """By resource, whatever the flavor."""
    total: dict[str, int] = {}
    for (_, resource), amount in amounts.items():
        total[resource] = total.get(resource, 0) + amount
    return total
