"""What an object costs of a ResourceQuota, and which quotas it counts against. Pure arithmetic.

The controller adds it up over all objects for `status.used`; admission asks it for one object before that exists.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.controllers.objects import Struct
from tidegate.local.controllers.pods import Container, Pod, ResourceNeeds
from tidegate.local.controllers.selectors import LabelSelector, Requirement, matches
from tidegate.model.quantity import ZERO, Quantity

Usage = dict[str, Quantity]
"""Amounts by the names that `spec.hard` uses."""

ONE = Quantity.parse(1)
_SHORT = {"pods", "services", "secrets", "configmaps", "replicationcontrollers", "resourcequotas"}
_SHORT |= {"persistentvolumeclaims"}
_NATIVE = {"cpu", "memory", "ephemeral-storage"}


class ScopeSelector(Struct, frozen=True):
    match_expressions: tuple[dict[str, Any], ...] = ()


class QuotaSpec(Struct, frozen=True):
    hard: dict[str, str | int] = msgspec.field(default_factory=dict)
    scopes: tuple[str, ...] = ()
    scope_selector: ScopeSelector | None = None


def charge(quota: QuotaSpec, group: str, plural: str, obj: Pod | Object) -> Usage:
    """What the object takes of this quota; empty if it does not count against it."""
    if not quota_matches(quota, group, plural, obj):
        return {}
    return {name: amount for name, amount in usage_of(group, plural, obj).items() if name in quota.hard}


def quota_matches(quota: QuotaSpec, group: str, plural: str, obj: Pod | Object) -> bool:
    """Scopes are about pods; a quota with scopes does not count anything else."""
    selectors = [{"scopeName": name, "operator": "Exists"} for name in quota.scopes]
    selectors += quota.scope_selector.match_expressions if quota.scope_selector else ()
    if not selectors:
        return True
    if (group, plural) != ("", "pods"):
        return False
    pod = as_pod(obj)
    return all(_in_scope(pod, selector) for selector in selectors)


def usage_of(group: str, plural: str, obj: Pod | Object) -> Usage:
    """All that the object uses, under every name a quota may give it."""
    usage: Usage = {f"count/{plural}.{group}" if group else f"count/{plural}": ONE}
    if group:
        return usage
    if plural == "pods":
        return usage | pod_usage(as_pod(obj))
    if plural in _SHORT:
        usage[plural] = ONE
    if plural == "services" and isinstance(obj, dict):
        usage |= _service_usage(obj.get("spec") or {})
    if plural == "persistentvolumeclaims" and isinstance(obj, dict):
        usage |= _claim_usage(obj)
    return usage


def pod_usage(pod: Pod) -> Usage:
    """Of a pod that has not ended; one that has costs only its `count/pods`."""
    if pod.finished:
        return {}
    usage: Usage = {"pods": ONE}
    for name, amount in pod_requests(pod).items():
        if name in _NATIVE or name.startswith("hugepages-"):
            usage[name] = amount
        usage[f"requests.{name}"] = amount
    usage |= {f"limits.{name}": amount for name, amount in pod_limits(pod).items() if name in _NATIVE}
    return usage


def pod_requests(pod: Pod) -> Usage:
    """What its containers need at once: all that run together, or the largest that runs before them."""
    total = _together(pod, "requests")
    return _added(total, _amounts(pod.spec.overhead))


def pod_limits(pod: Pod) -> Usage:
    """Overhead comes on top only of what is limited at all."""
    total = _together(pod, "limits")
    return _added(total, {name: amount for name, amount in _amounts(pod.spec.overhead).items() if total.get(name)})


def total(usages: Iterable[Usage]) -> Usage:
    amounts: Usage = {}
    for usage in usages:
        for name, amount in usage.items():
            amounts[name] = amounts[name] + amount if name in amounts else amount
    return amounts


def as_pod(obj: Pod | Object) -> Pod:
    return obj if isinstance(obj, Pod) else msgspec.convert(obj, Pod)


def _together(pod: Pod, kind: str) -> Usage:
    """Init containers run one after another, each with the sidecars started before it."""
    running = total(_needs(container.resources, kind) for container in pod.spec.containers)
    sidecars: Usage = {}
    before: Usage = {}
    for container in pod.spec.init_containers:
        needs = _needs(container.resources, kind)
        if _is_sidecar(container):
            sidecars = _added(sidecars, needs)
            needs = {}
        before = _larger(before, _added(sidecars, needs))
    whole = _larger(_added(running, sidecars), before)
    return whole | _needs(pod.spec.resources, kind)


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _needs(resources: ResourceNeeds | None, kind: str) -> Usage:
    if resources is None:
        return {}
    return _amounts(resources.requests if kind == "requests" else resources.limits)


def _amounts(given: dict[str, str | int]) -> Usage:
    return {name: _quantity(amount) for name, amount in given.items()}


@lru_cache(4096)
def _quantity(text: str | int) -> Quantity:
    """Thousands of pods ask for the same few amounts."""
    return Quantity.parse(text)


def _added(left: Usage, right: Usage) -> Usage:
    return left | {name: left.get(name, ZERO) + amount for name, amount in right.items()}


def _larger(left: Usage, right: Usage) -> Usage:
    return left | {name: max(left.get(name, ZERO), amount) for name, amount in right.items()}


def _service_usage(spec: Object) -> Usage:
    """Node ports by number; a load balancer has them too unless it declines them."""
    kind, ports = spec.get("type", "ClusterIP"), spec.get("ports") or []
    usage: Usage = {"services.nodeports": ZERO, "services.loadbalancers": ZERO}
    if kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts", True)):
        usage["services.nodeports"] = Quantity.parse(len(ports))
    elif kind == "LoadBalancer":
        usage["services.nodeports"] = Quantity.parse(sum(1 for port in ports if port.get("nodePort")))
    if kind == "LoadBalancer":
        usage["services.loadbalancers"] = ONE
    return usage


def _claim_usage(claim: Object) -> Usage:
    """Storage in all, and by storage class."""
    spec = claim.get("spec") or {}
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    usage: Usage = {"requests.storage": Quantity.parse(asked)} if asked is not None else {}
    if storage_class := spec.get("storageClassName"):
        prefix = f"{storage_class}.storageclass.storage.k8s.io/"
        usage |= {f"{prefix}{name}": amount for name, amount in usage.items()}
        usage[f"{prefix}persistentvolumeclaims"] = ONE
    return usage


def _in_scope(pod: Pod, selector: Object) -> bool:
    match selector["scopeName"]:
        case "Terminating":
            return pod.spec.active_deadline_seconds is not None
        case "NotTerminating":
            return pod.spec.active_deadline_seconds is None
        case "BestEffort":
            return is_best_effort(pod)
        case "NotBestEffort":
            return not is_best_effort(pod)
        case "PriorityClass":
            return _priority_matches(pod.spec.priority_class_name, selector)
        case "CrossNamespacePodAffinity":
            return _looks_across(pod.spec.affinity or {})
    return False


def is_best_effort(pod: Pod) -> bool:
    """Nobody in it asks for, or is limited in, cpu or memory."""
    everyone = [*pod.spec.containers, *pod.spec.init_containers]
    needs = [each.resources for each in everyone] + [pod.spec.resources]
    amounts = (_needs(each, kind) for each in needs for kind in ("requests", "limits"))
    return not any(usage.get(name) for usage in amounts for name in ("cpu", "memory"))


def _priority_matches(name: str, selector: Object) -> bool:
    need = Requirement("name", selector["operator"], tuple(selector.get("values") or ()))
    return matches(LabelSelector(match_expressions=(need,)), {"name": name} if name else {})


def _looks_across(affinity: Object) -> bool:
    """Whether any term of its pod (anti-)affinity names other namespaces."""
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(kind) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or ())
        preferred = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        terms += [each["podAffinityTerm"] for each in preferred]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False
