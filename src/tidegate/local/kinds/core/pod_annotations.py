"""Annotations that mean something to pods: static mirrors, deletion cost, and profiles from before the fields."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid
from tidegate.local.kinds.core.security import relative_path
from tidegate.local.kinds.rules import Errors, child, items

MIRROR = "kubernetes.io/config.mirror"
_COST = "controller.kubernetes.io/pod-deletion-cost"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_TYPES = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default", "docker/default")}


def check(path: str, annotations: Mapping[str, str], spec: Object) -> Errors:
    if not annotations:
        return
    if MIRROR in annotations and not spec.get("nodeName"):
        says = "must set spec.nodeName if mirror pod annotation is set"
        yield invalid(f"{path}[{MIRROR}]", annotations[MIRROR], says)
    if (cost := annotations.get(_COST)) is not None and not _is_int32(cost):
        yield invalid(f"{path}[{_COST}]", cost, "must be a 32bit integer")
    known = {one.get("name") for sort in ("containers", "initContainers") for one in spec.get(sort) or ()}
    for key, value in annotations.items():
        if key == _SECCOMP_POD or key.startswith(_SECCOMP_CONTAINER):
            yield from _seccomp(f"{path}.{key}", value)
        elif key.startswith(_APP_ARMOR):
            if (name := key.removeprefix(_APP_ARMOR)) not in known:
                yield invalid(f"{path}[{key}]", name, "container not found")
            if value not in ("", "runtime/default", "unconfined") and not value.startswith("localhost/"):
                yield invalid(f"{path}[{key}]", value, f'invalid AppArmor profile name: "{value}"')


def _is_int32(text: str) -> bool:
    return bool(re.fullmatch(r"-?(0|[1-9][0-9]*)", text)) and -(2**31) <= int(text) < 2**31


def _seccomp(path: str, profile: str) -> Errors:
    if profile.startswith("localhost/"):
        yield from relative_path(path, profile.removeprefix("localhost/"))
    elif profile not in ("runtime/default", "docker/default", "unconfined"):
        yield invalid(path, profile, "must be a valid seccomp profile")


def match_profiles(path: str, annotations: Mapping[str, str], spec: Object) -> Errors:
    """A seccomp profile said both ways must be the same."""
    if not annotations:
        return
    owners = [(path, spec, _SECCOMP_POD)]
    for sort in ("initContainers", "containers"):
        owners += [(at, one, _SECCOMP_CONTAINER + (one.get("name") or "")) for at, one in items(spec, sort, path)]
    for at, owner, key in owners:
        profile = child(owner, "securityContext").get("seccompProfile")
        said = annotations.get(key)
        if profile is None or said is None:
            continue
        at = f"{at}.securityContext.seccompProfile"  # noqa: PLW2901
        sort = profile.get("type")
        local = sort == "Localhost"
        if said not in _SECCOMP_TYPES.get(sort, (said,)) or (local and not said.startswith("localhost/")):
            yield forbidden_field(f"{at}.type", "seccomp type in annotation and field must match")
        elif local and said.removeprefix("localhost/") != profile.get("localhostProfile"):
            yield forbidden_field(f"{at}.localhostProfile", "seccomp profile in annotation and field must match")


def check_update(annotations: Mapping[str, str], old: Mapping[str, str]) -> Errors:
    path = "metadata.annotations"
    for key in sorted(annotations.keys() | old.keys()):
        if annotations.get(key) == old.get(key):
            continue
        verb = "remove or update" if key in old else "add"
        if key.startswith(_APP_ARMOR):
            yield forbidden_field(f"{path}[{key}]", f"may not {verb} AppArmor annotations")
        elif key == MIRROR:
            yield forbidden_field(f"{path}[{key}]", f"may not {verb} mirror pod annotation")
