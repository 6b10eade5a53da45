"""The kind Service. Handing out addresses and node ports is the server's; here is what may be asked for.

`prepare_create` and `prepare_update` settle what follows from the object alone (IP families, what an update left out);
then the server fills in `clusterIP`, `clusterIPs` and node ports where `needs_*` says so.
"""

from __future__ import annotations

import ipaddress

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, duplicate, forbidden_field, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import service_addresses
from tidegate.local.kinds.core.containers import PROTOCOLS
from tidegate.local.kinds.core.service_addresses import is_headless
from tidegate.local.kinds.metadata import check_labels, core_finalizers
from tidegate.local.kinds.rules import (
    Errors,
    child,
    default,
    items,
    maybe_one_of,
    one_of,
    port_number_or_name,
    wrong,
)

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_REACHABLE = ("ClusterIP", "LoadBalancer", "NodePort")
_MOST_AFFINITY_S = 86400
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def needs_cluster_ip(spec: Object) -> bool:
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Object) -> bool:
    if spec.get("type") == "LoadBalancer":
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return spec.get("type") == "NodePort"


def needs_health_check_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _externally_accessible(spec: Object) -> bool:
    if spec.get("type") in ("LoadBalancer", "NodePort"):
        return True
    return spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))


class Service(BuiltIn):
    has_status = True
    creates_on_update = True
    name_form = staticmethod(names.dns_label)

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        default(spec, sessionAffinity="None", type="ClusterIP")
        if spec["sessionAffinity"] == "None":
            spec.pop("sessionAffinityConfig", None)
        elif spec["sessionAffinity"] == "ClientIP":
            seconds = child(spec, "sessionAffinityConfig", "clientIP").get("timeoutSeconds")
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800 if seconds is None else seconds}}
        for port in spec.get("ports") or ():
            default(port, protocol="TCP")
            port["targetPort"] = port.get("targetPort") or port.get("port") or 0
        if _externally_accessible(spec):
            default(spec, externalTrafficPolicy="Cluster")
        if spec["type"] in _REACHABLE and spec.get("internalTrafficPolicy") is None:
            spec["internalTrafficPolicy"] = "Cluster"
        if spec["type"] == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
            spec["allocateLoadBalancerNodePorts"] = True
        if spec["type"] == "LoadBalancer":
            for ingress in child(obj, "status", "loadBalancer").get("ingress") or ():
                if ingress.get("ip") and ingress.get("ipMode") is None:
                    ingress["ipMode"] = "VIP"

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"loadBalancer": {}}
        service_addresses.normalize(obj["spec"], None)

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        spec, before = obj["spec"], child(old, "spec")
        _keep_allocated(spec, before)
        service_addresses.normalize(spec, before)
        _drop_of_other_type(spec, before)
        if spec["type"] != "LoadBalancer":
            obj["status"] = {**child(obj, "status"), "loadBalancer": {}}

    def validate_create(self, obj: Object) -> list[FieldError]:
        return self._after_addresses(obj, None)

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return self._after_addresses(obj, old)

    def _after_addresses(self, obj: Object, old: Object | None) -> list[FieldError]:
        """Wrong addresses are told alone: they are found out before anything else is looked at."""
        before = child(old, "spec") if old else None
        early = list(service_addresses.check(obj["spec"], before))
        if early:
            return early
        changed = service_addresses.check_change(obj["spec"], before) if before is not None else ()
        checked = [*core_finalizers(obj), *changed, *self.check(obj)]
        return [*checked, *self._change(obj["spec"], before)] if before is not None else checked

    def _change(self, spec: Object, before: Object) -> Errors:
        name = spec.get("loadBalancerClass")
        if spec["type"] == before.get("type") == "LoadBalancer" and name != before.get("loadBalancerClass"):
            yield invalid("spec.loadBalancerClass", name, "may not change once set")
        yield from _balancer_class(spec)  # Judged twice, as Kubernetes does.
        port = spec.get("healthCheckNodePort")
        both = needs_health_check_port(spec) and needs_health_check_port(before)
        if both and port != before.get("healthCheckNodePort"):
            yield forbidden_field("spec.healthCheckNodePort", "field is immutable")

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        headless = is_headless(spec)
        if not spec.get("ports") and not headless and spec["type"] != "ExternalName":
            yield required("spec.ports")
        if headless and spec["type"] in ("LoadBalancer", "NodePort"):
            yield invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {spec['type']} services")
        if spec["type"] == "ExternalName":
            yield from _external_name(spec)
        yield from _ports(spec)
        yield from check_labels("spec.selector", spec.get("selector") or {})
        yield from _affinity(spec)
        for at, address in items(spec, "externalIPs", "spec"):
            messages = names.ip_address(address)
            yield from wrong(at, address, messages or service_addresses.not_for_endpoints(address))
        yield from one_of("spec.type", spec.get("type"), _TYPES)
        yield from _load_balancer(spec, child(obj, "metadata", "annotations"))
        yield from _traffic(spec)

    def check_status(self, obj: Object, old: Object) -> Errors:
        ingress = child(obj, "status", "loadBalancer").get("ingress") or []
        if ingress and child(obj, "spec").get("type") != "LoadBalancer":
            yield forbidden_field("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'")
            return
        for index, one in enumerate(ingress):
            yield from _ingress(f"status.loadBalancer.ingress[{index}]", one)


def _keep_allocated(spec: Object, before: Object) -> None:
    """Who leaves out what the server handed out, keeps it."""
    if needs_cluster_ip(spec) and needs_cluster_ip(before):
        for key in ("clusterIP", "clusterIPs"):
            if not spec.get(key) and before.get(key):
                spec[key] = before[key]
    if needs_node_ports(spec) and needs_node_ports(before):
        had = {port.get("name") or "": port.get("nodePort") or 0 for port in before.get("ports") or ()}
        used = {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")} & set(had.values())
        for port in spec.get("ports") or ():
            kept = had.get(port.get("name") or "", 0)
            if not port.get("nodePort") and kept and kept not in used:
                port["nodePort"] = kept
    if needs_health_check_port(spec) and needs_health_check_port(before) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort")


def _drop_of_other_type(spec: Object, before: Object) -> None:
    """A change of type takes along what only the old type had, unless the user changed that too."""
    gone: list[str] = []
    if needs_cluster_ip(before) and not needs_cluster_ip(spec):
        if all(spec.get(key) == before.get(key) for key in ("clusterIP", "clusterIPs")):
            gone += ("clusterIP", "clusterIPs")
        gone += [key for key in ("ipFamilies", "ipFamilyPolicy") if spec.get(key) == before.get(key)]
    if needs_health_check_port(before) and not needs_health_check_port(spec):
        gone += ["healthCheckNodePort"] if spec.get("healthCheckNodePort") == before.get("healthCheckNodePort") else []
    if before.get("type") == "LoadBalancer" != spec.get("type"):
        keys = ("allocateLoadBalancerNodePorts", "loadBalancerClass")
        gone += [key for key in keys if spec.get(key) == before.get(key)]
    if _externally_accessible(before) and not _externally_accessible(spec):
        gone += (
            ["externalTrafficPolicy"]
            if spec.get("externalTrafficPolicy") == before.get("externalTrafficPolicy")
            else []
        )
    for key in gone:
        spec.pop(key, None)
    if needs_node_ports(before) and not needs_node_ports(spec):
        ports = [port.get("nodePort") for port in spec.get("ports") or ()]
        if ports == [port.get("nodePort") for port in before.get("ports") or ()]:
            for port in spec.get("ports") or ():
                port.pop("nodePort", None)


def _external_name(spec: Object) -> Errors:
    for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(key):
            yield forbidden_field(f"spec.{key}", "may not be set for ExternalName services")
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        yield required("spec.externalName")
    else:
        yield from wrong("spec.externalName", name, names.dns_subdomain(name))


def _ports(spec: Object) -> Errors:
    seen: set[str] = set()
    node_ports: set[tuple[str, int]] = set()
    numbers: set[tuple[str, int]] = set()
    ports = spec.get("ports") or []
    for at, port in items(spec, "ports", "spec"):
        name, number, protocol = port.get("name") or "", port.get("port") or 0, port.get("protocol") or ""
        if not name and len(ports) > 1:
            yield required(f"{at}.name")
        elif name:
            yield from wrong(f"{at}.name", name, names.dns_label(name))
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)
        yield from wrong(f"{at}.port", number, names.port_number(number))
        yield from one_of(f"{at}.protocol", protocol, PROTOCOLS)
        yield from port_number_or_name(f"{at}.targetPort", port.get("targetPort") or 0)
        if (application := port.get("appProtocol")) is not None:
            yield from wrong(f"{at}.appProtocol", application, names.qualified_name(application))
        if node_port := port.get("nodePort"):
            if spec["type"] == "ClusterIP":
                yield forbidden_field(f"{at}.nodePort", "may not be used when `type` is 'ClusterIP'")
            if (protocol, node_port) in node_ports:
                yield duplicate(f"{at}.nodePort", node_port)
            node_ports.add((protocol, node_port))
        if (protocol, number) in numbers:
            yield duplicate(at, {"protocol": protocol, "port": number})
        numbers.add((protocol, number))


def _affinity(spec: Object) -> Errors:
    yield from one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = child(spec, "sessionAffinityConfig", "clientIP").get("timeoutSeconds") or 0
        if not 0 < seconds <= _MOST_AFFINITY_S:
            says = f"must be greater than 0 and less than {_MOST_AFFINITY_S}"
            yield invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, says)


def _load_balancer(spec: Object, annotations: Object) -> Errors:
    only = "may only be used when `type` is 'LoadBalancer'"
    balancer = spec["type"] == "LoadBalancer"
    if ranges := spec.get("loadBalancerSourceRanges"):
        path = "spec.LoadBalancerSourceRanges"
        if not balancer:
            yield forbidden_field(path, only)
        for index, text in enumerate(ranges):
            yield from wrong(f"{path}[{index}]", text.strip(), names.cidr(text.strip()))
    elif (said := annotations.get(_RANGES)) is not None:
        path = f"metadata.annotations[{_RANGES}]"
        if not balancer:
            yield forbidden_field(path, only)
        for text in said.split(",") if said.strip() else ():
            yield from wrong(path, text.strip(), names.cidr(text.strip()))
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balancer:
        yield forbidden_field("spec.allocateLoadBalancerNodePorts", only)
    yield from _balancer_class(spec)


def _balancer_class(spec: Object) -> Errors:
    if (name := spec.get("loadBalancerClass")) is None:
        return
    if spec.get("type") == "LoadBalancer":
        yield from wrong("spec.loadBalancerClass", name, names.qualified_name(name))
    else:
        yield forbidden_field("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'")


def _traffic(spec: Object) -> Errors:
    policy = spec.get("externalTrafficPolicy") or ""
    if _externally_accessible(spec):
        yield from one_of("spec.externalTrafficPolicy", policy, ("Cluster", "Local"))
    elif policy:
        says = "may only be set for externally-accessible services"
        yield invalid("spec.externalTrafficPolicy", policy, says)
    if port := spec.get("healthCheckNodePort"):
        if needs_health_check_port(spec):
            yield from wrong("spec.healthCheckNodePort", port, names.port_number(port))
        else:
            says = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
            yield invalid("spec.healthCheckNodePort", port, says)
    yield from maybe_one_of("spec.internalTrafficPolicy", spec.get("internalTrafficPolicy"), ("Cluster", "Local"))
    yield from maybe_one_of(
        "spec.trafficDistribution",
        spec.get("trafficDistribution"),
        ("PreferClose", "PreferSameZone", "PreferSameNode"),
    )


def _ingress(path: str, ingress: Object) -> Errors:
    address, mode, host = ingress.get("ip"), ingress.get("ipMode"), ingress.get("hostname")
    if address:
        yield from wrong(f"{path}.ip", address, names.ip_address(address))
        if mode is None:
            yield required(f"{path}.ipMode", "must be specified when `ip` is set")
        else:
            yield from maybe_one_of(f"{path}.ipMode", mode, ("Proxy", "VIP"))
    elif mode is not None:
        yield forbidden_field(f"{path}.ipMode", "may not be specified when `ip` is not set")
    if host:
        yield from wrong(f"{path}.hostname", host, names.dns_subdomain(host))
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return
        yield invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address")
