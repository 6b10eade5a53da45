"""Tidegate's tree as Volcano's Queues: cluster-wide, with what is kept (guarantee), due (deserved) and allowed
(capability)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.dialects.errors import DialectError
from tidegate.dialects.names import dns_name
from tidegate.dialects.queues.rendering import Notes, QueueRendering
from tidegate.dialects.queues.summed import Amounts, ceilings, guaranteed
from tidegate.dialects.queues.tree import QueueTree, called, cells
from tidegate.model.jobs import Obj
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import AcrossQueues, Ordering, Submitters, WithinQueue
from tidegate.model.kinds.queue import ROOT
from tidegate.model.quantity import NANO, ZERO, Quantity

Json = dict[str, Any]
_API_VERSION = "scheduling.volcano.sh/v1beta1"
_USUAL_DEPTH = 5
_MOST = 2**63 - 1


def to_volcano(tree: QueueTree) -> QueueRendering:
    """Queues from the root downwards. Volcano's own `root` stands for a ClusterQueue of that name."""
    notes = Notes()
    objects: list[Obj] = []
    for root in tree.roots():
        objects += _below(tree, root, notes, {})
    _check_names(objects)
    if any(node.spec.ordering is Ordering.BEST_EFFORT for node in tree.nodes):
        notes.dropped("patience", "Volcano's sla plugin may hold room for who has waited long; it is set up elsewhere")
    if tree.flavors or len({flavor for node in tree.nodes for flavor, _ in cells(node)}) > 1:
        notes.changed("flavors", "Volcano's queues have none; amounts are summed over flavors")
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


def _below(tree: QueueTree, node: ClusterQueue, notes: Notes, ceiling: Amounts, depth: int = 1) -> list[Obj]:
    """The queues of a node and all that is below it; `ceiling` is what the queues above allow."""
    name, objects = node.metadata.name, []
    if name == ROOT:
        if node.spec.quotas:
            notes.dropped("quotas of ClusterQueue root", "Volcano's root has what the nodes have")
        depth -= 1
    else:
        spec, ceiling = _node_spec(tree, node, ceiling, notes)
        objects.append(_queue(name, node.spec.parent, spec))
    if depth + bool(tree.doors_of(node)) > _USUAL_DEPTH:
        notes.needs("depth", f"Volcano's webhooks take {_USUAL_DEPTH} levels unless --max-queue-depth says otherwise")
    _lost(node, notes)
    for child in tree.children(node):
        objects += _below(tree, child, notes, ceiling, depth + 1)
    for door in tree.doors_of(node):
        spec = {"weight": door.spec.weight, "reclaimable": _is_reclaimable(node)}
        if door.spec.limits:
            spec["capability"] = _written(_lowered(dict(door.spec.limits), ceiling), notes)
            _check_limits(door.spec.limits, {}, {} if name == ROOT else ceiling, notes, top=name == ROOT)
        if door.spec.request:
            notes.dropped(f"request of {called(door)}", "Volcano counts only pods that are there")
        objects.append(_queue(queue_name(tree, door), name, spec))
    return objects


def _queue(name: str, parent: str | None, spec: Json) -> Obj:
    above = {"parent": parent or ROOT}
    return {"apiVersion": _API_VERSION, "kind": "Queue", "metadata": {"name": name}, "spec": above | spec}


def _node_spec(tree: QueueTree, node: ClusterQueue, ceiling: Amounts, notes: Notes) -> tuple[Json, Amounts]:
    """A node's queue, and what it allows to those below it."""
    spec: Json = {"weight": node.spec.weight, "reclaimable": _is_reclaimable(node)}
    due, kept, own = guaranteed(tree, node, notes), _kept(tree, node), ceilings(tree, node, notes)
    if due:
        spec["deserved"] = _written(due, notes)
    if kept:
        spec["guarantee"] = {"resource": _written(kept, notes)}
    # A limit above is one here as well, and Volcano wants to see it wherever one is below it.
    top = ceiling | _lowered(own, ceiling)
    if top:
        spec["capability"] = _written(top, notes)
        _check_limits(own, due, ceiling, notes, top=node.spec.parent in (None, ROOT))
    return spec, top


def _lowered(limits: Amounts, ceiling: Amounts) -> Amounts:
    """No higher than what the queues above allow; Volcano refuses what is."""
    return {name: min(limit, ceiling.get(name, limit)) for name, limit in limits.items()}


def _check_limits(own: Mapping[str, Quantity], due: Amounts, ceiling: Amounts, notes: Notes, *, top: bool) -> None:
    unlimited_above = not top and any(name not in ceiling for name in own)
    if unlimited_above or any(name not in own and name not in ceiling for name in due):
        notes.needs("limits", "Volcano before 1.15 refuses one for some resources only, or below a queue without one")


def _kept(tree: QueueTree, node: ClusterQueue) -> Amounts:
    """What the node never lends, with what those below it never lend: Volcano wants to see it above them, too."""
    own: Amounts = {}
    for (_, resource), quota in cells(node).items():
        if quota.lending_limit is not None:
            own[resource] = own.get(resource, ZERO) + max(quota.nominal_quota - quota.lending_limit, ZERO)
    below: Amounts = {}
    for child in tree.children(node):
        for resource, amount in _kept(tree, child).items():
            below[resource] = below.get(resource, ZERO) + amount
    most = {name: max(own.get(name, ZERO), below.get(name, ZERO)) for name in {*own, *below}}
    return {name: amount for name, amount in most.items() if amount}


def _written(amounts: Amounts, notes: Notes) -> dict[str, str]:
    """As Kubernetes writes amounts of a resource: whole numbers of what is counted."""
    return {name: str(_whole(name, amount, notes)) for name, amount in sorted(amounts.items())}


def _whole(resource: str, amount: Quantity, notes: Notes) -> Quantity:
    """What is over goes everywhere, so that what children have still fits into what their parent has."""
    unit, most = (NANO // 1000 if resource == "cpu" else NANO), _MOST if resource == "memory" else _MOST // 1000
    whole = Quantity(min(amount.nano // unit * unit, most * NANO), amount.notation)
    if whole != amount:
        notes.changed(f"{amount} {resource}", f"Volcano counts in whole units, up to {most}, so it became {whole}")
    return whole


def _is_reclaimable(node: ClusterQueue) -> bool:
    return node.spec.preemption.across_queues is not AcrossQueues.NEVER


def _lost(node: ClusterQueue, notes: Notes) -> None:
    about = f"ClusterQueue {node.metadata.name}"
    if node.spec.preemption.across_queues is AcrossQueues.LOWER_PRIORITY:
        notes.changed(f"preemption across queues of {about}", "Volcano reclaims by share, whatever the priority")
    if node.spec.preemption.within_queue is not WithinQueue.NEVER:
        notes.needs(f"preemption within queues of {about}", "Volcano's preempt action must be on")
    if node.spec.ordering is Ordering.STRICT:
        notes.dropped(f"ordering of {about}", "in Volcano what fits may pass what does not")
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
