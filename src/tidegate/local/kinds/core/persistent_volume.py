"""The kind PersistentVolume."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import remote_volumes as remote
from tidegate.local.kinds.core.claims import VOLUME_MODES, access_modes
from tidegate.local.kinds.core.resources import quantity, round_up
from tidegate.local.kinds.core.security import backsteps
from tidegate.local.kinds.core.volumes import csi_driver_name, host_path
from tidegate.local.kinds.rules import Errors, child, default, maybe_one_of, needs, same, unchanged, wrong
from tidegate.local.kinds.selectors import node_selector

_NOT_SOURCES = {
    *("capacity", "accessModes", "claimRef", "persistentVolumeReclaimPolicy", "storageClassName", "mountOptions"),
    *("volumeMode", "nodeAffinity", "volumeAttributesClassName"),
}


class PersistentVolume(BuiltIn):
    has_status = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        default(obj.setdefault("status", {}), phase="Pending")
        default(spec, persistentVolumeReclaimPolicy="Retain")
        if spec.get("volumeMode") is None:
            spec["volumeMode"] = "Filesystem"
        round_up(spec.get("capacity"))
        if (source := spec.get("hostPath")) is not None and source.get("type") is None:
            source["type"] = ""

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"phase": "Pending"}
        if now := child(obj, "metadata").get("creationTimestamp"):
            obj["status"]["lastPhaseTransitionTime"] = now

    def prepare_status_update(self, obj: Object, old: Object) -> None:
        super().prepare_status_update(obj, old)
        if since := child(old, "status").get("lastPhaseTransitionTime"):
            obj.setdefault("status", {}).setdefault("lastPhaseTransitionTime", since)

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        if not spec.get("accessModes"):
            yield required("spec.accessModes")
        yield from access_modes("spec", spec.get("accessModes") or [])
        yield from _capacity(spec.get("capacity") or {})
        policy = spec.get("persistentVolumeReclaimPolicy")
        yield from maybe_one_of("spec.persistentVolumeReclaimPolicy", policy, ("Delete", "Recycle", "Retain"))
        if (affinity := spec.get("nodeAffinity")) is not None:
            if affinity.get("required") is None:
                yield required("spec.nodeAffinity.required", "must specify required node constraints")
            else:
                yield from node_selector("spec.nodeAffinity.required", affinity["required"])
        yield from _source(spec)
        if name := spec.get("storageClassName"):
            yield from wrong("spec.storageClassName", name, names.dns_subdomain(name))
        yield from maybe_one_of("spec.volumeMode", spec.get("volumeMode"), VOLUME_MODES)
        if (attributes := spec.get("volumeAttributesClassName")) is not None:
            if not attributes:
                yield required("spec.volumeAttributesClassName", "an empty string is disallowed")
            else:
                yield from wrong("spec.volumeAttributesClassName", attributes, names.dns_subdomain(attributes))
            if spec.get("csi") is None:
                yield required("spec.csi", "has to be specified when using volumeAttributesClassName")

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from self.check(obj)  # Kubernetes judges the whole again as part of the change, and says so twice.
        spec, before = (
            {key: value for key, value in child(one, "spec").items() if key not in _NOT_SOURCES} for one in (obj, old)
        )
        if not same(spec, before):
            says = "spec.persistentvolumesource is immutable after creation"
            yield forbidden_field("spec.persistentvolumesource", says)
        yield from unchanged("", child(obj, "spec"), child(old, "spec"), "volumeMode")


def _capacity(capacity: Object) -> Errors:
    if not capacity:
        yield required("spec.capacity")
    if capacity.keys() != {"storage"}:
        yield not_supported("spec.capacity", capacity, ("storage",))
    for name, text in capacity.items():
        if quantity(text).nano < 0:
            yield invalid(f"spec.capacity[{name}]", text, "must be a valid resource quantity")
        if quantity(text).nano <= 0:
            yield invalid(f"spec.capacity[{name}]", text, "must be greater than zero")


def _source(spec: Object) -> Errors:
    chosen = False
    for sort, check in _SOURCES.items():
        if (source := spec.get(sort)) is None:
            continue
        if chosen and sort != "flexVolume":
            shown = "cephFS" if sort == "cephfs" else sort
            yield forbidden_field(f"spec.{shown}", "may not specify more than 1 volume type")
            continue
        chosen = True
        yield from check(f"spec.{'persistentDisk' if sort == 'gcePersistentDisk' else sort}", source)
        if sort == "local" and child(spec, "nodeAffinity").get("required") is None:
            yield required("spec.nodeAffinity", "Local volume requires node affinity")
    if not chosen:
        yield required("spec", "must specify a volume type")
    place = child(spec, "hostPath").get("path")
    if place and not place.strip("/.") and spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield forbidden_field("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")


def _local(path: str, source: Object) -> Errors:
    yield from needs(path, source, "path")
    yield from backsteps(f"{path}.path", source.get("path") or "")


def _csi(path: str, source: Object) -> Errors:
    yield from csi_driver_name(f"{path}.driver", source.get("driver") or "")
    yield from remote.csi_anywhere(path, source)


# In the order in which Kubernetes asks: where a volume has two sources, the first counts and the rest are refused.
_SOURCES: dict[str, remote.Check] = {
    "hostPath": host_path,
    "gcePersistentDisk": remote.disk("pdName"),
    "awsElasticBlockStore": remote.disk("volumeID"),
    "glusterfs": remote.gluster_anywhere,
    "flocker": remote.flocker,
    "nfs": remote.nfs,
    "rbd": remote.with_fields("monitors", "image"),
    "quobyte": remote.quobyte,
    "cephfs": remote.with_fields("monitors"),
    "iscsi": remote.iscsi_anywhere,
    "cinder": remote.cinder_anywhere,
    "fc": remote.fibre_channel,
    "flexVolume": remote.flex,
    "azureFile": remote.azure_file_anywhere,
    "vsphereVolume": remote.with_fields("volumePath"),
    "photonPersistentDisk": remote.with_fields("pdID"),
    "portworxVolume": remote.with_fields("volumeID"),
    "azureDisk": remote.azure_disk,
    "scaleIO": remote.with_fields("gateway", "system", "volumeName"),
    "local": _local,
    "storageos": remote.storage_os_anywhere,
    "csi": _csi,
}
