"""The kind Service. Handing out addresses and node ports is the server's; here is what may be asked for.

`prepare_create` and `prepare_update` settle what follows from the object alone (IP families, what an update left out);
then the server fills in `clusterIP`, `clusterIPs` and node ports where `needs_*` says so.
"""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, forbidden_field, invalid, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core import service_addresses, service_checks
from tidegate.local.kinds.core.service_addresses import is_headless
from tidegate.local.kinds.metadata import check_labels, core_finalizers
from tidegate.local.kinds.rules import (
    Errors,
    child,
    default,
    items,
    one_of,
    wrong,
)

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_REACHABLE = ("ClusterIP", "LoadBalancer", "NodePort")


def needs_cluster_ip(spec: Object) -> bool:
    return spec.get("type") != "ExternalName"


def needs_node_ports(spec: Object) -> bool:
    if spec.get("type") == "LoadBalancer":
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return spec.get("type") == "NodePort"


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
        if service_checks.is_reachable_from_outside(spec):
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
        yield from service_checks.balancer_class(spec)  # Judged twice, as Kubernetes does.
        port = spec.get("healthCheckNodePort")
        both = service_checks.needs_health_check_port(spec) and service_checks.needs_health_check_port(before)
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
            yield from service_checks.external_name(spec)
        yield from service_checks.ports(spec)
        yield from check_labels("spec.selector", spec.get("selector") or {})
        yield from service_checks.affinity(spec)
        for at, address in items(spec, "externalIPs", "spec"):
            messages = names.ip_address(address)
            yield from wrong(at, address, messages or service_addresses.not_for_endpoints(address))
        yield from one_of("spec.type", spec.get("type"), _TYPES)
        yield from service_checks.load_balancer(spec, child(obj, "metadata", "annotations"))
        yield from service_checks.traffic(spec)

    def check_status(self, obj: Object, old: Object) -> Errors:
        ingress = child(obj, "status", "loadBalancer").get("ingress") or []
        if ingress and child(obj, "spec").get("type") != "LoadBalancer":
            yield forbidden_field("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'")
            return
        for index, one in enumerate(ingress):
            yield from service_checks.ingress(f"status.loadBalancer.ingress[{index}]", one)


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
    if (
        service_checks.needs_health_check_port(spec)
        and service_checks.needs_health_check_port(before)
        and not spec.get("healthCheckNodePort")
    ):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort")


def _drop_of_other_type(spec: Object, before: Object) -> None:
    """A change of type takes along what only the old type had, unless the user changed that too."""
    gone: list[str] = []
    if needs_cluster_ip(before) and not needs_cluster_ip(spec):
        if all(spec.get(key) == before.get(key) for key in ("clusterIP", "clusterIPs")):
            gone += ("clusterIP", "clusterIPs")
        gone += [key for key in ("ipFamilies", "ipFamilyPolicy") if spec.get(key) == before.get(key)]
    if service_checks.needs_health_check_port(before) and not service_checks.needs_health_check_port(spec):
        gone += ["healthCheckNodePort"] if spec.get("healthCheckNodePort") == before.get("healthCheckNodePort") else []
    if before.get("type") == "LoadBalancer" != spec.get("type"):
        keys = ("allocateLoadBalancerNodePorts", "loadBalancerClass")
        gone += [key for key in keys if spec.get(key) == before.get(key)]
    if service_checks.is_reachable_from_outside(before) and not service_checks.is_reachable_from_outside(spec):
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
