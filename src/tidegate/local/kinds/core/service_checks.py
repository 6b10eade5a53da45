"""What the parts of a Service may say: its ports, where its traffic goes, and what only a load balancer has."""

from __future__ import annotations

import ipaddress

from tidegate.kube.wire import Object
from tidegate.local.errors import duplicate, forbidden_field, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.core.containers import PROTOCOLS
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, one_of, port_number_or_name, wrong

_MOST_AFFINITY_S = 86400
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"


def needs_health_check_port(spec: Object) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_reachable_from_outside(spec: Object) -> bool:
    if spec.get("type") in ("LoadBalancer", "NodePort"):
        return True
    return spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))


def external_name(spec: Object) -> Errors:
    for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(key):
            yield forbidden_field(f"spec.{key}", "may not be set for ExternalName services")
    name = (spec.get("externalName") or "").removesuffix(".")
    if not name:
        yield required("spec.externalName")
    else:
        yield from wrong("spec.externalName", name, names.dns_subdomain(name))


def ports(spec: Object) -> Errors:
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


def affinity(spec: Object) -> Errors:
    yield from one_of("spec.sessionAffinity", spec.get("sessionAffinity"), ("ClientIP", "None"))
    if spec.get("sessionAffinity") == "ClientIP":
        seconds = child(spec, "sessionAffinityConfig", "clientIP").get("timeoutSeconds") or 0
        if not 0 < seconds <= _MOST_AFFINITY_S:
            says = f"must be greater than 0 and less than {_MOST_AFFINITY_S}"
            yield invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, says)


def load_balancer(spec: Object, annotations: Object) -> Errors:
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
    yield from balancer_class(spec)


def balancer_class(spec: Object) -> Errors:
    if (name := spec.get("loadBalancerClass")) is None:
        return
    if spec.get("type") == "LoadBalancer":
        yield from wrong("spec.loadBalancerClass", name, names.qualified_name(name))
    else:
        yield forbidden_field("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'")


def traffic(spec: Object) -> Errors:
    policy = spec.get("externalTrafficPolicy") or ""
    if is_reachable_from_outside(spec):
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


def ingress(path: str, ingress: Object) -> Errors:
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
