"""Tidegate's queue tree as other schedulers need to see it: nodes, doors, and what is guaranteed where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.dialects.errors import DialectError
from tidegate.model.codec import decode
from tidegate.model.jobs import Obj
from tidegate.model.kinds import API_VERSION, ClusterQueue, Queue, ResourceFlavor
from tidegate.model.kinds.cluster_queue import ResourceQuota
from tidegate.model.kinds.queue import ROOT
from tidegate.model.kinds.shape import Metadata
from tidegate.model.quantity import ZERO, Quantity

Cell = tuple[str, str]
"""A flavor and a resource."""
KINDS = ("ResourceFlavor", "ClusterQueue", "Queue")


@dataclass(frozen=True, slots=True)
class QueueTree:
    """All nodes and doors, each list by name."""

    flavors: tuple[ResourceFlavor, ...]
    nodes: tuple[ClusterQueue, ...]
    doors: tuple[Queue, ...]

    def node(self, name: str) -> ClusterQueue:
        return next(node for node in self.nodes if node.metadata.name == name)

    def roots(self) -> tuple[ClusterQueue, ...]:
        return tuple(node for node in self.nodes if node.spec.parent is None)

    def children(self, node: ClusterQueue) -> tuple[ClusterQueue, ...]:
        return tuple(child for child in self.nodes if child.spec.parent == node.metadata.name)

    def doors_of(self, node: ClusterQueue) -> tuple[Queue, ...]:
        return tuple(door for door in self.doors if door.spec.cluster_queue == node.metadata.name)

    def ancestors(self, node: ClusterQueue) -> Iterator[ClusterQueue]:
        """Its parent, its parent's parent, and so on."""
        while node.spec.parent is not None:
            node = self.node(node.spec.parent)
            yield node

    def guarantee(self, node: ClusterQueue, cell: Cell) -> Quantity:
        """What the node is guaranteed: what it states, else what its children are."""
        stated = cells(node).get(cell)
        if stated is not None:
            return stated.nominal_quota
        return sum((self.guarantee(child, cell) for child in self.children(node)), ZERO)

    def reach(self, node: ClusterQueue) -> list[Cell]:
        """Flavors and resources its workloads could use: its own first, then what it could borrow."""
        found = dict.fromkeys(self._below(node))
        for above in self.ancestors(node):
            found.update(dict.fromkeys(self._below(above)))
        return list(found)

    def _below(self, node: ClusterQueue) -> list[Cell]:
        found = dict.fromkeys(cells(node))
        for child in self.children(node):
            found.update(dict.fromkeys(self._below(child)))
        return list(found)


def cells(node: ClusterQueue) -> dict[Cell, ResourceQuota]:
    """The node's quotas by flavor and resource, in its order of preference."""
    return {
        (quotas.flavor, resource): quota for quotas in node.spec.quotas for resource, quota in quotas.resources.items()
    }


def most(node: ClusterQueue, quota: ResourceQuota | None) -> Quantity | None:
    """The most a node may use of one flavor's resource; None: as much as there is. A root cannot borrow."""
    if node.spec.parent is None:
        return quota.nominal_quota if quota else None
    if quota is None or quota.borrowing_limit is None:
        return None
    return quota.nominal_quota + quota.borrowing_limit


def called(door: Queue) -> str:
    """A door in words."""
    return f"Queue {door.metadata.namespace}/{door.metadata.name}"


def is_queue_object(obj: Any) -> bool:
    """Whether it is one of Tidegate's own kinds of which trees are made."""
    return isinstance(obj, dict) and obj.get("kind") in KINDS and obj.get("apiVersion", API_VERSION) == API_VERSION


def parse_tree(objects: Iterable[Obj]) -> QueueTree:
    """The tree of these manifests; ManifestError where one is malformed, DialectError where they do not fit."""
    decoded = [decode(obj) for obj in objects if is_queue_object(obj)]
    _check_names(decoded)
    nodes = {one.metadata.name: one for one in decoded if isinstance(one, ClusterQueue)}
    doors = [one for one in decoded if isinstance(one, Queue)]
    if any(door.spec.cluster_queue == ROOT for door in doors):
        # Made at installation, so a file need not have it.
        nodes.setdefault(ROOT, ClusterQueue(metadata=Metadata(name=ROOT)))
    for name, node in nodes.items():
        _check_parents(name, node, nodes)
    for door in doors:
        if door.spec.cluster_queue not in nodes:
            leads = f"leads to ClusterQueue {door.spec.cluster_queue}, which is not there"
            raise DialectError(f"{called(door)} {leads}; add it to the files")
    return QueueTree(
        tuple(sorted((one for one in decoded if isinstance(one, ResourceFlavor)), key=lambda one: one.metadata.name)),
        tuple(sorted(nodes.values(), key=lambda node: node.metadata.name)),
        tuple(sorted(doors, key=lambda door: (door.metadata.name, door.metadata.namespace))),
    )


def _check_names(decoded: list[Any]) -> None:
    """Of two that are called alike one would be lost, and one without a name cannot be applied."""
    seen: set[tuple[str, str, str]] = set()
    for one in decoded:
        kind, metadata = type(one).__name__, one.metadata
        if not metadata.name:
            raise DialectError(f"a {kind} has no name; give it metadata.name")
        if (kind, metadata.namespace, metadata.name) in seen:
            called = "/".join(filter(None, (metadata.namespace, metadata.name)))
            raise DialectError(f"{kind} {called} is there twice; remove one")
        seen.add((kind, metadata.namespace, metadata.name))


def _check_parents(name: str, node: ClusterQueue, nodes: dict[str, ClusterQueue]) -> None:
    seen = {name}
    while node.spec.parent is not None:
        if node.spec.parent not in nodes:
            raise DialectError(
                f"ClusterQueue {name} is below {node.spec.parent}, which is not there; add it to the files"
            )
        if node.spec.parent in seen:
            raise DialectError(
                f"ClusterQueue {name} is below itself; change the parent of one of {', '.join(sorted(seen))}"
            )
        seen.add(node.spec.parent)
        node = nodes[node.spec.parent]
