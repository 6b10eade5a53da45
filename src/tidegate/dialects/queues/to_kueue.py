"""Tidegate's tree for Kueue.

A node with children becomes a Cohort, one without a ClusterQueue. Tidegate's guarantee of a node contains those of its
children; a Cohort's quota comes on top of them. So a Cohort gets what is left of the guarantee when the children have
theirs, and reading it back adds the two again.
"""

from __future__ import annotations

import json
from typing import Any

from tidegate.dialects.errors import DialectError
from tidegate.dialects.names import dns_name
from tidegate.dialects.queues.kueue_words import API_VERSION, DOORS_OF, NOT_STATED, RECLAIM, STRATEGY
from tidegate.dialects.queues.rendering import Notes, QueueRendering
from tidegate.dialects.queues.tree import Cell, QueueTree, called, cells
from tidegate.model.codec import encode
from tidegate.model.jobs import Obj
from tidegate.model.kinds import ClusterQueue, Queue
from tidegate.model.kinds.cluster_queue import Ordering, Preemption, ResourceQuota, Submitters
from tidegate.model.quantity import ZERO, Quantity

_MOST_GROUPS = 16
Json = dict[str, Any]


def to_kueue(tree: QueueTree) -> QueueRendering:
    """ResourceFlavors, Cohorts, ClusterQueues and LocalQueues, in an order in which they can be applied."""
    notes = Notes()
    objects: list[Obj] = [*_flavors(tree, notes)]
    inner = [node for node in tree.nodes if tree.children(node)]
    objects += [_cohort(tree, node, notes) for node in inner]
    objects += [_cluster_queue(tree, node, notes) for node in tree.nodes if node not in inner or tree.doors_of(node)]
    objects += [_local_queue(door, notes) for door in tree.doors]
    notes.needs("fair shares", "Kueue shares fairly only with fairSharing in its configuration")
    if any(node.spec.ordering is Ordering.BEST_EFFORT for node in tree.nodes):
        notes.dropped("patience", "Kueue never holds room for a workload that has waited long")
    return notes.finish(objects)


def _object(kind: str, metadata: Json, spec: Json) -> Obj:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}


def _flavors(tree: QueueTree, notes: Notes) -> list[Obj]:
    made = []
    for flavor in tree.flavors:
        spec = encode(flavor).get("spec", {})
        if spec.pop("overcommit", None):
            notes.dropped(f"ResourceFlavor {flavor.metadata.name} overcommit", "Kueue has no part in what nodes hold")
        made.append(_object("ResourceFlavor", {"name": flavor.metadata.name}, spec))
    known = {flavor.metadata.name for flavor in tree.flavors}
    for name in sorted({flavor for node in tree.nodes for flavor, _ in cells(node)} - known):
        made.append(_object("ResourceFlavor", {"name": dns_name(name, "the flavor")}, {}))
        if name != "default":
            notes.needs(f"ResourceFlavor {name}", "it was not among the files, so it is made without node labels")
    return made


def _cohort(tree: QueueTree, node: ClusterQueue, notes: Notes) -> Obj:
    spec: Json = {"parentName": node.spec.parent} if node.spec.parent else {}
    quotas = {}
    for cell, quota in cells(node).items():
        below = sum((tree.guarantee(child, cell) for child in tree.children(node)), ZERO)
        if quota.nominal_quota < below:
            notes.changed(
                f"ClusterQueue {node.metadata.name}",
                f"its children are guaranteed {below} {cell[1]} of {cell[0]}, more than its own {quota.nominal_quota}; "
                "in Kueue it has what they have",
            )
        quotas[cell] = _quota(node, quota, max(quota.nominal_quota - below, ZERO), notes)
    marked = _groups(node, quotas, spec)
    if node.spec.weight != 1:
        spec["fairSharing"] = {"weight": str(node.spec.weight)}
    if not tree.doors_of(node):
        _lost_on_cohort(node, notes)
    return _object("Cohort", _metadata(node.metadata.name, marked), spec)


def _cluster_queue(tree: QueueTree, node: ClusterQueue, notes: Notes) -> Obj:
    name = node.metadata.name
    has_children = bool(tree.children(node))
    parent = name if has_children else node.spec.parent
    spec: Json = {"cohortName": parent} if parent else {}
    stated = {} if has_children else cells(node)
    quotas = {cell: _quota(node, quota, quota.nominal_quota, notes) for cell, quota in stated.items()}
    marks = _groups(node, quotas, spec, reach=tree.reach(node))
    spec["queueingStrategy"] = STRATEGY[node.spec.ordering]
    across, within = node.spec.preemption.across_queues, node.spec.preemption.within_queue
    spec["preemption"] = {"withinClusterQueue": str(within), "reclaimWithinCohort": RECLAIM[across]}
    spec["namespaceSelector"] = encode(node).get("spec", {}).get("namespaceSelector", {})
    spec["stopPolicy"] = str(node.spec.stop)
    if node.spec.weight != 1 and not has_children:
        spec["fairSharing"] = {"weight": str(node.spec.weight)}
    _lost_on_node(node, notes)
    if not tree.reach(node):
        notes.dropped(
            f"capacity of ClusterQueue {name}",
            "it is read from the nodes, which Kueue cannot; state quotas, or nothing is admitted",
        )
    return _object("ClusterQueue", _metadata(name, marks, DOORS_OF if has_children else ""), spec)


def _metadata(name: str, not_stated: list[str], mark: str = "") -> Json:
    annotations = {NOT_STATED: json.dumps(not_stated)} if not_stated else {}
    annotations |= {mark: name} if mark else {}
    return {"name": name} | ({"annotations": annotations} if annotations else {})


def _quota(node: ClusterQueue, quota: ResourceQuota, nominal: Quantity, notes: Notes) -> Json:
    lent = quota.lending_limit
    if lent is not None and lent > quota.nominal_quota:
        notes.changed(f"lendingLimit of ClusterQueue {node.metadata.name}", f"{lent} is more than there is to lend")
        lent = quota.nominal_quota
    limits = {"borrowingLimit": quota.borrowing_limit, "lendingLimit": lent}
    limits = {name: limit for name, limit in limits.items() if limit is not None}
    if limits and node.spec.parent is None:
        notes.dropped(
            f"{', '.join(limits)} of ClusterQueue {node.metadata.name}", "a root has nobody to borrow from or lend to"
        )
        limits = {}
    return {"nominalQuota": str(nominal)} | {name: str(limit) for name, limit in limits.items()}


def _groups(node: ClusterQueue, quotas: dict[Cell, Json], spec: Json, *, reach: list[Cell] | None = None) -> list[str]:
    """Writes resource groups into `spec`; gives back the cells that are there only to fill them.

    Kueue wants every flavor of a group to have every resource of it, and a resource in one group only. Flavors that
    share resources go into one group, and what one of them lacks is filled with nothing.
    """
    marks = []
    wanted = list(dict.fromkeys([*quotas, *(reach or ())]))
    groups = _partition(wanted)
    if len(groups) > _MOST_GROUPS:
        raise DialectError(
            f"ClusterQueue {node.metadata.name} has {len(groups)} groups of flavors without a common resource, and "
            f"Kueue takes at most {_MOST_GROUPS}; give some flavors a resource in common, or split the ClusterQueue"
        )
    made = []
    for flavors, resources in groups:
        listed = []
        for flavor in flavors:
            filled = []
            for resource in resources:
                cell = (flavor, resource)
                if cell not in quotas:
                    marks.append("/".join(cell))
                filled.append({"name": resource} | quotas.get(cell, {"nominalQuota": "0"}))
            listed.append({"name": flavor, "resources": filled})
        made.append({"coveredResources": resources, "flavors": listed})
    if made:
        spec["resourceGroups"] = made
    return marks


def _partition(wanted: list[Cell]) -> list[tuple[list[str], list[str]]]:
    """Flavors and resources in groups that have no resource in common, in order of preference."""
    groups: list[tuple[list[str], list[str]]] = []
    for flavor in dict.fromkeys(flavor for flavor, _ in wanted):
        resources = [resource for each, resource in wanted if each == flavor]
        shared = [group for group in groups if set(group[1]) & set(resources)]
        merged: tuple[list[str], list[str]] = ([], [])
        for group in shared:
            merged[0].extend(group[0])
            merged[1].extend(group[1])
            groups.remove(group)
        merged[0].append(flavor)
        merged[1].extend(resource for resource in resources if resource not in merged[1])
        groups.append(merged)
    return groups


def _lost_on_node(node: ClusterQueue, notes: Notes) -> None:
    about = f"ClusterQueue {node.metadata.name}"
    if node.spec.policy != "drf":
        notes.dropped(
            f"policy of {about}", f"Kueue has no {node.spec.policy}; it shares fairly or first come, first served"
        )
    if node.spec.submitters != Submitters():
        notes.dropped(f"submitters of {about}", "use RBAC in the namespaces of its LocalQueues")


def _lost_on_cohort(node: ClusterQueue, notes: Notes) -> None:
    _lost_on_node(node, notes)
    about = f"ClusterQueue {node.metadata.name}"
    if node.spec.preemption != Preemption() or node.spec.ordering is not Ordering.BEST_EFFORT:
        notes.dropped(
            f"preemption and ordering of {about}", "a Cohort has none; set them on the ClusterQueues below it"
        )
    if node.spec.stop != "None":
        notes.dropped(f"stop of {about}", "a Cohort cannot be stopped; stop the ClusterQueues below it")


def _local_queue(door: Queue, notes: Notes) -> Obj:
    about = called(door)
    if door.spec.limits:
        notes.dropped(f"limits of {about}", "a LocalQueue has none; use a ResourceQuota or a ClusterQueue of its own")
    if door.spec.request:
        notes.dropped(f"request of {about}", "Kueue counts only workloads that are there")
    spec: Json = {"clusterQueue": door.spec.cluster_queue}
    if door.spec.weight != 1:
        spec["fairSharing"] = {"weight": str(door.spec.weight)}
    metadata = {"namespace": door.metadata.namespace or "default", "name": door.metadata.name}
    return _object("LocalQueue", metadata, spec)
