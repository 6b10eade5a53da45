"""Flavors and their nodes: what capacity there is, and on which of them a pod could stand.

A node is of one flavor, or its room would be counted twice: of those whose labels it has, the one that names most
labels, then the first by name. A node with a taint that its flavor does not tolerate has no room for that flavor's
pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from tidegate.model.kinds.flavor import ResourceFlavorSpec, TaintEffect, Toleration, TolerationOperator
from tidegate.model.resources import Resources
from tidegate.scheduler.snapshot import Node, Snapshot, Taint
from tidegate.scheduler.tree.cells import Cells

DEFAULT = "default"


class Hosting(Enum):
    """Whether pods of a shape can stand on nodes of a flavor."""

    YES = "yes"
    TOO_LARGE = "too large"
    """Larger than any node where they may run."""
    NOWHERE = "nowhere"
    """They may not run on any of its nodes, or it lacks a resource altogether."""


class Flavors:
    """All flavors of a snapshot, with the nodes of each."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.specs: Mapping[str, ResourceFlavorSpec] = snapshot.flavors or {DEFAULT: ResourceFlavorSpec()}
        self.has_nodes = bool(snapshot.nodes)
        self._nodes: dict[str, list[Node]] = {name: [] for name in self.specs}
        for node in snapshot.nodes:
            flavor = self._flavor_of(node)
            if flavor is not None and _tolerated(node.taints, self.specs[flavor].tolerations):
                self._nodes[flavor].append(node)
        self._hosting: dict[tuple[str, Resources, frozenset[tuple[str, str]]], Hosting] = {}

    def _flavor_of(self, node: Node) -> str | None:
        matching = [name for name, spec in self.specs.items() if spec.node_labels.items() <= node.labels.items()]
        return min(matching, key=lambda name: (-len(self.specs[name].node_labels), name), default=None)

    def capacity(self, flavor: str) -> Cells:
        """What its nodes have, oversubscribed as the flavor says."""
        spec = self.specs.get(flavor)
        total: Cells = {}
        for node in self._nodes.get(flavor, ()):
            for resource, amount in node.allocatable.items():
                total[flavor, resource] = total.get((flavor, resource), 0) + amount
        if spec is not None:
            for resource, ratio in spec.overcommit.items():
                if (flavor, resource) in total:
                    total[flavor, resource] = int(total[flavor, resource] * ratio)
        return total

    def hosting(self, flavor: str, requests: Resources, selector: frozenset[tuple[str, str]]) -> Hosting:
        """Whether one such pod could stand on an empty node of the flavor. Quota is another question."""
        key = (flavor, requests, selector)
        known = self._hosting.get(key)
        if known is None:
            known = self._hosting[key] = self._judge(flavor, requests, selector)
        return known

    def _judge(self, flavor: str, requests: Resources, selector: frozenset[tuple[str, str]]) -> Hosting:
        nodes = self._nodes.get(flavor)
        if not nodes:  # Nodes may come later (an autoscaler): only what the flavor itself says can be judged.
            labels = self.specs[flavor].node_labels if flavor in self.specs else {}
            return Hosting.NOWHERE if any(labels.get(key, value) != value for key, value in selector) else Hosting.YES
        open_to_it = [node for node in nodes if selector <= node.labels.items()]
        if not open_to_it:
            return Hosting.NOWHERE
        if any(node.allocatable.covers(requests) for node in open_to_it):
            return Hosting.YES
        return Hosting.TOO_LARGE


def _tolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> bool:
    return all(
        taint.effect is TaintEffect.PREFER_NO_SCHEDULE
        or any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
    )


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect is not None and toleration.effect is not taint.effect:
        return False
    if not toleration.key:
        return True
    same_value = toleration.operator is TolerationOperator.EXISTS or toleration.value == taint.value
    return toleration.key == taint.key and same_value
