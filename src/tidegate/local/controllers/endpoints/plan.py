"""Where a Service leads: its Endpoints and EndpointSlices as they should be."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from ipaddress import ip_address

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.controllers.endpoints.objects import Service, ServicePort
from tidegate.local.controllers.objects import owner_reference
from tidegate.local.controllers.pods import Pod

SERVICE_NAME = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "endpointslice-controller.k8s.io"
ENDPOINTS_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
HEADLESS = "service.kubernetes.io/headless"
SLICE_MOST = 100
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

Ports = tuple[tuple[ServicePort, int], ...]
"""The ports of a Service with the number each has in a pod."""


def endpoints_for(service: Service, pods: Iterable[Pod]) -> Object:
    """The Endpoints object: addresses grouped by the ports they serve, ready ones apart from others."""
    groups: dict[Ports, tuple[list[Object], list[Object]]] = defaultdict(lambda: ([], []))
    for pod in _reachable(pods):
        ready, family = _is_ready(service, pod), service.spec.ip_families[0]
        if pod.terminating and not service.spec.publish_not_ready_addresses:
            continue
        for ip in _addresses(pod, family)[:1]:
            ports = _ports(service, pod)
            if ports or (not service.spec.ports and service.headless):
                groups[ports][0 if ready else 1].append(_address(service, pod, ip))
    labels = {**service.metadata.labels, ENDPOINTS_MANAGED_BY: "endpoint-controller"}
    labels |= {HEADLESS: ""} if service.headless else {}
    metadata = {"name": service.metadata.name, "namespace": service.metadata.namespace, "labels": labels}
    subsets = [_subset(ports, *groups[ports]) for ports in sorted(groups, key=str)]
    return {"metadata": metadata, "subsets": subsets}


def slices_for(service: Service, pods: Iterable[Pod]) -> list[Object]:
    """The EndpointSlices: per address family and ports, a hundred endpoints each, always under the same names."""
    groups: dict[tuple[str, Ports], list[Object]] = defaultdict(list)
    for pod in _reachable(pods):
        for family in service.spec.ip_families:
            if addresses := _addresses(pod, family):
                groups[family, _ports(service, pod)].append(_endpoint(service, pod, addresses))
    if not groups:
        # An empty slice says that there is nobody; none at all would say that nobody has looked.
        groups = {(family, ()): [] for family in service.spec.ip_families}
    slices: list[Object] = []
    for family, ports in sorted(groups, key=str):
        members = groups[family, ports]
        for start in range(0, max(1, len(members)), SLICE_MOST):
            slices.append(_slice(service, family, ports, members[start : start + SLICE_MOST], start))
    return slices


def _reachable(pods: Iterable[Pod]) -> list[Pod]:
    there = [pod for pod in pods if pod.status.pod_ips and not pod.finished]
    return sorted(there, key=lambda pod: pod.metadata.name)


def _is_ready(service: Service, pod: Pod) -> bool:
    return service.spec.publish_not_ready_addresses or (pod.ready and not pod.terminating)


def _addresses(pod: Pod, family: str) -> list[str]:
    version = 6 if family == "IPv6" else 4
    return [each.ip for each in pod.status.pod_ips if ip_address(each.ip).version == version]


def _ports(service: Service, pod: Pod) -> Ports:
    """A port that the pod does not have under the wanted name is left out."""
    found: list[tuple[ServicePort, int]] = []
    for port in service.spec.ports:
        number = port.target_port or port.port
        if isinstance(number, str):
            number = _named_port(pod, number, port.protocol)
        if number:
            found.append((port, number))
    return tuple(found)


def _named_port(pod: Pod, name: str, protocol: str) -> int:
    sidecars = (each for each in pod.spec.init_containers if each.restart_policy == "Always")
    for container in (*pod.spec.containers, *sidecars):
        for port in container.ports:
            if (port.name, port.protocol) == (name, protocol):
                return port.container_port
    return 0


def _hostname(service: Service, pod: Pod) -> str:
    return pod.spec.hostname if pod.spec.subdomain == service.metadata.name else ""


def _target(pod: Pod) -> Object:
    metadata = pod.metadata
    return {"kind": "Pod", "namespace": metadata.namespace, "name": metadata.name, "uid": metadata.uid}


def _address(service: Service, pod: Pod, ip: str) -> Object:
    address: Object = {"ip": ip, "targetRef": _target(pod)}
    if name := _hostname(service, pod):
        address["hostname"] = name
    return address | ({"nodeName": pod.spec.node_name} if pod.spec.node_name else {})


def _endpoint(service: Service, pod: Pod, addresses: list[str]) -> Object:
    conditions = {"ready": _is_ready(service, pod), "serving": pod.ready, "terminating": pod.terminating}
    endpoint: Object = {"addresses": addresses, "conditions": conditions, "targetRef": _target(pod)}
    if name := _hostname(service, pod):
        endpoint["hostname"] = name
    return endpoint | ({"nodeName": pod.spec.node_name} if pod.spec.node_name else {})


def _subset(ports: Ports, ready: list[Object], others: list[Object]) -> Object:
    subset: Object = {"addresses": ready} if ready else {}
    subset |= {"notReadyAddresses": others} if others else {}
    return subset | ({"ports": [_shown(port, number, slice_port=False) for port, number in ports]} if ports else {})


def _shown(port: ServicePort, number: int, *, slice_port: bool) -> Object:
    """A slice's port always has its name, even an empty one."""
    shown: Object = {"name": port.name} if port.name or slice_port else {}
    shown |= {"port": number, "protocol": port.protocol}
    return shown | ({"appProtocol": port.app_protocol} if port.app_protocol else {})


def _slice(service: Service, family: str, ports: Ports, members: list[Object], start: int) -> Object:
    content = msgspec.json.encode(
        [service.metadata.uid, family, [(port.name, number) for port, number in ports], start]
    )
    digest = "".join(_LETTERS[byte % len(_LETTERS)] for byte in hashlib.sha256(content).digest()[:5])
    labels = {**service.metadata.labels, SERVICE_NAME: service.metadata.name, MANAGED_BY: MANAGER}
    labels |= {HEADLESS: ""} if service.headless else {}
    return {
        "metadata": {
            "name": f"{service.metadata.name}-{digest}",
            "namespace": service.metadata.namespace,
            "labels": labels,
            "ownerReferences": [owner_reference(service.metadata, "v1", "Service")],
        },
        "addressType": family,
        "endpoints": members,
        "ports": [_shown(port, number, slice_port=True) for port, number in ports],
    }
