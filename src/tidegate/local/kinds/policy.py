"""Budgets, priorities, autoscalers and leases: who gives way, how many there are, and who leads."""

from __future__ import annotations

import copy

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.apps.shared import count_or_share
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core.resources import container_resource_name, quantity
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, name_of, not_negative
from tidegate.local.kinds.selectors import label_selector


class PodDisruptionBudget(BuiltIn):
    has_status = True
    generates_generation = True
    unconditional_update = False
    any_finalizer = True
    name_form = staticmethod(names.path_segment)

    def prepare_create(self, obj: Object) -> None:
        counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
        obj["status"] = dict.fromkeys(counts, 0)

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
            yield invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set")
        for key in ("minAvailable", "maxUnavailable"):
            yield from count_or_share("spec", spec, key)
        yield from label_selector("spec.selector", spec.get("selector"))
        policy = spec.get("unhealthyPodEvictionPolicy")
        yield from maybe_one_of("spec.unhealthyPodEvictionPolicy", policy, ("AlwaysAllow", "IfHealthyBudget"))

    def check_status(self, obj: Object, old: Object) -> Errors:
        counts = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
        yield from not_negative("status", child(obj, "status"), *counts)


class Lease(BuiltIn):
    creates_on_update = True
    unconditional_update = False
    any_finalizer = True

    def prepare_create(self, obj: Object) -> None:
        """Fields of a feature that is off by default are dropped unread."""
        for key in ("strategy", "preferredHolder"):
            child(obj, "spec").pop(key, None)

    def prepare_update(self, obj: Object, old: Object) -> None:
        self.prepare_create(obj)

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        if (seconds := spec.get("leaseDurationSeconds")) is not None and seconds <= 0:
            yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
        yield from not_negative("spec", spec, "leaseTransitions")


_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_DOWN = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
_CPU_80 = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
_SOURCES = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


class HorizontalPodAutoscaler(BuiltIn):
    """Of both versions: v1 knows only cpu, v2 any metric."""

    has_status = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("minReplicas") is None:
            spec["minReplicas"] = 1
        if obj.get("apiVersion") != "autoscaling/v2":
            if spec.get("targetCPUUtilizationPercentage") is None:
                spec["targetCPUUtilizationPercentage"] = 80
            return
        if not spec.get("metrics"):
            spec["metrics"] = [copy.deepcopy(_CPU_80)]
        if (behavior := spec.get("behavior")) is not None:
            for way, rules in (("scaleUp", _UP), ("scaleDown", _DOWN)):
                given = {key: value for key, value in (behavior.get(way) or {}).items() if value is not None}
                behavior[way] = copy.deepcopy(rules) | given

    def prepare_create(self, obj: Object) -> None:
        empty = {"desiredReplicas": 0} | ({} if obj.get("apiVersion") == "autoscaling/v2" else {"currentReplicas": 0})
        obj["status"] = empty | ({"currentMetrics": None} if obj.get("apiVersion") == "autoscaling/v2" else {})

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
        if least is not None and least < 1:
            yield invalid("spec.minReplicas", least, "must be greater than or equal to 1")
        if not most:
            yield required("spec.maxReplicas", "must be set and greater than 0")
        elif most < 0:
            yield invalid("spec.maxReplicas", most, "must be greater than or equal to 1")
        if least is not None and most < least:
            yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
        yield from _reference("spec.scaleTargetRef", child(spec, "scaleTargetRef"))
        if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in spec.get("metrics") or ()):
            says = "must specify at least one Object or External metric to support scaling to zero replicas"
            yield forbidden_field("spec.metrics", says)
        for at, metric in items(spec, "metrics", "spec"):
            yield from _metric(at, metric)
        share = spec.get("targetCPUUtilizationPercentage")
        if share is not None and share < 1:
            path = "spec.metrics[0].resource.target.averageUtilization"
            yield invalid(path, share, "must be greater than 0")
        for way in ("scaleUp", "scaleDown"):
            if (rules := child(spec, "behavior").get(way)) is not None:
                yield from _scaling_rules(f"spec.behavior.{way}", rules)

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from not_negative("status", child(obj, "status"), "currentReplicas", "desiredReplicas")


def _reference(path: str, reference: Object) -> Errors:
    for key in ("kind", "name"):
        yield from name_of(f"{path}.{key}", reference.get(key) or "", names.path_segment)
    version = reference.get("apiVersion") or ""
    if version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif not version.rpartition("/")[0] and path.endswith("Ref") and reference.get("kind") != "ReplicationController":
        yield invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _scaling_rules(path: str, rules: Object) -> Errors:
    if (window := rules.get("stabilizationWindowSeconds")) is not None:
        if window < 0:
            yield invalid(f"{path}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
        if window > 3600:
            yield invalid(f"{path}.stabilizationWindowSeconds", window, "must be less than or equal to 3600")
    yield from maybe_one_of(f"{path}.selectPolicy", rules.get("selectPolicy"), ("Disabled", "Max", "Min"))
    if not rules.get("policies"):
        yield required(f"{path}.policies", "must specify at least one Policy")
    for at, policy in items(rules, "policies", path):
        yield from maybe_one_of(f"{at}.type", policy.get("type") or "", ("Percent", "Pods"))
        for key in ("value", "periodSeconds"):
            if (policy.get(key) or 0) <= 0:
                yield invalid(f"{at}.{key}", policy.get(key) or 0, "must be greater than zero")
        if (policy.get("periodSeconds") or 0) > 1800:
            yield invalid(f"{at}.periodSeconds", policy["periodSeconds"], "must be less than or equal to 1800")
    if (tolerance := rules.get("tolerance")) is not None and quantity(tolerance).nano < 0:
        yield invalid(f"{path}.tolerance", tolerance, "must be greater than or equal to 0")


def _metric(path: str, metric: Object) -> Errors:
    sort = metric.get("type") or ""
    if not sort:
        yield required(f"{path}.type", "must specify a metric source type")
    if sort not in _SOURCES:
        yield not_supported(f"{path}.type", sort, sorted(_SOURCES))
    present = [source for source in _SOURCES.values() if metric.get(source) is not None]
    if present:
        yield from _metric_source(f"{path}.{present[0]}", present[0], metric[present[0]])
    expected = _SOURCES.get(sort, "")
    if not expected:
        yield not_supported(f"{path}.type", sort, sorted(_SOURCES))  # Said once more, as Kubernetes does.
    elif expected not in present:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    if len(present) != 1:
        for source in present:
            if source != expected:
                yield forbidden_field(f"{path}.{source}", "must populate the given metric source only")


def _metric_source(path: str, sort: str, source: Object) -> Errors:
    target = child(source, "target")
    value, average, share = (target.get(key) for key in ("value", "averageValue", "averageUtilization"))
    if sort == "object":
        yield from _reference(f"{path}.describedObject", child(source, "describedObject"))
    if sort in ("object", "external", "pods"):
        name = child(source, "metric").get("name") or ""
        yield from name_of(f"{path}.metric.name", name, names.path_segment)
    else:
        if not source.get("name"):
            yield required(f"{path}.name", "must specify a resource name")
        elif sort == "containerResource":
            yield from container_resource_name(f"{path}.name", source["name"])
        if sort == "containerResource":
            yield from name_of(f"{path}.container", source.get("container") or "")
    yield from _metric_target(f"{path}.target", target)
    if sort in ("object", "external") and value is None and average is None:
        yield required(f"{path}.target.averageValue", "must set either a target value or averageValue")
    elif sort == "external" and value is not None and average is not None:
        says = "may not set both a target value for metric and a per-pod target"
        yield forbidden_field(f"{path}.target.value", says)
    elif sort == "pods" and average is None:
        yield required(f"{path}.target.averageValue", "must specify a positive target averageValue")
    elif sort in ("resource", "containerResource"):
        if share is None and average is None:
            says = "must set either a target raw value or a target utilization"
            yield required(f"{path}.target.averageUtilization", says)
        elif share is not None and average is not None:
            says = "may not set both a target raw value and a target utilization"
            yield forbidden_field(f"{path}.target.averageValue", says)


def _metric_target(path: str, target: Object) -> Errors:
    sort = target.get("type") or ""
    if not sort:
        yield required(f"{path}.type", "must specify a metric target type")
    if sort not in ("Utilization", "Value", "AverageValue"):
        yield invalid(f"{path}.type", sort, "must be either Utilization, Value, or AverageValue")
    for key in ("value", "averageValue"):
        if (amount := target.get(key)) is not None and quantity(amount).nano <= 0:
            yield invalid(f"{path}.{key}", amount, "must be positive")
    if (share := target.get("averageUtilization")) is not None and share < 1:
        yield invalid(f"{path}.averageUtilization", share, "must be greater than 0")


class PriorityClass(BuiltIn):
    def prepare_create(self, obj: Object) -> None:
        # It has a generation, but nothing ever counts it up.
        obj["metadata"]["generation"] = 1

    def default(self, obj: Object) -> None:
        if obj.get("preemptionPolicy") is None:
            obj["preemptionPolicy"] = "PreemptLowerPriority"

    def check_create(self, obj: Object) -> Errors:
        name, value = child(obj, "metadata").get("name") or "", obj.get("value") or 0
        known = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
        if name.startswith("system-"):
            if known.get(name) != value or obj.get("globalDefault"):
                says = "priority class names with 'system-' prefix are reserved for system use only. error: "
                yield forbidden_field("metadata.name", f"{says}{name} is not a known system priority class")
        elif value > 1_000_000_000:
            yield forbidden_field("value", "maximum allowed value of a user defined priority is 1000000000")
        if (policy := obj.get("preemptionPolicy")) == "":
            yield required("preemptionPolicy")
        else:
            yield from maybe_one_of("preemptionPolicy", policy, ("PreemptLowerPriority", "Never"))

    def check_update(self, obj: Object, old: Object) -> Errors:
        if (obj.get("value") or 0) != (old.get("value") or 0):
            yield forbidden_field("value", "may not be changed in an update.")
        if obj.get("preemptionPolicy") != old.get("preemptionPolicy"):
            yield invalid("preemptionPolicy", obj.get("preemptionPolicy"), "field is immutable")
