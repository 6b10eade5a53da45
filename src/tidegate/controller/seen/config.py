"""Nodes, flavors, queues and namespaces as the scheduler's Snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.kube.wire import Object
from tidegate.model.codec import read
from tidegate.model.kinds import ClusterQueue, Queue, ResourceFlavor
from tidegate.model.kinds.flavor import TaintEffect
from tidegate.model.problems import ManifestError
from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler import Node, Snapshot, Taint

_EFFECTS = {effect.value: effect for effect in TaintEffect}
_PASSING = "node.kubernetes.io/"
"""Taints of this family tell of a node's health, which `Ready` and `unschedulable` tell as well."""


def snapshot(
    nodes: Iterable[Object],
    flavors: Iterable[Object],
    cluster_queues: Iterable[Object],
    queues: Iterable[Object],
    namespaces: Iterable[Object],
) -> Snapshot:
    """What changes seldom. Objects that cannot be read are left out: their server should not have taken them."""
    return Snapshot(
        nodes=tuple(node(each) for each in nodes if is_usable(each)),
        flavors={flavor.metadata.name: flavor.spec for flavor in _readable(ResourceFlavor, flavors)},
        cluster_queues={queue.metadata.name: queue.spec for queue in _readable(ClusterQueue, cluster_queues)},
        queues={
            f"{queue.metadata.namespace}/{queue.metadata.name}": queue.spec
            for queue in _readable(Queue, queues)
            if queue.metadata.deletion_timestamp is None
        },
        namespaces={str(each["metadata"]["name"]): each["metadata"].get("labels") or {} for each in namespaces},
    )


def roots(there: Snapshot) -> dict[str, str]:
    """By Queue (namespace/name): the ClusterQueue at the top of the tree that it is in; without those in none."""
    found = {queue: _root(spec.cluster_queue, there) for queue, spec in there.queues.items()}
    return {queue: root for queue, root in found.items() if root is not None}


def _root(name: str | None, there: Snapshot) -> str | None:
    passed = set[str]()
    while name and name not in passed and (found := there.cluster_queues.get(name)) is not None:
        if not found.parent:
            return name
        passed.add(name)
        name = found.parent
    return None


def _readable(kind: Any, objects: Iterable[Object]) -> Iterable[Any]:
    for obj in objects:
        try:
            yield read(kind, obj)
        except ManifestError:
            continue


def is_usable(obj: Object) -> bool:
    """Whether new pods may be placed there."""
    conditions = (obj.get("status") or {}).get("conditions") or ()
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    return ready and not (obj.get("spec") or {}).get("unschedulable")


def node(obj: Object) -> Node:
    """A node, with what pods may take of it."""
    taints = (obj.get("spec") or {}).get("taints") or ()
    return Node(
        name=str(obj["metadata"]["name"]),
        allocatable=_allocatable((obj.get("status") or {}).get("allocatable") or {}),
        labels=dict(obj["metadata"].get("labels") or {}),
        taints=tuple(_taint(each) for each in taints if not str(each.get("key")).startswith(_PASSING)),
    )


def _allocatable(stated: Mapping[str, Any]) -> Resources:
    try:
        return Resources.parse({name: str(amount) for name, amount in stated.items()})
    except ValueError:
        return NOTHING


def _taint(obj: Mapping[str, Any]) -> Taint:
    effect = _EFFECTS.get(str(obj.get("effect")), TaintEffect.NO_SCHEDULE)
    return Taint(key=str(obj.get("key") or ""), value=str(obj.get("value") or ""), effect=effect)


def config_differs(old: Object | None, new: Object | None) -> bool:
    """Whether a change of a node, flavor, queue or namespace is one the scheduler would notice."""
    if old is None or new is None:
        return True
    return _matters(old) != _matters(new)


def _matters(obj: Object) -> tuple[Any, ...]:
    status = obj.get("status") or {}
    meta = obj["metadata"]
    usable = is_usable(obj) if obj.get("kind") == "Node" else None
    return (
        obj.get("spec"),
        meta.get("labels"),
        meta.get("deletionTimestamp") is None,
        status.get("allocatable"),
        usable,
    )
