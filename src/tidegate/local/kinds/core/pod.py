"""The kind Pod: its defaults as a whole, and what each of its doors (status, resize, …) lets through."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import containers, pod_annotations, pod_resize, pod_status, pod_update, resources
from tidegate.local.kinds.core.pod_spec import (
    check_pod_spec,
    check_template,
    default_pod_spec,
    default_template,
    drop_disabled,
)
from tidegate.local.kinds.rules import Errors, child, items
from tidegate.local.kinds.strategy import Strategy

_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "lastProbeTime": None,
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


class Pod(BuiltIn):
    has_status = True
    generates_generation = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        default_pod_spec(spec)
        _default_requests(spec)
        if spec.get("enableServiceLinks") is None:
            spec["enableServiceLinks"] = True
        if spec.get("hostNetwork"):
            for sort in ("containers", "initContainers"):
                for container in spec.get(sort) or ():
                    for port in container.get("ports") or ():
                        port["hostPort"] = port.get("hostPort") or port.get("containerPort")
        if spec["terminationGracePeriodSeconds"] < 0:
            spec["terminationGracePeriodSeconds"] = 1

    def prepare_create(self, obj: Object) -> None:
        spec = obj["spec"]
        obj["status"] = {"phase": "Pending", "qosClass": resources.qos_class(spec)}
        drop_disabled(spec)
        if spec.get("schedulingGates"):
            obj["status"]["conditions"] = [
                _GATED | {"lastTransitionTime": child(obj, "metadata").get("creationTimestamp")}
            ]
        _merge_label_keys(spec, child(obj, "metadata").get("labels") or {})

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        drop_disabled(obj["spec"])

    def prepare_status_update(self, obj: Object, old: Object) -> None:
        super().prepare_status_update(obj, old)
        pod_status.prepare(obj, old)

    def check(self, obj: Object) -> Errors:
        metadata, spec = child(obj, "metadata"), child(obj, "spec")
        yield from pod_annotations.check("metadata.annotations", metadata.get("annotations") or {}, spec)
        # Only claims that are made for a pod are named after it; other specs are judged alike whatever its name.
        claims = any("ephemeral" in volume for volume in spec.get("volumes") or ())
        yield from check_pod_spec("spec", spec, (claims and metadata.get("name")) or "")
        if not spec.get("serviceAccountName"):
            for at, volume in items(spec, "volumes", "spec"):
                for source_at, source in items(child(volume, "projected"), "sources", f"{at}.projected"):
                    if source.get("serviceAccountToken") is not None:
                        says = "must not be specified when serviceAccountName is not set"
                        yield forbidden_field(f"{source_at}.serviceAccountToken", says)
        for sort in containers.SORTS[:2]:
            for at, container in items(spec, sort, "spec"):
                yield from containers.padded_image(at, container)

    def check_create(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        if spec.get("ephemeralContainers"):
            yield forbidden_field("spec.ephemeralContainers", "cannot be set on create")
        if spec.get("nodeName") and spec.get("schedulingGates"):
            yield forbidden_field("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
        yield from pod_annotations.match_profiles("spec", child(obj, "metadata").get("annotations") or {}, spec)

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from pod_annotations.check_update(*(child(one, "metadata", "annotations") for one in (obj, old)))
        yield from pod_update.check(child(obj, "spec"), child(old, "spec"))

    def check_status(self, obj: Object, old: Object) -> Errors:
        yield from pod_annotations.check_update(*(child(one, "metadata", "annotations") for one in (obj, old)))
        yield from pod_status.check(obj, old)

    def subresource(self, name: str) -> Strategy | None:
        return {"ephemeralcontainers": EphemeralContainers(), "resize": Resize()}.get(name)


def _default_requests(spec: Object) -> None:
    """Who limits without asking, asks for the limit."""
    for sort in ("containers", "initContainers"):
        for container in spec.get(sort) or ():
            if limits := child(container, "resources").get("limits"):
                container["resources"]["requests"] = limits | (container["resources"].get("requests") or {})
    level = spec.get("resources")
    if not level or not (level.get("limits") or level.get("requests")):
        return
    limits, requests = dict(level.get("limits") or {}), dict(level.get("requests") or {})
    for name, total in resources.aggregate(spec, "limits").items():
        if name.startswith(resources.HUGE) and name not in requests:
            limits.setdefault(name, str(total))
    if limits:
        level["limits"] = limits
        for name, total in resources.aggregate(spec, "requests").items():
            if name in resources.POD_LEVEL:
                requests.setdefault(name, str(total))
        for name, text in limits.items():
            if name in resources.POD_LEVEL or name.startswith(resources.HUGE):
                requests.setdefault(name, text)
    if requests:
        level["requests"] = requests


def _merge_label_keys(spec: Object, labels: Object) -> None:
    """Label keys become part of the selector beside them, with this pod's own values."""
    terms = list(spec.get("topologySpreadConstraints") or ())
    for sort in ("podAffinity", "podAntiAffinity"):
        near = child(spec, "affinity", sort)
        terms += [
            child(term, "podAffinityTerm") for term in near.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ]
        terms += near.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
    for term in terms:
        if (selector := term.get("labelSelector")) is None:
            continue
        for keys, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
            for key in term.get(keys) or ():
                if key in labels:
                    requirement = {"key": key, "operator": operator, "values": [labels[key]]}
                    selector.setdefault("matchExpressions", []).append(requirement)


class EphemeralContainers(Pod):
    """The door that adds containers for looking around, and nothing else."""

    def prepare_update(self, obj: Object, old: Object) -> None:
        added = child(obj, "spec").get("ephemeralContainers")
        spec = {key: value for key, value in old["spec"].items() if key != "ephemeralContainers"}
        obj["spec"] = spec | {"ephemeralContainers": added} if added else spec
        pod_resize.keep_metadata(obj, old)

    def check_update(self, obj: Object, old: Object) -> Errors:
        if pod_annotations.MIRROR in child(old, "metadata", "annotations"):
            yield forbidden_field("", "static pods do not support ephemeral containers")
            return
        yield from pod_update.check_ephemeral(child(obj, "spec"), child(old, "spec"))


class Resize(Pod):
    """The door that changes cpu and memory of a running pod, and nothing else."""

    def prepare_update(self, obj: Object, old: Object) -> None:
        pod_resize.prepare(obj, old)

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from pod_resize.check(obj, old)


class PodTemplate(BuiltIn):
    generates_generation = True

    def default(self, obj: Object) -> None:
        default_template(obj)

    def prepare_create(self, obj: Object) -> None:
        drop_disabled(obj["template"]["spec"])

    def prepare_update(self, obj: Object, old: Object) -> None:
        drop_disabled(obj["template"]["spec"])

    def check(self, obj: Object) -> Errors:
        yield from check_template("template", child(obj, "template"))
