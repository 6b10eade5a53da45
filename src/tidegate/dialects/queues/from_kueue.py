"""Kueue's tree for Tidegate: what `to_kueue` wrote comes back as it was, and what others wrote as near as can be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from tidegate.dialects.draft import Fate
from tidegate.dialects.errors import DialectError
from tidegate.dialects.queues.kueue_words import DOORS_OF, GROUP, NOT_STATED, RECLAIM, STRATEGY
from tidegate.dialects.queues.rendering import Notes, QueueRendering
from tidegate.dialects.queues.tree import Cell
from tidegate.model.codec import decode, encode
from tidegate.model.jobs import Obj
from tidegate.model.kinds import API_VERSION
from tidegate.model.quantity import NANO, ZERO, Quantity
from tidegate.model.resources import parse_amount

Json = dict[str, Any]
_NOBODY = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "DoesNotExist"}]}
_READ = ("ResourceFlavor", "Cohort", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass")


class _Node:
    """A node of the tree while it is put together."""

    def __init__(self, name: str, parent: str | None, source: Obj) -> None:
        self.name, self.parent = name, parent
        self.spec: Json = dict(source.get("spec") or {})
        self.annotations = (source.get("metadata") or {}).get("annotations") or {}
        self.is_cohort = source.get("kind") == "Cohort"
        self.quotas: dict[Cell, Json] = {}


def from_kueue(objects: Iterable[Obj]) -> QueueRendering:
    """Tidegate's objects for these of Kueue; DialectError or ManifestError where they cannot be read."""
    try:
        return _converted(objects)
    except (AttributeError, KeyError, TypeError) as error:
        # Nobody has checked these objects yet, and every field may be missing or of another type.
        what = "check them with kubectl apply --dry-run=server"
        raise DialectError(f"the objects are not as Kueue has them ({error}); {what}") from None


def _converted(objects: Iterable[Obj]) -> QueueRendering:
    notes = Notes()
    given: dict[str, list[Obj]] = {kind: [] for kind in _READ}
    for obj in objects:
        _sort(obj, given, notes)
    nodes = _nodes(given, notes)
    _add_up(nodes)
    weights = _weights(nodes, notes)
    made: list[Obj] = [_flavor(obj, notes) for obj in given["ResourceFlavor"]]
    made += [_priority_class(obj, notes) for obj in given["WorkloadPriorityClass"]]
    made += [_cluster_queue(nodes[name], weights[name], notes) for name in sorted(nodes)]
    renamed = {obj["metadata"]["name"]: _node_of(obj) for obj in given["ClusterQueue"]}
    made += [_queue(obj, renamed, notes) for obj in given["LocalQueue"]]
    return notes.finish([encode(decode(obj)) if obj["apiVersion"] == API_VERSION else obj for obj in made])


def _sort(obj: Obj, given: dict[str, list[Obj]], notes: Notes) -> None:
    kind, version = str(obj.get("kind")), str(obj.get("apiVersion") or "")
    name = (obj.get("metadata") or {}).get("name")
    if version.partition("/")[0] != GROUP or kind not in given:
        notes.dropped(f"{version} {kind} {name}", "it is not a queue of Kueue's, or Tidegate has no counterpart")
    elif not name:
        raise DialectError(f"a {kind} has no name; give it metadata.name")
    else:
        given[kind].append(obj)


def _node_of(cluster_queue: Obj) -> str:
    """The Tidegate node a ClusterQueue becomes: its own, or the one whose doors it only stands for."""
    metadata = cluster_queue["metadata"]
    return str((metadata.get("annotations") or {}).get(DOORS_OF) or metadata["name"])


def _nodes(given: dict[str, list[Obj]], notes: Notes) -> dict[str, _Node]:
    queues = {_node_of(obj): obj for obj in given["ClusterQueue"]}
    stands_for = {name for name, obj in queues.items() if (obj["metadata"].get("annotations") or {}).get(DOORS_OF)}
    cohorts = {obj["metadata"]["name"]: obj for obj in given["Cohort"]}
    for obj in (*given["ClusterQueue"], *given["Cohort"]):
        # A cohort need not exist as an object.
        if above := _above(obj):
            cohorts.setdefault(above, {"kind": "Cohort", "metadata": {"name": above}})
    called = {name: name for name in cohorts}
    for name in cohorts:
        if name in queues and name not in stands_for:
            called[name] = f"{name}-cohort"
            notes.changed(f"Cohort {name}", f"a ClusterQueue has that name too, so it became {called[name]}")
    nodes: dict[str, _Node] = {}
    for name, obj in cohorts.items():
        node = _Node(called[name], called.get(_above(obj) or ""), obj)
        node.spec |= {"_doors": queues[name].get("spec") or {}} if name in stands_for else {}
        nodes[node.name] = node
    for name, obj in queues.items():
        if name not in stands_for:
            nodes[name] = _Node(name, called.get(_above(obj) or ""), obj)
    for node in nodes.values():
        node.quotas = _quotas(node)
    return nodes


def _above(obj: Obj) -> str:
    """The cohort above; its field was called otherwise in earlier versions."""
    spec = obj.get("spec") or {}
    return str(spec.get("cohortName") or spec.get("cohort") or spec.get("parentName") or spec.get("parent") or "")


def _quotas(node: _Node) -> dict[Cell, Json]:
    try:
        filled = set(json.loads(node.annotations.get(NOT_STATED, "[]")))
    except ValueError:
        raise DialectError(f"annotation {NOT_STATED} of {node.name} is not JSON; remove it") from None
    found: dict[Cell, Json] = {}
    for group in node.spec.get("resourceGroups") or ():
        for flavor in group.get("flavors") or ():
            for quota in flavor.get("resources") or ():
                if f"{flavor['name']}/{quota['name']}" not in filled:
                    found[flavor["name"], quota["name"]] = {k: v for k, v in quota.items() if k != "name"}
    return found


def _add_up(nodes: dict[str, _Node]) -> None:
    """A Cohort's quota comes on top of its members'; Tidegate's guarantee contains them."""

    def guarantee(node: _Node, cell: Cell, seen: frozenset[str]) -> Quantity:
        if node.name in seen:
            raise DialectError(f"Cohort {node.name} is below itself; change its parentName")
        inside = [child for child in nodes.values() if child.parent == node.name]
        below = sum((guarantee(child, cell, seen | {node.name}) for child in inside), ZERO)
        own = node.quotas.get(cell)
        return below + (_amount(node, own) if own else ZERO)

    totals = {
        (name, cell): str(guarantee(node, cell, frozenset())) for name, node in nodes.items() for cell in node.quotas
    }
    for (name, cell), total in totals.items():
        nodes[name].quotas[cell] = nodes[name].quotas[cell] | {"nominalQuota": total}


def _amount(node: _Node, quota: Json) -> Quantity:
    try:
        return parse_amount(quota.get("nominalQuota"))
    except ValueError as error:
        raise DialectError(f"nominalQuota of {node.name}: {error}") from None


def _weights(nodes: dict[str, _Node], notes: Notes) -> dict[str, int]:
    """Whole weights in the proportions that siblings have."""
    exact = {name: _weight(node.spec, f"fairSharing of {name}", notes) for name, node in nodes.items()}
    scale: dict[str | None, int] = {}
    for name, node in nodes.items():
        scale[node.parent] = lcm(scale.get(node.parent, 1), exact[name].denominator)
    return {name: int(exact[name] * scale[node.parent]) for name, node in nodes.items()}


def _weight(spec: Mapping[str, Any], about: str, notes: Notes) -> Fraction:
    stated = (spec.get("fairSharing") or {}).get("weight", 1)
    weight = Fraction(Quantity.parse(stated if isinstance(stated, int) else str(stated)).nano, NANO)
    if weight <= 0:
        notes.changed(about, "a weight of 0 (served last) became 1")
        return Fraction(1)
    return weight


def _cluster_queue(node: _Node, weight: int, notes: Notes) -> Obj:
    rules = node.spec.get("_doors", {}) if node.is_cohort else node.spec
    spec: Json = {"weight": weight, "quotas": _listed(node)}
    if node.parent:
        spec["parent"] = node.parent
    if rules:
        spec |= _rules(node, rules, notes)
    return {"apiVersion": API_VERSION, "kind": "ClusterQueue", "metadata": {"name": node.name}, "spec": spec}


def _listed(node: _Node) -> list[Json]:
    flavors: dict[str, Json] = {}
    for (flavor, resource), quota in node.quotas.items():
        flavors.setdefault(flavor, {})[resource] = quota
    return [{"flavor": flavor, "resources": resources} for flavor, resources in flavors.items()]


def _rules(node: _Node, rules: Mapping[str, Any], notes: Notes) -> Json:
    preemption = rules.get("preemption") or {}
    reclaim = preemption.get("reclaimWithinCohort", "Never")
    spec: Json = {
        "ordering": {theirs: str(ours) for ours, theirs in STRATEGY.items()}.get(
            rules.get("queueingStrategy", ""), "BestEffort"
        ),
        "preemption": {
            "withinQueue": preemption.get("withinClusterQueue", "Never"),
            "acrossQueues": {theirs: str(ours) for ours, theirs in RECLAIM.items()}[reclaim],
        },
        "stop": rules.get("stopPolicy", "None"),
    }
    selector = rules.get("namespaceSelector")
    if selector is None:
        notes.changed(f"namespaceSelector of {node.name}", "none means nobody to Kueue, so a selector says so")
    spec["namespaceSelector"] = _NOBODY if selector is None else selector
    about = f"ClusterQueue {node.name}"
    if (preemption.get("borrowWithinCohort") or {}).get("policy", "Never") != "Never":
        notes.dropped(f"borrowWithinCohort of {about}", "Tidegate takes room only for who is below what it deserves")
    for field in ("flavorFungibility", "admissionChecks", "admissionChecksStrategy", "admissionScope"):
        if rules.get(field):
            notes.dropped(f"{field} of {about}", "Tidegate has no counterpart")
    return spec


def _flavor(obj: Obj, notes: Notes) -> Obj:
    spec, name = obj.get("spec") or {}, obj["metadata"]["name"]
    for field in ("nodeTaints", "topologyName"):
        if spec.get(field):
            notes.dropped(f"{field} of ResourceFlavor {name}", "Tidegate does not read it; nodes keep their own taints")
    kept = {field: spec[field] for field in ("nodeLabels", "tolerations") if spec.get(field)}
    return {"apiVersion": API_VERSION, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": kept}


def _priority_class(obj: Obj, notes: Notes) -> Obj:
    name = obj["metadata"]["name"]
    notes.add(Fate.CHANGED, f"WorkloadPriorityClass {name}", "it became a PriorityClass, which pods may use as well")
    made: Json = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
    return made | {field: obj[field] for field in ("value", "description") if field in obj}


def _queue(obj: Obj, renamed: Mapping[str, str], notes: Notes) -> Obj:
    spec, metadata = obj.get("spec") or {}, obj["metadata"]
    about = f"LocalQueue {metadata.get('namespace')}/{metadata['name']}"
    if spec.get("stopPolicy", "None") != "None":
        notes.dropped(f"stopPolicy of {about}", "a Queue cannot be stopped; stop its ClusterQueue")
    weight = _weight(spec, f"fairSharing of {about}", notes)
    if weight.denominator != 1:
        notes.changed(f"fairSharing of {about}", f"the weight {weight} was rounded up to a whole number")
    leads = spec.get("clusterQueue")
    if not leads:
        raise DialectError(f"{about} leads nowhere; set spec.clusterQueue")
    return {
        "apiVersion": API_VERSION,
        "kind": "Queue",
        "metadata": {"namespace": metadata.get("namespace") or "default", "name": metadata["name"]},
        "spec": {"clusterQueue": renamed.get(leads, leads), "weight": -(-weight.numerator // weight.denominator)},
    }
