"""Where services lead: Endpoints, and the slices that replaced them."""

from __future__ import annotations

import ipaddress

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, invalid, required, too_many
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core.containers import PROTOCOLS
from tidegate.local.kinds.core.service_addresses import not_for_endpoints
from tidegate.local.kinds.rules import Errors, default, items, maybe_one_of, one_of, same, unchanged, wrong

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")


def _address(path: str, address: str) -> Errors:
    yield from wrong(path, address, names.ip_address(address) or not_for_endpoints(address))


class Endpoints(BuiltIn):
    creates_on_update = True

    def default(self, obj: Object) -> None:
        for subset in obj.get("subsets") or ():
            for port in subset.get("ports") or ():
                default(port, protocol="TCP")

    def check_create(self, obj: Object) -> Errors:
        for index, subset in enumerate(obj.get("subsets") or ()):
            yield from _subset(f"subsets[{index}]", subset)

    def check_update(self, obj: Object, old: Object) -> Errors:
        if not same(obj.get("subsets"), old.get("subsets")):
            yield from self.check_create(obj)


def _subset(path: str, subset: Object) -> Errors:
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        yield required(path, "must specify `addresses` or `notReadyAddresses`")
    for key in ("addresses", "notReadyAddresses"):
        for at, address in items(subset, key, path):
            yield from _address(f"{at}.ip", address.get("ip") or "")
            if names.ip_address(address.get("ip") or ""):
                # Here the check for special addresses stumbles over what is none, and says so once more.
                yield invalid(f"{at}.ip", address.get("ip") or "", "must be a valid IP address")
            if host := address.get("hostname"):
                yield from wrong(f"{at}.hostname", host, names.dns_label(host))
            if (node := address.get("nodeName")) is not None:
                yield from wrong(f"{at}.nodeName", node, names.dns_subdomain(node))
    for at, port in items(subset, "ports", path):
        name, number = port.get("name") or "", port.get("port") or 0
        if not name and len(subset["ports"]) > 1:
            yield required(f"{at}.name")
        elif name:
            yield from wrong(f"{at}.name", name, names.dns_label(name))
        yield from wrong(f"{at}.port", number, names.port_number(number))
        yield from one_of(f"{at}.protocol", port.get("protocol"), PROTOCOLS)
        yield from _application(at, port)


def _application(path: str, port: Object) -> Errors:
    if (application := port.get("appProtocol")) is not None:
        yield from wrong(f"{path}.appProtocol", application, names.qualified_name(application))


class EndpointSlice(BuiltIn):
    generates_generation = True

    def prepare_create(self, obj: Object) -> None:
        for endpoint in obj.get("endpoints") or ():
            endpoint.pop("deprecatedTopology", None)

    def prepare_update(self, obj: Object, old: Object) -> None:
        if not any(endpoint.get("deprecatedTopology") for endpoint in old.get("endpoints") or ()):
            self.prepare_create(obj)

    def default(self, obj: Object) -> None:
        for port in obj.get("ports") or ():
            port["name"] = port.get("name") or ""
            if port.get("protocol") is None:
                port["protocol"] = "TCP"

    def check(self, obj: Object) -> Errors:
        yield from one_of("addressType", obj.get("addressType"), _ADDRESS_TYPES)
        seen: set[str] = set()
        for index, port in enumerate(obj.get("ports") or ()):
            at, name = f"ports[{index}]", port.get("name") or ""
            if name:
                yield from wrong(f"{at}.name", name, names.dns_label(name))
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
            yield from maybe_one_of(f"{at}.protocol", port.get("protocol"), PROTOCOLS)
            yield from _application(at, port)

    def check_create(self, obj: Object) -> Errors:
        endpoints = obj.get("endpoints") or []
        if len(endpoints) > 1000:
            yield too_many("endpoints", len(endpoints), 1000)
            return
        for index, endpoint in enumerate(endpoints):
            yield from _endpoint(f"endpoints[{index}]", endpoint, obj.get("addressType") or "")

    def check_update(self, obj: Object, old: Object) -> Errors:
        if not same(obj.get("endpoints"), old.get("endpoints")):
            yield from self.check_create(obj)
        yield from unchanged("", obj, old, "addressType")


def _endpoint(path: str, endpoint: Object, sort: str) -> Errors:
    addresses = endpoint.get("addresses") or []
    if not addresses:
        yield required(f"{path}.addresses", "must contain at least 1 address")
    elif len(addresses) > 100:
        yield too_many(f"{path}.addresses", len(addresses), 100)
    for at, address in items(endpoint, "addresses", path):
        if sort == "FQDN":
            yield from wrong(at, address, names.dns_subdomain(address))
        elif sort in ("IPv4", "IPv6"):
            yield from _address(at, address)
            if not names.ip_address(address) and f"IPv{ipaddress.ip_address(address).version}" != sort:
                yield invalid(f"{path}.addresses", address, f"must be an {sort} address")
    if (node := endpoint.get("nodeName")) is not None:
        yield from wrong(f"{path}.nodeName", node, names.dns_subdomain(node))
    if (host := endpoint.get("hostname")) is not None:
        yield from wrong(f"{path}.hostname", host, names.dns_label(host))
    hints = endpoint.get("hints") or {}
    for key, form in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        if len(hints.get(key) or ()) > 8:
            yield too_many(f"{path}.hints.{key}", len(hints[key]), 8)
            return
        seen: set[str] = set()
        for at, hint in items(hints, key, f"{path}.hints"):
            name = hint.get("name") or ""
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
            yield from wrong(f"{at}.name", name, form(name))
