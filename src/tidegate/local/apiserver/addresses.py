"""Addresses of Services: each has a cluster IP of its own, from a range nobody routes.

There is no kube-proxy on a laptop; the address only has to be unique and stable, since clients and service
environment variables expect one. Which are taken is read from the Services themselves, so nothing can disagree.
"""

from __future__ import annotations

import ipaddress

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.errors import FieldError, invalid, invalid_object

RANGE = ipaddress.IPv4Network("10.96.0.0/16")
FIRST = str(RANGE[1])
"""The address of the `kubernetes` Service."""
_PORTS = range(30000, 32768)


class _Port(msgspec.Struct, rename="camel"):
    node_port: int = 0


class _Spec(msgspec.Struct, rename="camel"):
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ports: list[_Port] = []


class _Service(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_service = msgspec.json.Decoder(_Service).decode


def _is_service(call: Call) -> bool:
    return not call.served.group and call.served.plural == "services" and not call.subresource


def keep_address(call: Call, obj: Object, old: Object) -> None:
    """A Service that does not say its address keeps the one it has. Before it is validated."""
    if not _is_service(call):
        return
    spec, known = obj.setdefault("spec", {}), old.get("spec", {})
    if spec.get("type") == "ExternalName" or not known.get("clusterIP"):
        return
    if not spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIP"], spec["clusterIPs"] = known["clusterIP"], known.get("clusterIPs") or [known["clusterIP"]]
    elif spec.get("clusterIP") == known["clusterIP"] and not spec.get("clusterIPs"):
        spec["clusterIPs"] = known.get("clusterIPs") or [known["clusterIP"]]


def allocate(api: Api, call: Call, obj: Object, old: Object | None) -> None:
    """Gives a Service that is right in itself its address (and node ports), before it is stored."""
    if not _is_service(call):
        return
    spec, known = obj.setdefault("spec", {}), (old or {}).get("spec", {})
    if spec.get("type") == "ExternalName":
        for field in ("clusterIP", "clusterIPs"):
            spec.pop(field, None)
        return
    errors = _family_errors(spec) or _address(api, spec, known)
    if not errors and spec.get("type") in ("NodePort", "LoadBalancer"):
        errors = _node_ports(api, spec, known)
    if errors:
        raise invalid_object("", "Service", obj["metadata"]["name"], errors)


def _family_errors(spec: Object) -> list[FieldError]:
    """There is one family of addresses here."""
    says = "this cluster is not configured for dual-stack services"
    if spec.get("ipFamilyPolicy") == "RequireDualStack":
        return [invalid("spec.ipFamilyPolicy", "RequireDualStack", says)]
    families = enumerate(spec.get("ipFamilies") or ())
    return [
        invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
        for index, family in families
        if family == "IPv6" and spec.get("clusterIP") != "None"
    ]


def _address(api: Api, spec: Object, known: Object) -> list[FieldError]:
    given = spec.get("clusterIP") or (spec.get("clusterIPs") or [""])[0]
    if given == "None":
        spec.setdefault("clusterIPs", ["None"])
        return []
    if given and given == known.get("clusterIP"):
        return []
    taken = {service.spec.cluster_ip for service in _services(api)}
    if not given:
        given = next(str(address) for address in RANGE.hosts() if str(address) not in taken and str(address) != FIRST)
    elif why := _refused(given, taken):
        return [invalid("spec.clusterIPs", [given], f"failed to allocate IP {given}: {why}")]
    spec["clusterIP"], spec["clusterIPs"] = given, [given]
    return []


def _refused(given: str, taken: set[str]) -> str:
    """Why an address that was asked for cannot be had."""
    if ipaddress.ip_address(given) not in RANGE:
        return "the provided network does not match the current range"
    return "provided IP is already allocated" if given in taken else ""


def _node_ports(api: Api, spec: Object, known: Object) -> list[FieldError]:
    own = {port.get("nodePort") for port in known.get("ports") or ()}
    taken = {port.node_port for service in _services(api) for port in service.spec.ports} - own
    errors = []
    for index, port in enumerate(spec.get("ports") or []):
        path, number = f"spec.ports[{index}].nodePort", port.get("nodePort")
        if not number:
            port["nodePort"] = next(number for number in _PORTS if number not in taken and number not in own)
        elif number not in _PORTS and number not in own:
            says = "provided port is not in the valid range. The range of valid ports is 30000-32767"
            errors.append(invalid(path, number, says))
        elif number in taken:
            errors.append(invalid(path, number, "provided port is already allocated"))
        taken.add(port["nodePort"])
    return errors


def _services(api: Api) -> list[_Service]:
    return [_service(row.value) for row in api.store.range("core/services/")]
