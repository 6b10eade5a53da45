"""Rows of volumes and what provides them."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.tables.core import default_name
from tidegate.local.tables.times import Since
from tidegate.local.tables.words import NONE, UNSET, access_modes, created, name_of, part

_CLASS = "volume.beta.kubernetes.io/storage-class"


def _class_name(obj: Object) -> str:
    """The storage class; an annotation from before there was a field still wins."""
    annotations = obj["metadata"].get("annotations") or {}
    return annotations.get(_CLASS) or part(obj, "spec").get("storageClassName") or ""


def _phase(obj: Object) -> str:
    return "Terminating" if "deletionTimestamp" in obj["metadata"] else part(obj, "status").get("phase", "")


def _or_unset(spec: Object, key: str) -> str:
    return UNSET if spec.get(key) is None else spec[key]


def volume(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    claim = spec.get("claimRef")
    return [
        name_of(obj),
        part(spec, "capacity").get("storage", "0"),
        access_modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class_name(obj),
        _or_unset(spec, "volumeAttributesClassName"),
        part(obj, "status").get("reason", ""),
        since(created(obj)),
        _or_unset(spec, "volumeMode"),
    ]


def claim(obj: Object, since: Since) -> list[Any]:
    spec, status = part(obj, "spec"), part(obj, "status")
    bound = spec.get("volumeName", "")
    return [
        name_of(obj),
        _phase(obj),
        bound,
        part(status, "capacity").get("storage", "0") if bound else "",
        access_modes(status.get("accessModes")) if bound else "",
        _class_name(obj),
        _or_unset(spec, "volumeAttributesClassName"),
        since(created(obj)),
        _or_unset(spec, "volumeMode"),
    ]


def storage_class(obj: Object, since: Since) -> list[Any]:
    annotations = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
    return [
        default_name(obj, *annotations),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        obj.get("allowVolumeExpansion") or False,
        since(created(obj)),
    ]


def attributes_class(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), obj.get("driverName", ""), since(created(obj))]


def attachment(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    volume_name = part(spec, "source").get("persistentVolumeName") or ""
    attached = part(obj, "status").get("attached", False)
    return [
        name_of(obj),
        spec.get("attacher", ""),
        volume_name,
        spec.get("nodeName", ""),
        attached,
        since(created(obj)),
    ]


def csi_node(obj: Object, since: Since) -> list[Any]:
    return [name_of(obj), len(part(obj, "spec").get("drivers") or []), since(created(obj))]


def csi_driver(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    tokens = spec.get("tokenRequests")
    attach = spec.get("attachRequired")
    return [
        name_of(obj),
        True if attach is None else attach,
        spec.get("podInfoOnMount") or False,
        spec.get("storageCapacity") or False,
        UNSET if tokens is None else ",".join(token.get("audience", "") for token in tokens),
        spec.get("requiresRepublish") or False,
        ",".join(spec.get("volumeLifecycleModes") or []) or NONE,
        since(created(obj)),
    ]
