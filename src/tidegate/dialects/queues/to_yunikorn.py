"""Tidegate's tree as YuniKorn's `queues.yaml`: one root, guarantees and maxima per queue, no flavors and no weights."""

from __future__ import annotations

from typing import Any

from tidegate.dialects.names import queue_level
from tidegate.dialects.queues.rendering import Notes, QueueRendering
from tidegate.dialects.queues.summed import Amounts, ceilings, guaranteed
from tidegate.dialects.queues.tree import QueueTree, called, cells
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import AcrossQueues, Ordering, Submitters, WithinQueue
from tidegate.model.kinds.queue import ROOT
from tidegate.model.quantity import NANO, Quantity

Json = dict[str, Any]
_EVERYONE = "*"
_MOST = 2**63 - 1


def to_yunikorn(tree: QueueTree) -> QueueRendering:
    """One document: the content of `queues.yaml` in YuniKorn's ConfigMap."""
    notes = Notes()
    below: list[Json] = []
    for root in tree.roots():
        if root.metadata.name == ROOT:
            _lost(root, notes)
            if root.spec.quotas:
                notes.dropped(
                    "quotas of ClusterQueue root", "YuniKorn's root has what the nodes have and may state nothing"
                )
            below += _inside(tree, root, {}, notes)
        else:
            below.append(_node(tree, root, {}, notes))
    root_queue: Json = {"name": ROOT, "queues": below}
    if all(door_acl(tree, door, Notes()) == _EVERYONE for door in tree.doors):
        root_queue["submitacl"] = _EVERYONE
    if tree.flavors or len({flavor for node in tree.nodes for flavor, _ in cells(node)}) > 1:
        notes.changed("flavors", "YuniKorn has none; amounts are summed over flavors")
    if any(node.spec.ordering is Ordering.BEST_EFFORT for node in tree.nodes):
        notes.dropped("patience", "YuniKorn never holds room for an application that has waited long")
    return notes.finish([{"partitions": [{"name": "default", "queues": [root_queue]}]}])


def queue_path(tree: QueueTree, door: Queue) -> str:
    """The full name of a door in YuniKorn."""
    node = tree.node(door.spec.cluster_queue)
    above = [one.metadata.name for one in (node, *tree.ancestors(node))]
    levels = [queue_level(name, "the ClusterQueue") for name in reversed(above)]
    first = levels if levels[0] == ROOT else [ROOT, *levels]
    return ".".join([*first, _leaf(tree, door)])


def _leaf(tree: QueueTree, door: Queue) -> str:
    """A door is called by its name; where another door or node beside it is called so too, by its namespace, too."""
    node = tree.node(door.spec.cluster_queue)
    beside = [one.metadata.name for one in (*_nodes_below(tree, node), *tree.doors_of(node))]
    if beside.count(door.metadata.name) == 1:
        return queue_level(door.metadata.name, "the Queue")
    name = f"{door.metadata.namespace}_{door.metadata.name}"
    return queue_level(name, "the Queue with its namespace")


def _nodes_below(tree: QueueTree, node: ClusterQueue) -> tuple[ClusterQueue, ...]:
    """The nodes that YuniKorn has beside the doors of this one: below its root are all of ours that have no parent."""
    if node.metadata.name != ROOT or node.spec.parent is not None:
        return tree.children(node)
    return (*tree.children(node), *(root for root in tree.roots() if root.metadata.name != ROOT))


def _node(tree: QueueTree, node: ClusterQueue, ceiling: Amounts, notes: Notes) -> Json:
    _lost(node, notes)
    queue: Json = {"name": queue_level(node.metadata.name, "the ClusterQueue"), "parent": True}
    # YuniKorn refuses a child whose maximum is above its parent's.
    top = {name: min(amount, ceiling.get(name, amount)) for name, amount in ceilings(tree, node, notes).items()}
    if amounts := _written(guaranteed(tree, node, notes), top, notes):
        queue["resources"] = amounts
    if properties := _properties(node, notes):
        queue["properties"] = properties
    if inside := _inside(tree, node, ceiling | top, notes):
        queue["queues"] = inside
    return queue


def _inside(tree: QueueTree, node: ClusterQueue, ceiling: Amounts, notes: Notes) -> list[Json]:
    children = [_node(tree, child, ceiling, notes) for child in tree.children(node)]
    return children + [_door(tree, node, door, ceiling, notes) for door in tree.doors_of(node)]


def _door(tree: QueueTree, node: ClusterQueue, door: Queue, ceiling: Amounts, notes: Notes) -> Json:
    # YuniKorn starts a gang only in a queue that serves applications in order.
    properties = {"application.sort.policy": "fifo"} | _properties(node, notes)
    queue: Json = {"name": _leaf(tree, door), "parent": False, "properties": properties}
    if door.spec.limits:
        limits = {name: min(limit, ceiling.get(name, limit)) for name, limit in door.spec.limits.items()}
        queue["resources"] = _written({}, limits, notes)
    acl = door_acl(tree, door, notes)
    if acl != _EVERYONE or any(door_acl(tree, other, Notes()) != _EVERYONE for other in tree.doors):
        queue["submitacl"] = acl
    if door.spec.weight != 1:
        notes.dropped(f"weight of {called(door)}", "YuniKorn has no weights; guarantees decide")
    if door.spec.request:
        notes.dropped(f"request of {called(door)}", "YuniKorn counts only pods that are there")
    return queue


def _written(least: Amounts, top: Amounts, notes: Notes) -> Json:
    written = {"guaranteed": _amounts(least, notes), "max": _amounts(top, notes)}
    return {name: amounts for name, amounts in written.items() if amounts}


def _amounts(amounts: Amounts, notes: Notes) -> dict[str, str]:
    return {
        "vcore" if name == "cpu" else name: _amount(name, amount, notes) for name, amount in sorted(amounts.items())
    }


def _amount(resource: str, amount: Quantity, notes: Notes) -> str:
    """As YuniKorn reads it: whole thousandths of a core, whole units of all else. What is over goes everywhere, so that
    what children are guaranteed still fits into what their parent is."""
    unit = NANO // 1000 if resource == "cpu" else NANO
    whole = Quantity(
        min(amount.nano // unit, _MOST) * unit, "decimal" if amount.notation == "exponent" else amount.notation
    )
    if whole != amount:
        what = "thousandths of a core" if resource == "cpu" else "whole units"
        notes.changed(f"{amount} {resource}", f"YuniKorn counts in {what} up to 2^63, so it became {whole}")
    return str(whole)


def _properties(node: ClusterQueue, notes: Notes) -> dict[str, str]:
    properties = {}
    if node.spec.preemption.across_queues is AcrossQueues.NEVER:
        properties["preemption.policy"] = "disabled"
    if node.spec.policy == "priority":
        properties["application.sort.priority"] = "enabled"
    return properties


def door_acl(tree: QueueTree, door: Queue, notes: Notes) -> str:
    """Who may submit, as YuniKorn writes it: users, a space, groups. Its access lists add up along the tree where
    Tidegate's narrow down, so they are written at the doors only."""
    node = tree.node(door.spec.cluster_queue)
    stated = [one.spec.submitters for one in (node, *tree.ancestors(node)) if one.spec.submitters != Submitters()]
    if len(stated) > 1:
        notes.changed(
            f"submitters of {called(door)}",
            "only the nearest list is written; YuniKorn cannot ask for several",
        )
    if not stated:
        return _EVERYONE
    return f"{','.join(stated[0].users)} {','.join(stated[0].groups)}".rstrip()


def _lost(node: ClusterQueue, notes: Notes) -> None:
    about = f"ClusterQueue {node.metadata.name}"
    if node.spec.weight != 1:
        notes.dropped(f"weight of {about}", "YuniKorn has no weights; guarantees decide")
    if any(quota.lending_limit is not None for quota in cells(node).values()):
        notes.dropped(f"lendingLimit of {about}", "what is guaranteed and idle may be used by others whole")
    if node.spec.stop != "None":
        notes.dropped(f"stop of {about}", "YuniKorn drains a queue when it is taken out of its configuration")
    if node.spec.policy not in ("drf", "priority"):
        notes.dropped(f"policy of {about}", f"YuniKorn has no {node.spec.policy}")
    if node.spec.preemption.within_queue is not WithinQueue.NEVER:
        notes.dropped(f"preemption within queues of {about}", "YuniKorn preempts between queues only")
    if node.spec.preemption.across_queues is AcrossQueues.LOWER_PRIORITY:
        notes.changed(f"preemption across queues of {about}", "YuniKorn takes only for who is below its guarantee")
    if node.spec.ordering is Ordering.STRICT:
        notes.dropped(f"ordering of {about}", "in YuniKorn what fits may pass what does not")
    if node.spec.namespace_selector.match_labels or node.spec.namespace_selector.match_expressions:
        notes.dropped(f"namespaceSelector of {about}", "use a placement rule with a filter")
