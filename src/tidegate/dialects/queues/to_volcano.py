"""Tidegate's tree as Volcano's Queues: cluster-wide, with what is kept (guarantee), due (deserved) and allowed
(capability)."""

from __future__ import annotations

from typing import Any

from tidegate.dialects.errors import DialectError
from tidegate.dialects.names import dns_name
from tidegate.dialects.queues.rendering import Notes, QueueRendering
from tidegate.dialects.queues.summed import Amounts, ceilings, guaranteed
from tidegate.dialects.queues.tree import QueueTree, called, cells
from tidegate.model.jobs import Obj
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import AcrossQueues, Submitters
from tidegate.model.kinds.queue import ROOT
from tidegate.model.quantity import ZERO

Json = dict[str, Any]
_API_VERSION = "scheduling.volcano.sh/v1beta1"


def to_volcano(tree: QueueTree) -> QueueRendering:
    """Queues from the root downwards. Volcano's own `root` stands for a ClusterQueue of that name."""
    notes = Notes()
    objects: list[Obj] = []
    for root in tree.roots():
        objects += _below(tree, root, notes)
    _check_names(objects)
    notes.needs("hierarchy", "Volcano's capacity plugin must be on with enableHierarchy; proportion knows no parents")
    notes.needs("taking room back", "Volcano's reclaim action must be on; by default it is not")
    return notes.finish(objects)


def _check_names(objects: list[Obj]) -> None:
    """One would silently take the place of the other."""
    names = [obj["metadata"]["name"] for obj in objects]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise DialectError(
            f"two queues would both be called {twice[0]} in Volcano, where queues belong to no namespace and to no "
            "ClusterQueue; rename the ClusterQueue or the Queue"
        )


def queue_name(tree: QueueTree, door: Queue) -> str:
    """Queues of Volcano belong to no namespace, so a door is called after its ClusterQueue as well."""
    beside = tree.doors_of(tree.node(door.spec.cluster_queue))
    alike = [one for one in beside if one.metadata.name == door.metadata.name]
    parts = (door.spec.cluster_queue, *((door.metadata.namespace,) if len(alike) > 1 else ()), door.metadata.name)
    return dns_name("-".join(parts), "the queue")


def _below(tree: QueueTree, node: ClusterQueue, notes: Notes) -> list[Obj]:
    name, objects = node.metadata.name, []
    if name == ROOT:
        if node.spec.quotas:
            notes.dropped("quotas of ClusterQueue root", "Volcano's root has what the nodes have")
    else:
        objects.append(_queue(name, node.spec.parent, _node_spec(tree, node, notes)))
    _lost(node, notes)
    for child in tree.children(node):
        objects += _below(tree, child, notes)
    for door in tree.doors_of(node):
        spec: Json = {"weight": door.spec.weight, "reclaimable": _is_reclaimable(node)}
        if door.spec.limits:
            spec["capability"] = _written(dict(door.spec.limits))
        if door.spec.request:
            notes.dropped(f"request of {called(door)}", "Volcano counts only pods that are there")
        objects.append(_queue(queue_name(tree, door), name, spec))
    return objects


def _queue(name: str, parent: str | None, spec: Json) -> Obj:
    above = {"parent": parent or ROOT}
    return {"apiVersion": _API_VERSION, "kind": "Queue", "metadata": {"name": name}, "spec": above | spec}


def _node_spec(tree: QueueTree, node: ClusterQueue, notes: Notes) -> Json:
    spec: Json = {"weight": node.spec.weight, "reclaimable": _is_reclaimable(node)}
    if due := guaranteed(tree, node, notes):
        spec["deserved"] = _written(due)
    if kept := _kept(node):
        spec["guarantee"] = {"resource": _written(kept)}
    if top := ceilings(tree, node, notes):
        spec["capability"] = _written(top)
    return spec


def _kept(node: ClusterQueue) -> Amounts:
    """What the node never lends."""
    kept: Amounts = {}
    for (_, resource), quota in cells(node).items():
        if quota.lending_limit is not None:
            kept[resource] = kept.get(resource, ZERO) + max(quota.nominal_quota - quota.lending_limit, ZERO)
    return {name: amount for name, amount in kept.items() if amount}


def _written(amounts: Amounts) -> dict[str, str]:
    return {name: str(amount) for name, amount in sorted(amounts.items())}


def _is_reclaimable(node: ClusterQueue) -> bool:
    return node.spec.preemption.across_queues is not AcrossQueues.NEVER


def _lost(node: ClusterQueue, notes: Notes) -> None:
    about = f"ClusterQueue {node.metadata.name}"
    if len({flavor for flavor, _ in cells(node)}) > 1:
        notes.changed(f"flavors of {about}", "Volcano's queues have none; amounts are summed over flavors")
    if node.spec.submitters != Submitters():
        notes.dropped(f"submitters of {about}", "use RBAC and an admission policy")
    if node.spec.policy != "drf":
        notes.dropped(
            f"policy of {about}", f"order in Volcano is a matter of plugins; {node.spec.policy} is none of them"
        )
    if node.spec.stop != "None":
        notes.dropped(f"stop of {about}", "close the queue with vcctl queue operate")
    if node.spec.namespace_selector.match_labels or node.spec.namespace_selector.match_expressions:
        notes.dropped(f"namespaceSelector of {about}", "any namespace may use a queue of Volcano")
