"""The mounts and devices by which containers use the volumes of their pod."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import field_not_found, forbidden_field, invalid
from tidegate.local.kinds.core.security import relative_path
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, needs

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")


def check_mounts(path: str, container: Object, volumes: Mapping[str, Any]) -> Errors:
    devices = {device.get("name"): device.get("devicePath") for device in container.get("volumeDevices") or ()}
    seen = set()
    for at, mount in items(container, "volumeMounts", path):
        name, target = mount.get("name") or "", mount.get("mountPath") or ""
        yield from needs(at, mount, "name")
        if name not in volumes:
            yield field_not_found(f"{at}.name", name)
        yield from needs(at, mount, "mountPath")
        if target in seen:
            yield invalid(f"{at}.mountPath", target, "must be unique")
        seen.add(target)
        if name in devices:
            yield invalid(f"{at}.name", name, "must not already exist in volumeDevices")
        if target in devices.values():
            yield invalid(f"{at}.mountPath", target, "must not already exist as a path in volumeDevices")
        yield from _mount_options(at, f"{path}.volumeMounts", mount, container)


def _mount_options(at: str, path: str, mount: Object, container: Object) -> Errors:
    below, expression = mount.get("subPath"), mount.get("subPathExpr")
    if below:
        yield from relative_path(f"{path}.subPath", below)
    if expression:
        if below:
            yield invalid(f"{at}.subPathExpr", expression, "subPathExpr and subPath are mutually exclusive")
        yield from relative_path(f"{path}.subPathExpr", expression)
    propagation = mount.get("mountPropagation")
    yield from maybe_one_of(f"{path}.mountPropagation", propagation, _PROPAGATIONS)
    if propagation == "Bidirectional" and not child(container, "securityContext").get("privileged"):
        says = "Bidirectional mount propagation is available only to privileged containers"
        yield forbidden_field(f"{path}.mountPropagation", says)
    recursive = mount.get("recursiveReadOnly")
    yield from maybe_one_of(f"{path}.recursiveReadOnly", recursive, ("Disabled", "Enabled", "IfPossible"))
    if recursive in ("Enabled", "IfPossible"):
        if not mount.get("readOnly"):
            yield forbidden_field(f"{path}.recursiveReadOnly", "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            says = "may only be specified when mountPropagation is None or not specified"
            yield forbidden_field(f"{path}.recursiveReadOnly", says)


def check_devices(path: str, container: Object, volumes: Mapping[str, Any]) -> Errors:
    mounts = {mount.get("name"): mount.get("mountPath") for mount in container.get("volumeMounts") or ()}
    seen_paths: set[str] = set()
    seen_names: set[str] = set()
    for at, device in items(container, "volumeDevices", path):
        name, target = device.get("name") or "", device.get("devicePath") or ""
        yield from needs(at, device, "name")
        if name in seen_names:
            yield invalid(f"{at}.name", name, "must be unique")
        if name not in volumes:
            yield field_not_found(f"{at}.name", name)
        elif not {"persistentVolumeClaim", "ephemeral"} & volumes[name].keys():
            says = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            yield invalid(f"{at}.name", name, says)
        yield from needs(at, device, "devicePath")
        if target in seen_paths:
            yield invalid(f"{at}.devicePath", target, "must be unique")
        if ".." in target.split("/"):
            yield invalid(f"{at}.devicePath", target, "can not contain backsteps ('..')")
        seen_paths.add(target)
        if name in mounts:
            yield invalid(f"{at}.name", name, "must not already exist in volumeMounts")
        if target in mounts.values():
            yield invalid(f"{at}.devicePath", target, "must not already exist as a path in volumeMounts")
        seen_names.add(name)
