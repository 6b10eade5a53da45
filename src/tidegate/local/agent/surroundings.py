"""What pods find around them on this node: addresses, names of services and of the API server, variables, devices."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tidegate.local.agent.machine import Devices
from tidegate.local.agent.sandbox import names, network
from tidegate.local.agent.sandbox.environment import service_variables
from tidegate.local.agent.settings import Settings
from tidegate.local.agent.work.folder import Work

Spec = Mapping[str, Any]

API_NAME = "kubernetes.default.svc"
"""A name that API servers have in their certificates, whatever their address."""


@dataclass(slots=True)
class Around:
    """What `work.surroundings` asks for, by this machine's means."""

    settings: Settings
    isolation: network.Isolation
    addresses: network.Addresses
    bridge: str
    api_url: str
    devices: Devices
    allocatable: Mapping[str, str]
    services: Callable[[], Iterable[Spec]]
    pods: Callable[[], Iterable[Spec]]
    host_ip: str
    reachable: Callable[[], frozenset[str]]

    def address_for(self, pod: Spec) -> str:
        return self.host_ip if pod["spec"].get("hostNetwork") else self.addresses.take(pod["metadata"]["uid"])

    def keep(self, work: Work) -> None:
        if work.address != self.host_ip:
            self.addresses.keep(work.uid, work.address)
        self.devices.keep(work.uid, work.folder)

    def release(self, uid: str) -> None:
        self.addresses.release(uid)
        self.devices.release(uid)

    def network_for(self, pod: Spec, address: str) -> dict[str, Any] | None:
        if not self.isolation.namespaces or pod["spec"].get("hostNetwork"):
            return None
        return network.sandbox_network(pod["metadata"]["uid"], address, self.bridge, self.addresses)

    def api(self) -> tuple[str, int]:
        """How pods reach the API server: by a name that its certificate has, through this node's bridge, where pods
        have a network of their own; else as the agent does."""
        url = urlsplit(self.api_url)
        if self.isolation.namespaces:
            return self.settings.api_host_for_pods or API_NAME, 443
        return self.settings.api_host_for_pods or url.hostname or "127.0.0.1", url.port or 443

    def variables(self, pod: Spec, container: Spec) -> dict[str, str]:
        wanted = self.services() if pod["spec"].get("enableServiceLinks") is not False else ()
        given = service_variables(wanted, pod["metadata"]["namespace"], api=self._api_for(pod))
        uid = pod["metadata"]["uid"]
        devices = self.devices.take(uid, container, self.settings.data_dir / "pods" / uid)
        if devices is not None:
            given |= {"CUDA_VISIBLE_DEVICES": ",".join(devices), "NVIDIA_VISIBLE_DEVICES": ",".join(devices)}
        elif self.devices.any:
            given |= {"CUDA_VISIBLE_DEVICES": "", "NVIDIA_VISIBLE_DEVICES": "void"}
        return given

    def _api_for(self, pod: Spec) -> tuple[str, int]:
        """On the host's network there is no bridge between a pod and the API server."""
        url = urlsplit(self.api_url)
        if pod["spec"].get("hostNetwork"):
            return self.settings.api_host_for_pods or url.hostname or "127.0.0.1", url.port or 443
        return self.api()

    def write_names(self, pod: Spec, work: Work) -> None:
        """The pod's hosts and resolver files, in place: they are bind mounts, so a new file would not be seen."""
        if not self.isolation.namespaces or pod["spec"].get("hostNetwork"):
            return
        known = names.Names(tuple(self.pods()), tuple(self.services()), self.addresses.gateway, self.reachable())
        _overwrite(work.folder / "etc" / "hosts", names.hosts_file(pod, work.address, known))
        _overwrite(work.folder / "etc" / "resolv.conf", names.RESOLV)


def _overwrite(file: Path, text: str) -> None:
    if file.exists() and file.read_text() == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("r+" if file.exists() else "w") as handle:
        handle.write(text)
        handle.truncate()
    file.chmod(0o644)


def addresses_for(settings: Settings, isolation: network.Isolation) -> network.Addresses:
    """The range that pods' addresses come from, the same at each start."""
    if settings.pod_cidr:
        return network.Addresses(ipaddress.IPv4Network(settings.pod_cidr))
    kept = settings.data_dir / f"pod-cidr-{'namespaces' if isolation.namespaces else 'loopback'}"
    if kept.exists():
        return network.Addresses(ipaddress.IPv4Network(kept.read_text().strip()))
    seed = str(settings.data_dir.resolve())
    chosen = network.default_range(seed, namespaces=isolation.namespaces, used=network.machine_addresses())
    kept.write_text(f"{chosen}\n")
    return network.Addresses(chosen)
