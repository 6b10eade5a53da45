"""The kinds of networking.k8s.io: policies, ingresses and their classes."""

from __future__ import annotations

import ipaddress

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, required, too_long
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.rules import (
    Errors,
    child,
    items,
    maybe_one_of,
    name_of,
    port_number_or_name,
    unchanged,
    wrong,
)
from tidegate.local.kinds.selectors import label_selector

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_END = ("/..", "/.")
_CLASS = "kubernetes.io/ingress.class"


class NetworkPolicy(BuiltIn):
    generates_generation = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        if not spec.get("policyTypes"):
            spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        for way in ("ingress", "egress"):
            for rule in spec.get(way) or ():
                for port in rule.get("ports") or ():
                    port["protocol"] = "TCP" if port.get("protocol") is None else port["protocol"]

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        yield from label_selector("spec.podSelector", child(spec, "podSelector"))
        for way, peers in (("ingress", "from"), ("egress", "to")):
            for at, rule in items(spec, way, "spec"):
                for port_at, port in items(rule, "ports", at):
                    yield from _policy_port(port_at, port)
                for peer_at, peer in items(rule, peers, at):
                    yield from _peer(peer_at, peer)
        types = spec.get("policyTypes") or []
        if len(types) > 2:
            yield invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
            return
        for at, sort in items(spec, "policyTypes", "spec"):
            yield from maybe_one_of(at, sort, ("Ingress", "Egress"))


def _policy_port(path: str, port: Object) -> Errors:
    yield from maybe_one_of(f"{path}.protocol", port.get("protocol"), _PROTOCOLS)
    number, end = port.get("port"), port.get("endPort")
    if number is not None:
        yield from port_number_or_name(f"{path}.port", number)
    if end is None:
        return
    if isinstance(number, int):
        if end < number:
            yield invalid(f"{path}.endPort", number, "must be greater than or equal to `port`")
        yield from wrong(f"{path}.endPort", end, names.port_number(end))
    else:
        why = "is not specified" if number is None else "is non-numeric"
        yield invalid(f"{path}.endPort", end, f"may not be specified when `port` {why}")


def _peer(path: str, peer: Object) -> Errors:
    chosen = [key for key in ("podSelector", "namespaceSelector", "ipBlock") if peer.get(key) is not None]
    for key in chosen[: len(chosen) - ("ipBlock" in chosen)]:
        yield from label_selector(f"{path}.{key}", peer[key])
    if "ipBlock" in chosen:
        yield from _ip_block(f"{path}.ipBlock", peer["ipBlock"])
    if not chosen:
        yield required(path, "must specify a peer")
    elif len(chosen) > 1 and "ipBlock" in chosen:
        yield forbidden_field(path, "may not specify both ipBlock and another peer")


def _ip_block(path: str, block: Object) -> Errors:
    yield from name_of(f"{path}.cidr", block.get("cidr") or "", names.cidr)
    whole = _network(block.get("cidr") or "")
    for at, text in items(block, "except", path) if whole else ():
        yield from wrong(at, text, names.cidr(text))
        part = _network(text)
        if part and (part.version != whole.version or part == whole or not part.subnet_of(whole)):  # type: ignore[union-attr, arg-type]
            yield invalid(at, text, "must be a strict subset of `cidr`")


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False) if "/" in text else None
    except ValueError:
        return None


class Ingress(BuiltIn):
    has_status = True
    generates_generation = True

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"loadBalancer": {}}

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        if not spec.get("rules") and spec.get("defaultBackend") is None:
            yield invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified")
        if (backend := spec.get("defaultBackend")) is not None:
            yield from _backend("spec.defaultBackend", backend)
        for at, rule in items(spec, "rules", "spec"):
            yield from _ingress_rule(at, rule)
        for at, tls in items(spec, "tls", "spec"):
            for host_at, host in items(tls, "hosts", at):
                yield from wrong(host_at, host, _host(host))
            if name := tls.get("secretName"):
                yield from wrong(f"{at}.secretName", name, names.dns_subdomain(name))
        if (name := spec.get("ingressClassName")) is not None:
            yield from wrong("spec.ingressClassName", name, names.dns_subdomain(name))

    def check_create(self, obj: Object) -> Errors:
        said, name = child(obj, "metadata", "annotations").get(_CLASS), child(obj, "spec").get("ingressClassName")
        if said is not None and name is not None and said != name:
            yield invalid(f"annotations.{_CLASS}", said, "must match `ingressClassName` when both are specified")


def _host(host: str) -> list[str]:
    return names.wildcard_subdomain(host) if "*" in host else names.dns_subdomain(host)


def _ingress_rule(path: str, rule: Object) -> Errors:
    if host := rule.get("host"):
        if not names.ip_address(host):
            yield invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
        yield from wrong(f"{path}.host", host, _host(host))
    if (http := rule.get("http")) is None:
        return
    if not http.get("paths"):
        yield required(f"{path}.http.paths")
    for at, one in items(http, "paths", f"{path}.http"):
        yield from _ingress_path(at, one)


def _ingress_path(path: str, one: Object) -> Errors:
    sort, target = one.get("pathType"), one.get("path") or ""
    if sort is None:
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    yield from maybe_one_of(f"{path}.pathType", sort, _PATH_TYPES)
    if sort in _PATH_TYPES and not target.startswith("/") and (target or sort != "ImplementationSpecific"):
        yield invalid(f"{path}.path", target, "must be an absolute path")
    if sort in ("Exact", "Prefix"):
        for part in _NOT_IN_PATHS:
            if part in target:
                yield invalid(f"{path}.path", target, f"must not contain '{part}'")
        for end in _NOT_AT_END:
            if target.endswith(end):
                yield invalid(f"{path}.path", target, f"cannot end with '{end}'")
    yield from _backend(f"{path}.backend", child(one, "backend"))


def _backend(path: str, backend: Object) -> Errors:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield invalid(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from _reference(f"{path}.resource", resource)
    elif service is not None:
        yield from name_of(f"{path}.service.name", service.get("name") or "", names.dns_label)
        port = child(service, "port")
        name, number = port.get("name"), port.get("number")
        if name and number:
            yield invalid(path, "", "cannot set both port name & port number")
        elif name:
            yield from wrong(f"{path}.service.port.name", name, names.port_name(name))
        elif number:
            yield from wrong(f"{path}.service.port.number", number, names.port_number(number))
        else:
            yield required(path, "port name or number is required")
    else:
        yield invalid(path, "", "resource or service backend is required")


def _reference(path: str, reference: Object) -> Errors:
    if (group := reference.get("apiGroup")) is not None:
        yield from wrong(f"{path}.apiGroup", group, names.dns_subdomain(group))
    for key in ("kind", "name"):
        yield from name_of(f"{path}.{key}", reference.get(key) or "", names.path_segment)


class IngressClass(BuiltIn):
    generates_generation = True

    def default(self, obj: Object) -> None:
        if (parameters := child(obj, "spec").get("parameters")) is not None and parameters.get("scope") is None:
            parameters["scope"] = "Cluster"

    def check(self, obj: Object) -> Errors:
        spec = child(obj, "spec")
        controller = spec.get("controller") or ""
        if len(controller) > 250:
            yield too_long("spec.controller", 250)
        if not controller:
            yield required("spec.controller")
        for part, message in names.domain_prefixed_path(controller) if controller else ():
            yield invalid("spec.controller", part, message)
        if (parameters := spec.get("parameters")) is not None:
            yield from _reference("spec.parameters", parameters)
            yield from _parameters_scope("spec.parameters", parameters)

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("spec", child(obj, "spec"), child(old, "spec"), "controller")


def _parameters_scope(path: str, parameters: Object) -> Errors:
    scope, namespace = parameters.get("scope"), parameters.get("namespace")
    yield from maybe_one_of(f"{path}.scope", scope, ("Cluster", "Namespace"))
    if scope == "Namespace":
        if namespace is None:
            yield required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'")
        else:
            yield from wrong(f"{path}.namespace", namespace, names.dns_label(namespace))
    elif scope == "Cluster" and namespace is not None:
        yield forbidden_field(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'")
