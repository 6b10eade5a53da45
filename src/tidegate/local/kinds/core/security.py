"""Security contexts of pods and containers."""

from __future__ import annotations

import re
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, not_supported, required, too_long
from tidegate.local.kinds.core import windows
from tidegate.local.kinds.rules import MOST_INT32, Errors, items, maybe_one_of, within

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL = re.compile(r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$")
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")


def backsteps(path: str, target: str) -> Errors:
    if ".." in target.split("/"):
        yield invalid(path, target, "must not contain '..'")


def relative_path(path: str, target: str) -> Errors:
    if target.startswith("/"):
        yield invalid(path, target, "must be a relative path")
    yield from backsteps(path, target)


def pod(path: str, context: Object, spec: Object) -> Errors:
    for key in ("fsGroup", "runAsUser", "runAsGroup"):
        yield from within(f"{path}.{key}", context.get(key), 0, MOST_INT32)
    for at, group in items(context, "supplementalGroups", path):
        yield from within(at, group, 0, MOST_INT32)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        yield invalid(f"{path}.shareProcessNamespace", True, "ShareProcessNamespace and HostPID cannot both be enabled")
    yield from _sysctls(path, context, spec)
    yield from maybe_one_of(
        f"{path}.fsGroupChangePolicy", context.get("fsGroupChangePolicy"), ("Always", "OnRootMismatch")
    )
    yield from _profiles(path, context)
    yield from maybe_one_of(
        f"{path}.supplementalGroupsPolicy", context.get("supplementalGroupsPolicy"), ("Merge", "Strict")
    )
    yield from maybe_one_of(f"{path}.seLinuxChangePolicy", context.get("seLinuxChangePolicy"), ("Recursive",))
    yield from windows.check_options(path, context)


def _sysctls(path: str, context: Object, spec: Object) -> Errors:
    seen = set()
    for at, sysctl in items(context, "sysctls", path):
        name = sysctl.get("name") or ""
        if not name:
            yield required(f"{at}.name")
        elif len(name) > 253 or not _SYSCTL.match(name):
            yield invalid(f"{at}.name", name, f"must have at most 253 characters and match regex {_SYSCTL.pattern}")
        elif name in seen:
            yield duplicate(f"{at}.name", name)
        seen.add(name)
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            yield invalid(f"{at}.name", name, "may not be specified when 'hostNetwork' is true")
        elif spec.get("hostIPC") and dotted.startswith(_IPC_SYSCTLS):
            yield invalid(f"{at}.name", name, "may not be specified when 'hostIPC' is true")


def container(path: str, context: Object, host_users: bool) -> Errors:
    for key in ("runAsUser", "runAsGroup"):
        yield from within(f"{path}.{key}", context.get(key), 0, MOST_INT32)
    mount = context.get("procMount")
    yield from maybe_one_of(f"{path}.procMount", mount, ("Default", "Unmasked"))
    if mount == "Unmasked" and host_users:
        yield invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            says = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            yield invalid(path, context, says)
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            says = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, context, says)
    yield from _profiles(path, context)
    yield from windows.check_options(path, context)


def _profiles(path: str, context: Object) -> Errors:
    if (profile := context.get("seccompProfile")) is not None:
        yield from _seccomp(f"{path}.seccompProfile", profile)
    if (profile := context.get("appArmorProfile")) is not None:
        yield from _app_armor(f"{path}.appArmorProfile", profile)


def _profile_type(path: str, sort: str | None, field: str) -> Errors:
    if not sort:
        yield required(f"{path}.type", f"type is required when {field} is set")
    elif sort not in _PROFILES:
        yield not_supported(f"{path}.type", sort, _PROFILES)


def _seccomp(path: str, profile: Object) -> Errors:
    yield from _profile_type(path, profile.get("type"), "seccompProfile")
    local: Any = profile.get("localhostProfile")
    if profile.get("type") != "Localhost":
        if local is not None:
            yield invalid(f"{path}.localhostProfile", profile, "can only be set when seccomp type is Localhost")
    elif local is None:
        yield required(f"{path}.localhostProfile", "must be set when seccomp type is Localhost")
    else:
        yield from relative_path(f"{path}.localhostProfile", local)


def _app_armor(path: str, profile: Object) -> Errors:
    yield from _profile_type(path, profile.get("type"), "appArmorProfile")
    local: Any = profile.get("localhostProfile")
    if profile.get("type") in ("RuntimeDefault", "Unconfined"):
        if local is not None:
            yield invalid(f"{path}.localhostProfile", local, "can only be set when AppArmor type is Localhost")
    elif profile.get("type") == "Localhost":
        if not local:
            yield required(f"{path}.localhostProfile", "must be set when AppArmor type is Localhost")
        elif local != local.strip():
            yield invalid(f"{path}.localhostProfile", local, "must not be padded with whitespace")
        if local and len(local.encode()) > 4095:
            yield too_long(f"{path}.localhostProfile", 4095)


def host_users(path: str, spec: Object) -> Errors:
    """What a pod with its own user namespace may not have."""
    if spec.get("hostUsers") is not False:
        return
    for key, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(key):
            yield forbidden_field(f"{path}.{shown}", "when `hostUsers` is false")
    for sort in ("initContainers", "containers", "ephemeralContainers"):
        for at, one in items(spec, sort, path):
            if one.get("volumeDevices"):
                yield forbidden_field(f"{at}.volumeDevices", "when `hostUsers` is false")
