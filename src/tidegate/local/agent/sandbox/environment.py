"""A container's environment: the image's, services', `envFrom`, then `env` with references resolved and expanded."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tidegate.local.agent.sandbox.problems import Unrunnable
from tidegate.model.quantity import Quantity

Spec = Mapping[str, Any]


class Objects(Protocol):
    """Where configMaps and secrets come from; what is not there raises Missing."""

    async def config_map(self, namespace: str, name: str) -> Spec: ...

    async def secret(self, namespace: str, name: str) -> Spec: ...


@dataclass(frozen=True, slots=True)
class Place:
    """What is known of a pod beyond its spec when its containers start."""

    pod: Spec
    pod_ip: str
    host_ip: str
    node: str
    allocatable: Mapping[str, str]


async def environment_of(
    container: Spec, place: Place, objects: Objects, *, base: Mapping[str, str], services: Mapping[str, str]
) -> dict[str, str]:
    """The environment; later sources win: base, services, envFrom, env."""
    env = dict(base) | dict(services)
    for source in container.get("envFrom") or []:
        env |= await _all_of(source, place, objects)
    declared: dict[str, str] = {}
    for each in container.get("env") or []:
        value = await _value_of(each, container, place, objects, env | declared)
        if value is not None:
            declared[each["name"]] = value
    return env | declared


async def _all_of(source: Spec, place: Place, objects: Objects) -> dict[str, str]:
    namespace, prefix = place.pod["metadata"]["namespace"], source.get("prefix", "")
    if reference := source.get("configMapRef"):
        found = await _optional(objects.config_map, namespace, reference)
        values = dict(found.get("data") or {}) if found else {}
    else:
        reference = source["secretRef"]
        found = await _optional(objects.secret, namespace, reference)
        values = {key: decoded(value) for key, value in ((found or {}).get("data") or {}).items()}
    return {prefix + key: value for key, value in values.items()}


async def _optional(fetch: Any, namespace: str, reference: Spec) -> Spec | None:
    try:
        found: Spec = await fetch(namespace, reference["name"])
    except Unrunnable:
        if reference.get("optional"):
            return None
        raise
    return found


def decoded(value: str) -> str:
    return base64.b64decode(value).decode(errors="surrogateescape")


async def _value_of(
    each: Spec, container: Spec, place: Place, objects: Objects, known: Mapping[str, str]
) -> str | None:
    source = each.get("valueFrom")
    if not source:
        return expanded(each.get("value") or "", known)
    if reference := source.get("fieldRef"):
        return field_value(reference["fieldPath"], place)
    if reference := source.get("resourceFieldRef"):
        return resource_value(reference, container, place)
    namespace = place.pod["metadata"]["namespace"]
    if reference := source.get("configMapKeyRef"):
        found = await _optional(objects.config_map, namespace, reference)
        return _key(found, reference, "configmap", lambda value: value, namespace)
    reference = source.get("secretKeyRef") or {}
    found = await _optional(objects.secret, namespace, reference)
    return _key(found, reference, "secret", decoded, namespace)


def _key(found: Spec | None, reference: Spec, kind: str, read: Any, namespace: str) -> str | None:
    values = (found or {}).get("data") or {}
    if reference["key"] in values:
        value: str = read(values[reference["key"]])
        return value
    if found is None or reference.get("optional"):
        return None
    text = f"couldn't find key {reference['key']} in {kind} {namespace}/{reference['name']}"
    raise Unrunnable("CreateContainerConfigError", text)


def field_value(path: str, place: Place) -> str:
    """A field of the pod, as the downward API names it."""
    meta, spec = place.pod["metadata"], place.pod["spec"]
    if match := re.fullmatch(r"metadata\.(labels|annotations)\['(.*)'\]", path):
        return str((meta.get(match[1]) or {}).get(match[2], ""))
    plain = {
        "metadata.name": meta["name"],
        "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"],
        "spec.nodeName": place.node,
        "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
        "status.hostIP": place.host_ip,
        "status.hostIPs": place.host_ip,
        "status.podIP": place.pod_ip,
        "status.podIPs": place.pod_ip,
    }
    if path in plain:
        return str(plain[path])
    if path in ("metadata.labels", "metadata.annotations"):
        return _lines(meta.get(path.partition(".")[2]) or {})
    raise Unrunnable("CreateContainerConfigError", f"unsupported fieldPath: {path}")


def _lines(values: Mapping[str, str]) -> str:
    quoted = {
        key: value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for key, value in values.items()
    }
    return "\n".join(f'{key}="{value}"' for key, value in sorted(quoted.items()))


def resource_value(reference: Spec, container: Spec, place: Place) -> str:
    """A request or limit in units of the divisor, rounded up; a limit that is not set is what the node has."""
    which, _, resource = reference["resource"].partition(".")
    resources = container.get("resources") or {}
    text = (resources.get(which) or {}).get(resource)
    if text is None:
        text = (resources.get("limits") or {}).get(resource) if which == "requests" else None
        text = text if text is not None else (place.allocatable.get(resource, "0") if which == "limits" else "0")
    divisor = Quantity.parse(str(reference.get("divisor") or "1")).nano or Quantity.parse(1).nano
    return str(-(-Quantity.parse(str(text)).nano // divisor))


def expanded(text: str, known: Mapping[str, str]) -> str:
    """`$(NAME)` becomes a known variable and stays as it is when unknown; `$$` is a dollar sign."""

    def one(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return known.get(match[1], match[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


def service_variables(services: Iterable[Spec], namespace: str, *, api: tuple[str, int]) -> dict[str, str]:
    """Docker-style variables of every service with an address, as each container gets them."""
    env: dict[str, str] = {}
    for service in services:
        meta, spec = service["metadata"], service["spec"]
        address = spec.get("clusterIP") or ""
        if meta["namespace"] != namespace or address in ("", "None") or not spec.get("ports"):
            continue
        ports = [(port.get("name", ""), port["port"], port.get("protocol", "TCP")) for port in spec["ports"]]
        env |= _variables(meta["name"], address, ports)
    return env | _variables("kubernetes", api[0], [("https", api[1], "TCP")])


def _variables(name: str, address: str, ports: list[tuple[str, int, str]]) -> dict[str, str]:
    prefix = name.upper().replace("-", "_")
    first = ports[0]
    env = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(first[1])}
    env[f"{prefix}_PORT"] = f"{first[2].lower()}://{address}:{first[1]}"
    for label, port, protocol in ports:
        if label:
            env[f"{prefix}_SERVICE_PORT_{label.upper().replace('-', '_')}"] = str(port)
        each = f"{prefix}_PORT_{port}_{protocol.upper()}"
        env |= {each: f"{protocol.lower()}://{address}:{port}", f"{each}_PROTO": protocol.lower()}
        env |= {f"{each}_PORT": str(port), f"{each}_ADDR": address}
    return env
