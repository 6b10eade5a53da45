"""The containers of a pod: ordinary ones, those that run first, and those added for looking around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.errors import (
    duplicate,
    field_not_found,
    forbidden_field,
    invalid,
    not_supported,
    required,
    too_many,
)
from tidegate.local.kinds import names
from tidegate.local.kinds.core import downward, handlers, resources, security
from tidegate.local.kinds.core.mounts import check_devices, check_mounts
from tidegate.local.kinds.core.volumes import PULL_POLICIES, image_pull_policy
from tidegate.local.kinds.rules import Errors, child, items, name_of, needs, one_of, wrong

SORTS = ("containers", "initContainers", "ephemeralContainers")
PROTOCOLS = ("SCTP", "TCP", "UDP")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
_ENV_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
_RULES_ALONE = "must specify restartPolicy when restart rules are used"
_NOT_INIT = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL = ("lifecycle", *handlers.PROBES, "restartPolicy")
_EMPTY_IF_EPHEMERAL = ("ports", "resources", "resizePolicy", "restartPolicyRules")


@dataclass(frozen=True, slots=True)
class PodContext:
    """What containers need to know of their pod."""

    volumes: Mapping[str, Any]
    claims: frozenset[str]
    grace_s: int | None
    restart_policy: str
    host_users: bool


def default_container(container: Object) -> None:
    container["imagePullPolicy"] = container.get("imagePullPolicy") or image_pull_policy(container.get("image") or "")
    container["terminationMessagePath"] = container.get("terminationMessagePath") or "/dev/termination-log"
    container["terminationMessagePolicy"] = container.get("terminationMessagePolicy") or "File"
    for port in container.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        downward.default_field_ref(source.get("fieldRef"))
        if (file := source.get("fileKeyRef")) is not None and file.get("optional") is None:
            file["optional"] = False
    for sort in ("limits", "requests"):
        resources.round_up(child(container, "resources").get(sort))
    for sort in handlers.PROBES:
        if (probe := container.get(sort)) is not None:
            handlers.default_probe(probe)
    for hook in ("postStart", "preStop"):
        handlers.default_handler(child(container, "lifecycle", hook))


def drop_disabled(container: Object) -> None:
    """A stop signal is behind a feature gate that is off: it is forgotten, not refused."""
    lifecycle = container.get("lifecycle")
    if lifecycle and lifecycle.pop("stopSignal", None) is not None and not lifecycle:
        del container["lifecycle"]


def check_containers(path: str, spec: Object, pod: PodContext) -> Errors:
    if not spec.get("containers"):
        yield required(f"{path}.containers")
    seen: set[str] = set()
    host_ports: set[str] = set()
    for at, container in items(spec, "containers", path):
        yield from _common(at, container, pod)
        yield from _new_name(at, container, seen)
        if (lifecycle := container.get("lifecycle")) is not None:
            yield from handlers.lifecycle(f"{at}.lifecycle", lifecycle, pod.grace_s)
        yield from handlers.probes(at, container, pod.grace_s)
        yield from _restarts(at, container)
        yield from _host_ports(at, container, host_ports)


def check_init_containers(path: str, spec: Object, pod: PodContext) -> Errors:
    seen = {container.get("name") or "" for container in spec.get("containers") or ()}
    for at, container in items(spec, "initContainers", path):
        yield from _common(at, container, pod)
        if container.get("restartPolicy") is not None:
            yield from _restarts(at, container)
        elif container.get("restartPolicyRules"):
            yield required(f"{at}.restartPolicy", _RULES_ALONE)
        if container.get("name"):
            yield from _new_name(at, container, seen)
        yield from _host_ports(f"{path}.initContainers[0]", container, set())
        sidecar = container.get("restartPolicy") == "Always"
        if sidecar:
            if (lifecycle := container.get("lifecycle")) is not None:
                yield from handlers.lifecycle(f"{at}.lifecycle", lifecycle, pod.grace_s)
            yield from handlers.probes(at, container, pod.grace_s)
            continue
        for key in ("lifecycle", *handlers.PROBES):
            if container.get(key) is not None:
                yield forbidden_field(f"{at}.{key}", _NOT_INIT)
        for policy_at, policy in items(container, "resizePolicy", at):
            if policy.get("restartPolicy") == "RestartContainer":
                says = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                yield invalid(f"{policy_at}.restartPolicy", "RestartContainer", says)


def check_ephemeral_containers(path: str, spec: Object, pod: PodContext) -> Errors:
    others = {container.get("name") or "" for sort in SORTS[:2] for container in spec.get(sort) or ()}
    seen = set(others)
    for at, container in items(spec, "ephemeralContainers", path):
        yield from _common(at, container, pod)
        yield from padded_image(at, container)
        yield from _new_name(at, container, seen)
        target = container.get("targetContainerName")
        if target and target not in others:
            yield field_not_found(f"{at}.targetContainerName", target)
        refused = [key for key in _NOT_EPHEMERAL if container.get(key) is not None]
        for key in [*refused, *(key for key in _EMPTY_IF_EPHEMERAL if container.get(key))]:
            yield forbidden_field(f"{at}.{key}", "cannot be set for an Ephemeral Container")
        for mount_at, mount in items(container, "volumeMounts", at):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    yield forbidden_field(f"{mount_at}.{key}", "cannot be set for an Ephemeral Container")


def padded_image(path: str, container: Object) -> Errors:
    image = container.get("image") or ""
    if image != image.strip():
        yield invalid(f"{path}.image", image, "must not have leading or trailing whitespace")


def _new_name(path: str, container: Object, seen: set[str]) -> Errors:
    name = container.get("name") or ""
    if name in seen:
        yield duplicate(f"{path}.name", name)
    seen.add(name)


def _common(path: str, container: Object, pod: PodContext) -> Errors:
    yield from name_of(f"{path}.name", container.get("name") or "")
    yield from needs(path, container, "image")
    yield from one_of(
        f"{path}.terminationMessagePolicy",
        container.get("terminationMessagePolicy"),
        ("File", "FallbackToLogsOnError"),
    )
    yield from _ports(path, container)
    yield from _env(path, container)
    yield from _env_from(path, container)
    yield from check_mounts(path, container, pod.volumes)
    yield from check_devices(path, container, pod.volumes)
    yield from one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), PULL_POLICIES)
    yield from resources.requirements(f"{path}.resources", child(container, "resources"), pod.claims)
    yield from _resize_policies(path, container, pod.restart_policy)
    if (context := container.get("securityContext")) is not None:
        yield from security.container(f"{path}.securityContext", context, pod.host_users)


def _ports(path: str, container: Object) -> Errors:
    seen: set[str] = set()
    for at, port in items(container, "ports", path):
        if name := port.get("name"):
            if messages := names.port_name(name):
                yield from wrong(f"{at}.name", name, messages)
            elif name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
        number = port.get("containerPort") or 0
        if not number:
            yield required(f"{at}.containerPort")
        else:
            yield from wrong(f"{at}.containerPort", number, names.port_number(number))
        if host := port.get("hostPort"):
            yield from wrong(f"{at}.hostPort", host, names.port_number(host))
        yield from one_of(f"{at}.protocol", port.get("protocol"), PROTOCOLS)


def _host_ports(path: str, container: Object, taken: set[str]) -> Errors:
    for at, port in items(container, "ports", path):
        if number := port.get("hostPort"):
            key = f"{port.get('protocol')}/{port.get('hostIP') or ''}/{number}"
            if key in taken:
                yield duplicate(f"{at}.hostPort", key)
            taken.add(key)


def _env(path: str, container: Object) -> Errors:
    for at, variable in items(container, "env", path):
        yield from name_of(f"{at}.name", variable.get("name") or "", names.env_var_name)
        if (source := variable.get("valueFrom")) is not None:
            yield from _env_source(f"{at}.valueFrom", source, variable.get("value") or "")


def _env_source(path: str, source: Object, value: str) -> Errors:
    chosen = [key for key in _ENV_SOURCES if source.get(key) is not None]
    for key in chosen:
        at, ref = f"{path}.{key}", source[key]
        if key == "fieldRef":
            yield from downward.field_ref(at, ref)
        elif key == "resourceFieldRef":
            yield from downward.resource_field_ref(at, ref)
        elif key == "fileKeyRef":
            yield from name_of(f"{at}.key", ref.get("key") or "", names.env_var_name)
            yield from name_of(f"{at}.volumeName", ref.get("volumeName") or "")
            yield from needs(at, ref, "path")
            yield from security.backsteps(f"{at}.path", ref.get("path") or "")
        else:
            yield from wrong(f"{at}.name", ref.get("name") or "", names.dns_subdomain(ref.get("name") or ""))
            yield from name_of(f"{at}.key", ref.get("key") or "", names.config_key)
    if not chosen:
        listed = ", ".join(f"`{key}`" for key in _ENV_SOURCES[:-1])
        yield invalid(path, "", f"must specify one of: {listed} or `fileKeyRef`")
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(chosen) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def _env_from(path: str, container: Object) -> Errors:
    for at, source in items(container, "envFrom", path):
        if prefix := source.get("prefix"):
            yield from wrong(f"{at}.prefix", prefix, names.env_var_name(prefix))
        chosen = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        for key in chosen:
            name = source[key].get("name") or ""
            masked = name[:-2] + "a" if len(name) > 1 and name.endswith("-") else name
            yield from name_of(f"{at}.{key}.name", masked, names.dns_subdomain)
        if not chosen:
            yield invalid(f"{path}.envFrom", "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(chosen) > 1:
            yield invalid(f"{path}.envFrom", "", "may not have more than one field specified at a time")


def _resize_policies(path: str, container: Object, restart_policy: str) -> Errors:
    at = f"{path}.resizePolicy"
    seen: set[str] = set()
    for index, policy in enumerate(container.get("resizePolicy") or ()):
        name, restart = policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if name in seen:
            yield duplicate(f"{at}[{index}]", name)
        seen.add(name)
        yield from one_of(at, name, ("cpu", "memory"))
        yield from one_of(at, restart, ("NotRequired", "RestartContainer"))
        if restart_policy == "Never" and restart != "NotRequired":
            yield invalid(at, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'")


def _restarts(path: str, container: Object) -> Errors:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    if policy is None and rules:
        yield required(f"{path}.restartPolicy", _RULES_ALONE)
    elif policy is not None and policy not in _RESTART_POLICIES:
        yield not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES)
    if len(rules) > 20:
        yield too_many(f"{path}.restartPolicyRules", len(rules), 20)
    for at, rule in items(container, "restartPolicyRules", path):
        if rule.get("action") not in _RESTART_ACTIONS:
            yield not_supported(f"{at}.action", rule.get("action") or "", _RESTART_ACTIONS)
        if (codes := rule.get("exitCodes")) is None:
            yield required(f"{at}.exitCodes", "must be specified")
            continue
        if codes.get("operator") not in ("In", "NotIn"):
            yield not_supported(f"{at}.exitCodes.operator", codes.get("operator") or "", ("In", "NotIn"))
        if len(codes.get("values") or ()) > 255:
            yield too_many(f"{at}.exitCodes.values", len(codes["values"]), 255)
