"""Changing cpu and memory of a running pod."""

from __future__ import annotations

import copy

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid
from tidegate.local.kinds.core import pod_annotations, resources
from tidegate.local.kinds.rules import Errors, child, items, same

_SORTS = ("containers", "initContainers")
_RESIZABLE = ("cpu", "memory")
_METADATA_OF_SPEC = ("labels", "annotations", "finalizers", "ownerReferences")


def keep_metadata(obj: Object, old: Object) -> None:
    """A door for one part of the spec leaves labels, annotations, finalizers and owners alone, and the status."""
    metadata = obj.setdefault("metadata", {})
    for key in _METADATA_OF_SPEC:
        metadata.pop(key, None)
        if key in child(old, "metadata"):
            metadata[key] = old["metadata"][key]
    obj["status"] = old.get("status", {})


def prepare(obj: Object, old: Object) -> None:
    spec, before = child(obj, "spec"), child(old, "spec")
    pairs = {sort: (spec.get(sort) or [], before.get(sort) or []) for sort in _SORTS}
    if any(len(new) != len(was) for new, was in pairs.values()):
        return
    kept = copy.deepcopy(before)
    for sort, (new, was) in pairs.items():
        if [one.get("name") for one in new] != [one.get("name") for one in was]:
            kept[sort] = new
            continue
        for target, container in zip(kept.get(sort) or (), new, strict=True):
            for key in ("resources", "resizePolicy"):
                target.pop(key, None)
                if key in container:
                    target[key] = container[key]
    kept.pop("resources", None)
    if spec.get("resources") is not None:
        kept["resources"] = spec["resources"]
    obj["spec"] = kept
    keep_metadata(obj, old)


def check(obj: Object, old: Object) -> Errors:
    spec, before = child(obj, "spec"), child(old, "spec")
    if pod_annotations.MIRROR in child(old, "metadata", "annotations"):
        yield forbidden_field("", "static pods cannot be resized")
        return
    if child(before, "os").get("name") == "windows":
        yield forbidden_field("", "windows pods cannot be resized")
        return
    qos = child(old, "status").get("qosClass") or resources.qos_class(before)
    if qos != resources.qos_class(spec):
        yield invalid("spec", qos, "Pod QOS Class may not change as a result of resizing")
    running = next(
        (s for s in child(old, "status").get("containerStatuses") or () if "running" in child(s, "state")), None
    )
    if running is not None and running.get("resources") is None:
        yield forbidden_field("spec", "Pod running on node without support for resize")
    yield from _pod_level(spec, before)
    order = list(_order(spec, before))
    yield from order
    if not order:
        yield from _containers(spec, before)


def _pod_level(spec: Object, old: Object) -> Errors:
    """Amounts for the pod as a whole: they too may grow and shrink, and not go away."""
    level, before = spec.get("resources"), old.get("resources")
    if before is None and level is None:
        return
    if level is None:
        yield forbidden_field("spec.resources", "pod-level resources cannot be removed")
        return
    for amounts in ("requests", "limits"):
        if child(old, "resources", amounts).keys() - child(spec, "resources", amounts).keys():
            yield forbidden_field(f"spec.resources.{amounts}", f"pod-level resource {amounts} cannot be removed")
    if not same(_without_resizable(spec)["resources"], _without_resizable({"resources": before or {}})["resources"]):
        yield forbidden_field("spec", "only cpu and memory resources are mutable at pod-level")


def _order(spec: Object, old: Object) -> Errors:
    for sort in _SORTS:
        new, was = spec.get(sort) or [], old.get(sort) or []
        if len(new) != len(was):
            yield forbidden_field(f"spec.{sort}", f"{sort} may not be added or removed on resize")
            continue
        for index, (container, before) in enumerate(zip(new, was, strict=True)):
            if container.get("name") != before.get("name"):
                says = f"{sort} may not be renamed or reordered on resize"
                yield forbidden_field(f"spec.{sort}[{index}].name", says)


def _containers(spec: Object, old: Object) -> Errors:
    for sort in _SORTS:
        for (at, container), before in zip(items(spec, sort, "spec"), old.get(sort) or (), strict=True):
            for amounts in ("requests", "limits"):
                if child(before, "resources", amounts).keys() - child(container, "resources", amounts).keys():
                    yield forbidden_field(f"{at}.resources.{amounts}", f"resource {amounts} cannot be removed")
            claims = child(before, "resources").get("claims")
            if claims or not same(_without_resizable(container), _without_resizable(before)):
                if sort == "containers":
                    yield forbidden_field("spec", "only cpu and memory resources are mutable")
                else:
                    says = "only cpu and memory resources for init or sidecar containers are mutable"
                    yield forbidden_field(at, says)


def _without_resizable(container: Object) -> Object:
    rest = copy.deepcopy(container)
    for amounts in ("requests", "limits"):
        for name in _RESIZABLE:
            child(rest, "resources", amounts).pop(name, None)
        if not child(rest, "resources", amounts):
            child(rest, "resources").pop(amounts, None)
    return rest
