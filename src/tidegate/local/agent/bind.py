"""Binding pods to this node, where no scheduler does: does a pod fit, and if not, what is missing, in numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidegate.model.quantity import ZERO, Quantity

Spec = Mapping[str, Any]
Amounts = dict[str, Quantity]

SCHEDULER = "default-scheduler"


def may_bind(pod: Spec) -> bool:
    """Whether a pod waits for this scheduler: unbound, without gates, and not meant for another one."""
    spec = pod["spec"]
    if spec.get("nodeName") or spec.get("schedulingGates") or "deletionTimestamp" in pod["metadata"]:
        return False
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and (spec.get("schedulerName") or SCHEDULER) == SCHEDULER


def turn(pod: Spec) -> tuple[int, str, str]:
    """The order in which pods are bound: by priority, then age, then name."""
    meta = pod["metadata"]
    return -int(pod["spec"].get("priority") or 0), meta.get("creationTimestamp", ""), meta["name"]


def requests_of(pod: Spec) -> Amounts:
    """What a pod needs: its containers and sidecars together, or its hungriest init container if that is more."""
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod["spec"].get("initContainers") or []:
        if container.get("restartPolicy") == "Always":
            sidecars = _sum(sidecars, _requests(container))
            peak = _most(peak, sidecars)
        else:
            peak = _most(peak, _sum(sidecars, _requests(container)))
    total = sidecars
    for container in pod["spec"]["containers"]:
        total = _sum(total, _requests(container))
    return _sum(_most(total, peak), _parsed(pod["spec"].get("overhead") or {}))


def _requests(container: Spec) -> Amounts:
    resources = container.get("resources") or {}
    return _parsed(resources.get("limits") or {}) | _parsed(resources.get("requests") or {})


def _parsed(amounts: Mapping[str, Any]) -> Amounts:
    return {name: Quantity.parse(str(text)) for name, text in amounts.items()}


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, ZERO) + other.get(name, ZERO) for name in {*one, *other}}


def _most(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, ZERO), other.get(name, ZERO)) for name in {*one, *other}}


_KNOWN_BETTER = frozenset(f"node.kubernetes.io/{key}" for key in ("not-ready", "unreachable", "unschedulable"))
"""Taints others put on this node of what it says itself: it is here and ready, and cordons are asked of directly."""


def misfits(pod: Spec, node: Spec, present: Iterable[Spec]) -> list[str]:
    """Everything that keeps a pod from this node, in words; empty if it fits."""
    reasons = []
    if node["spec"].get("unschedulable") and not _tolerates(
        pod, {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    ):
        reasons.append("node(s) were unschedulable")
    if not _selected(pod, node):
        reasons.append("node(s) didn't match Pod's node affinity/selector")
    for taint in node["spec"].get("taints") or []:
        keeps_off = taint["effect"] in ("NoSchedule", "NoExecute") and taint["key"] not in _KNOWN_BETTER
        if keeps_off and not _tolerates(pod, taint):
            reasons.append(f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}")
    return reasons + _shortages(pod, node, present)


def _shortages(pod: Spec, node: Spec, present: Iterable[Spec]) -> list[str]:
    allocatable = _parsed(node["status"]["allocatable"])
    used: Amounts = {}
    count = 0
    for other in present:
        used = _sum(used, requests_of(other))
        count += 1
    short = []
    if Quantity.parse(count + 1) > allocatable.get("pods", ZERO):
        short.append(f"Too many pods ({count} of {allocatable.get('pods', ZERO)} run)")
    for name, wanted in sorted(requests_of(pod).items()):
        free = allocatable.get(name, ZERO) - used.get(name, ZERO)
        if wanted > free and wanted:
            of = allocatable.get(name, ZERO)
            short.append(f"Insufficient {name} (asks for {wanted}, {free} of {of} is free)")
    return short


def _selected(pod: Spec, node: Spec) -> bool:
    labels = node["metadata"].get("labels") or {}
    selector = pod["spec"].get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return True
    return any(_term_matches(term, labels, node["metadata"]["name"]) for term in required["nodeSelectorTerms"])


def _term_matches(term: Spec, labels: Mapping[str, str], name: str) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    by_label = all(_expression_holds(each, labels) for each in expressions)
    return by_label and all(_expression_holds(each, {"metadata.name": name}) for each in fields)


def _expression_holds(expression: Spec, values: Mapping[str, str]) -> bool:
    value, wanted = values.get(expression["key"]), expression.get("values") or []
    match expression["operator"]:
        case "In":
            return value in wanted
        case "NotIn":
            return value not in wanted
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            if value is None or not value.lstrip("-").isdigit():
                return False
            return int(value) > int(wanted[0]) if operator == "Gt" else int(value) < int(wanted[0])
    return False


def _tolerates(pod: Spec, taint: Spec) -> bool:
    for toleration in pod["spec"].get("tolerations") or []:
        if toleration.get("effect") and toleration["effect"] != taint["effect"]:
            continue
        if toleration.get("operator") == "Exists":
            if not toleration.get("key") or toleration["key"] == taint["key"]:
                return True
        elif toleration.get("key") == taint["key"] and toleration.get("value", "") == taint.get("value", ""):
            return True
    return False
