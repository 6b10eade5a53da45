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
from tidegate.local.errors import invalid, invalid_object

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


def allocate(api: Api, call: Call, obj: Object, old: Object | None) -> None:
    """Gives a Service its address (and node ports) before it is validated and stored."""
    if call.served.group or call.served.plural != "services" or call.subresource:
        return
    spec = obj.setdefault("spec", {})
    if spec.get("type") == "ExternalName":
        for field in ("clusterIP", "clusterIPs"):
            spec.pop(field, None)
        return
    _address(api, call, spec, (old or {}).get("spec", {}))
    if spec.get("type") in ("NodePort", "LoadBalancer"):
        _node_ports(api, spec)


def _address(api: Api, call: Call, spec: Object, known: Object) -> None:
    given = spec.get("clusterIP") or (spec.get("clusterIPs") or [""])[0] or known.get("clusterIP")
    if given == "None":
        spec.setdefault("clusterIPs", ["None"])
        return
    if given and given == known.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = given, known.get("clusterIPs") or [given]
        return
    taken = {service.spec.cluster_ip for service in _services(api)}
    if given:
        _check_given(call, given, taken)
    else:
        given = next(str(address) for address in RANGE.hosts() if str(address) not in taken and str(address) != FIRST)
    spec["clusterIP"], spec["clusterIPs"] = given, [given]


def _check_given(call: Call, given: str, taken: set[str]) -> None:
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return  # Validation says so, in better words.
    why = ""
    if address not in RANGE:
        why = f"failed to allocate IP {given}: the provided IP ({given}) is not in the valid range. "
        why += f"The range of valid IPs is {RANGE}"
    elif given in taken:
        why = f"failed to allocate IP {given}: provided IP is already allocated"
    if why:
        raise invalid_object("", "Service", call.name, [invalid("spec.clusterIPs", [given], why)])


def _node_ports(api: Api, spec: Object) -> None:
    taken = {port.node_port for service in _services(api) for port in service.spec.ports}
    for port in spec.get("ports") or []:
        if not port.get("nodePort"):
            port["nodePort"] = next(number for number in _PORTS if number not in taken)
        taken.add(port["nodePort"])


def _services(api: Api) -> list[_Service]:
    return [_service(row.value) for row in api.store.range("core/services/")]
