"""Deployment, ReplicaSet and ReplicationController: so many pods of one template."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds.apps.shared import (
    always_restarting_template,
    amount_of,
    count_or_share,
    not_decremented,
    selected_template,
)
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import pod_spec
from tidegate.local.kinds.rules import Errors, child, default, not_negative, unchanged

_COUNTS = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")


class _Replicated(BuiltIn):
    has_status = True
    generates_generation = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        pod_spec.default_template(spec)
        if spec.get("replicas") is None:
            spec["replicas"] = 1

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {}
        pod_spec.drop_disabled(obj["spec"]["template"]["spec"])

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        pod_spec.drop_disabled(obj["spec"]["template"]["spec"])


class ReplicaSet(_Replicated):
    def prepare_create(self, obj: Object) -> None:
        super().prepare_create(obj)
        obj["status"] = {"replicas": 0}

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from not_negative("spec", spec, "replicas", "minReadySeconds")
        yield from selected_template(spec, "deployment", "ReplicaSet")

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("spec", child(obj, "spec"), child(old, "spec"), "selector")

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from replica_counts(child(obj, "status"), *_COUNTS, "terminatingReplicas")


class Deployment(_Replicated):
    def default(self, obj: Object) -> None:
        super().default(obj)
        spec = obj["spec"]
        strategy = spec["strategy"] = spec.get("strategy") or {}
        default(strategy, type="RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            for key in ("maxUnavailable", "maxSurge"):
                rolling[key] = "25%" if rolling.get(key) is None else rolling[key]
        default(spec, revisionHistoryLimit=10, progressDeadlineSeconds=600)

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from not_negative("spec", spec, "replicas", "minReadySeconds", "revisionHistoryLimit")
        yield from selected_template(spec, "deployment", "ReplicaSet")
        yield from _rollout("spec.strategy", child(spec, "strategy"))
        yield from not_negative("spec", spec, "progressDeadlineSeconds")
        if (deadline := spec.get("progressDeadlineSeconds")) is not None and deadline <= (
            spec.get("minReadySeconds") or 0
        ):
            yield invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("spec", child(obj, "spec"), child(old, "spec"), "selector")

    def check_status(self, obj: Object, old: Object) -> Errors:
        status = child(obj, "status")
        counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
        yield from replica_counts(status, *counts, "unavailableReplicas", "terminatingReplicas", "collisionCount")
        yield from not_decremented(status, child(old, "status"), "collisionCount")


def _rollout(path: str, strategy: Object) -> Errors:
    sort, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if sort == "Recreate":
        if rolling is not None:
            says = "may not be specified when strategy `type` is 'Recreate'"
            yield forbidden_field(f"{path}.rollingUpdate", says)
    elif sort == "RollingUpdate" and rolling is not None:
        path = f"{path}.rollingUpdate"
        yield from count_or_share(path, rolling, "maxUnavailable")
        yield from count_or_share(path, rolling, "maxSurge", most=False)
        if not amount_of(rolling.get("maxUnavailable")) and not amount_of(rolling.get("maxSurge")):
            says = "may not be 0 when `maxSurge` is 0"
            yield invalid(f"{path}.maxUnavailable", rolling.get("maxUnavailable"), says)
    else:
        yield not_supported(path, strategy, ("Recreate", "RollingUpdate"))


def replica_counts(status: Object, *keys: str) -> Errors:
    yield from not_negative("status", status, *keys)
    everything = status.get("replicas") or 0
    for key in keys:
        within_all = key.endswith("Replicas") and key not in ("unavailableReplicas", "terminatingReplicas")
        if within_all and (count := status.get(key) or 0) > everything:
            yield invalid(f"status.{key}", count, "cannot be greater than status.replicas")
    if (available := status.get("availableReplicas") or 0) > (status.get("readyReplicas") or 0):
        yield invalid("status.availableReplicas", available, "cannot be greater than readyReplicas")


class ReplicationController(_Replicated):
    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("template") is None:
            default(spec, replicas=1)
            return
        super().default(obj)
        labels = child(spec, "template", "metadata").get("labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            obj["metadata"] = {**obj.get("metadata", {})}
            obj["metadata"]["labels"] = obj["metadata"].get("labels") or dict(labels)

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"replicas": 0}
        pod_spec.drop_disabled(child(obj, "spec", "template", "spec"))

    def prepare_update(self, obj: Object, old: Object) -> None:
        BuiltIn.prepare_update(self, obj, old)
        pod_spec.drop_disabled(child(obj, "spec", "template", "spec"))

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from not_negative("spec", spec, "minReadySeconds", "replicas")
        selector, template = spec.get("selector") or {}, spec.get("template")
        if template is None:
            yield from () if selector else [required("spec.selector")]
            yield required("spec.template")
            return
        labels = child(template, "metadata").get("labels") or {}
        if not selector:
            yield required("spec.selector")
        elif not selector.items() <= labels.items():
            says = "`selector` does not match template `labels`"
            yield invalid("spec.template.metadata.labels", labels, says)
        yield from always_restarting_template("spec.template", template, "ReplicationController")

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from replica_counts(child(obj, "status"), *_COUNTS)
