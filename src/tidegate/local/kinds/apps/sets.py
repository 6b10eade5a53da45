"""StatefulSet, DaemonSet and the revisions they keep."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.apps.replicas import replica_counts
from tidegate.local.kinds.apps.shared import (
    always_restarting_template,
    amount_of,
    count_or_share,
    not_decremented,
    selected_template,
)
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import pod_spec
from tidegate.local.kinds.core.claims import check_claim_spec, default_claim_spec
from tidegate.local.kinds.metadata import check_annotations, check_labels
from tidegate.local.kinds.rules import Errors, child, default, items, maybe_one_of, not_negative, same, unchanged, wrong
from tidegate.local.kinds.selectors import label_selector, matches

_MAY_CHANGE = (
    *("replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "revisionHistoryLimit"),
    "persistentVolumeClaimRetentionPolicy",
)
_FORBIDDEN = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_RETENTIONS = ("Retain", "Delete")


class StatefulSet(BuiltIn):
    has_status = True
    generates_generation = True
    name_form = staticmethod(names.dns_label)

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        pod_spec.default_template(spec)
        default(spec, podManagementPolicy="OrderedReady", replicas=1, revisionHistoryLimit=10)
        strategy = spec["updateStrategy"] = spec.get("updateStrategy") or {}
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
        if strategy["type"] == "RollingUpdate" and (rolling := strategy.get("rollingUpdate")) is not None:
            rolling["partition"] = rolling.get("partition") or 0
        retention = spec["persistentVolumeClaimRetentionPolicy"] = (
            spec.get("persistentVolumeClaimRetentionPolicy") or {}
        )
        default(retention, whenDeleted="Retain", whenScaled="Retain")
        for claim in spec.get("volumeClaimTemplates") or ():
            # A template is a whole claim, and is shown as one.
            claim |= {"kind": "PersistentVolumeClaim", "apiVersion": "v1"}
            default_claim_spec(claim.setdefault("spec", {}))
            default(claim.setdefault("status", {}), phase="Pending")

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"replicas": 0, "availableReplicas": 0}
        self._drop(obj["spec"])

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        self._drop(obj["spec"])

    def _drop(self, spec: Object) -> None:
        """Drops what is behind feature gates that are off."""
        pod_spec.drop_disabled(spec["template"]["spec"])
        child(spec, "updateStrategy", "rollingUpdate").pop("maxUnavailable", None)

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        policy = spec.get("podManagementPolicy")
        if policy not in ("OrderedReady", "Parallel"):
            yield invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
        yield from _stateful_strategy(child(spec, "updateStrategy"))
        retention = child(spec, "persistentVolumeClaimRetentionPolicy")
        for key in ("whenDeleted", "whenScaled"):
            path = f"spec.persistentVolumeClaimRetentionPolicy.{key}"
            yield from maybe_one_of(path, retention.get(key), _RETENTIONS)
        yield from not_negative("spec", spec, "replicas", "minReadySeconds")
        if (start := child(spec, "ordinals").get("start") or 0) < 0:
            yield invalid("spec.ordinals.start", start, "must be greater than or equal to 0")
        yield from selected_template(spec, "statefulset", "StatefulSet", _template_with_claims(spec))
        metadata = child(spec, "template", "metadata")  # Judged twice, as Kubernetes does.
        yield from check_labels("spec.template.labels", metadata.get("labels") or {})
        yield from check_annotations("spec.template.annotations", metadata.get("annotations") or {})

    def check_create(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        for at, claim in items(spec, "volumeClaimTemplates", "spec"):
            yield from check_claim_spec(f"{at}.spec", child(claim, "spec"))
        if name := spec.get("serviceName"):
            yield from wrong("spec.serviceName", name, names.dns_label(name))

    def check_update(self, obj: Object, old: Object) -> Errors:
        spec, before = (
            {key: value for key, value in child(one, "spec").items() if key not in _MAY_CHANGE} for one in (obj, old)
        )
        if not same(spec, before):
            yield forbidden_field("spec", _FORBIDDEN)

    def check_status(self, obj: Object, old: Object) -> Errors:
        status = child(obj, "status")
        counts = ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
        yield from replica_counts(status, *counts, "observedGeneration", "collisionCount")
        yield from not_decremented(status, child(old, "status"), "collisionCount")


def _stateful_strategy(strategy: Object) -> Errors:
    path, sort, rolling = "spec.updateStrategy", strategy.get("type"), strategy.get("rollingUpdate")
    if sort == "OnDelete":
        if rolling is not None:
            says = "only allowed for updateStrategy 'RollingUpdate'"
            yield invalid(f"{path}.rollingUpdate", rolling, says)
    elif sort != "RollingUpdate":
        yield invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'")
    elif rolling is not None:
        yield from not_negative(f"{path}.rollingUpdate", rolling, "partition")


def _template_with_claims(spec: Object) -> Object:
    """The template as its pods will be: with a volume for each claim, and names that the set gives."""
    template = dict(child(spec, "template"))
    claims: list[str] = [child(claim, "metadata").get("name") or "" for claim in spec.get("volumeClaimTemplates") or ()]
    pod = {key: value for key, value in child(template, "spec").items() if key not in ("hostname", "subdomain")}
    if claims:
        made: list[Any] = [
            {"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(claims)
        ]
        pod["volumes"] = made + [one for one in pod.get("volumes") or () if one.get("name") not in claims]
    template["spec"] = pod
    return template


class DaemonSet(BuiltIn):
    has_status = True
    generates_generation = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        pod_spec.default_template(spec)
        strategy = spec["updateStrategy"] = spec.get("updateStrategy") or {}
        default(strategy, type="RollingUpdate")
        if strategy["type"] == "RollingUpdate":
            rolling = strategy["rollingUpdate"] = strategy.get("rollingUpdate") or {}
            for key, value in (("maxUnavailable", 1), ("maxSurge", 0)):
                rolling[key] = value if rolling.get(key) is None else rolling[key]
        default(spec, revisionHistoryLimit=10)
        metadata = obj.setdefault("metadata", {})
        metadata["annotations"] = {_TEMPLATE_GENERATION: "0"} | (metadata.get("annotations") or {})

    def prepare_create(self, obj: Object) -> None:
        counts = ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady")
        obj["status"] = dict.fromkeys(counts, 0)
        pod_spec.drop_disabled(obj["spec"]["template"]["spec"])
        annotations = child(obj, "metadata").get("annotations") or {}
        obj["metadata"]["annotations"] = annotations | {_TEMPLATE_GENERATION: "1"}

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        pod_spec.drop_disabled(obj["spec"]["template"]["spec"])
        generation = int(child(old, "metadata", "annotations").get(_TEMPLATE_GENERATION) or "0")
        if not same(obj["spec"]["template"], child(old, "spec", "template")):
            generation += 1
        annotations = child(obj, "metadata").get("annotations") or {}
        obj["metadata"]["annotations"] = annotations | {_TEMPLATE_GENERATION: str(generation)}

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        selector, template = spec.get("selector"), child(spec, "template")
        yield from label_selector("spec.selector", selector)
        labels = child(template, "metadata").get("labels") or {}
        if matches(selector, labels) is False:
            says = "`selector` does not match template `labels`"
            yield invalid("spec.template.metadata.labels", labels, says)
        if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid("spec.selector", selector, "empty selector is invalid for daemonset")
        yield from always_restarting_template("spec.template", template, "DaemonSet")
        yield from not_negative("spec", spec, "minReadySeconds", "revisionHistoryLimit")
        yield from _daemon_strategy(child(spec, "updateStrategy"))

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("spec", child(obj, "spec"), child(old, "spec"), "selector")

    def check_status(self, obj: Object, old: Object) -> Errors:
        status = child(obj, "status")
        yield from not_negative("status", status, *_DAEMON_COUNTS)
        yield from not_decremented(status, child(old, "status"), "collisionCount")


_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_DAEMON_COUNTS = (
    *("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration"),
    *("updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"),
)


def _daemon_strategy(strategy: Object) -> Errors:
    path, sort = "spec.updateStrategy", strategy.get("type")
    if sort == "OnDelete":
        return
    if sort != "RollingUpdate":
        yield not_supported(path, strategy, ("RollingUpdate", "OnDelete"))
        return
    rolling, path = child(strategy, "rollingUpdate"), f"{path}.rollingUpdate"
    for key in ("maxUnavailable", "maxSurge"):
        yield from count_or_share(path, rolling, key)
    unavailable, surge = amount_of(rolling.get("maxUnavailable")), amount_of(rolling.get("maxSurge"))
    if unavailable and surge:
        yield invalid(f"{path}.maxSurge", rolling.get("maxSurge"), "may not be set when maxUnavailable is non-zero")
    elif not unavailable and not surge:
        yield required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0")


class ControllerRevision(BuiltIn):
    def check(self, obj: Object) -> Errors:
        if (revision := obj.get("revision") or 0) < 0:
            yield invalid("revision", revision, "must be greater than or equal to 0")

    def check_create(self, obj: Object) -> Errors:
        if (data := obj.get("data")) is None:
            yield required("data", "data is mandatory")
        elif not isinstance(data, dict):
            yield required("data", "data must be a valid JSON object")

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("", obj, old, "data")
