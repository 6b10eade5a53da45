"""A Service as its controller sees it."""

from __future__ import annotations

import msgspec

from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.objects import Meta, Struct


class ServicePort(Struct, frozen=True):
    port: int
    name: str = ""
    protocol: str = "TCP"
    target_port: int | str | None = None
    app_protocol: str | None = None


class ServiceSpec(Struct, frozen=True):
    type: str = "ClusterIP"
    selector: dict[str, str] = msgspec.field(default_factory=dict)
    ports: tuple[ServicePort, ...] = ()
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ip_families: tuple[str, ...] = ("IPv4",)
    publish_not_ready_addresses: bool = False


class Service(Struct, frozen=True):
    metadata: Meta
    spec: ServiceSpec = ServiceSpec()

    @property
    def headless(self) -> bool:
        return self.spec.cluster_ip in {"", "None"}

    @property
    def managed(self) -> bool:
        """Without a selector somebody else says where it leads."""
        return bool(self.spec.selector) and self.spec.type != "ExternalName"


SERVICES = Resource("", "v1", "services", "Service", type=Service)
ENDPOINTS: Resource[Object] = Resource("", "v1", "endpoints", "Endpoints")
SLICES: Resource[Object] = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
