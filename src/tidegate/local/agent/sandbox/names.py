"""Names that resolve inside a pod: its own, the API server's, and those of services, as an `/etc/hosts` file.

A file rather than a name server: it needs nobody alive to answer, and the pod's resolver never has to wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Spec = Mapping[str, Any]

# gRPC's own resolver also asks the name server and waits long for silence; nobody listens here, so it is told at once.
RESOLV = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"

DOMAIN = "cluster.local"


@dataclass(frozen=True, slots=True)
class Names:
    """What the hosts files of all pods are made of."""

    pods: tuple[Spec, ...]
    services: tuple[Spec, ...]
    api_address: str
    reachable: frozenset[str] = frozenset()
    """Cluster addresses that this node forwards; a service without one is resolved to its pods."""


def hostname_of(pod: Spec) -> str:
    return str(pod["spec"].get("hostname") or pod["metadata"]["name"])[:63].rstrip("-.")


def hosts_file(pod: Spec, pod_ip: str, names: Names) -> str:
    """The whole file for one pod."""
    namespace = pod["metadata"]["namespace"]
    lines = ["127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"]
    own = [hostname_of(pod)]
    if subdomain := pod["spec"].get("subdomain"):
        own.insert(0, f"{own[0]}.{subdomain}.{namespace}.svc.{DOMAIN}")
    lines.append(f"{pod_ip}\t{' '.join(own)}")
    lines.append(f"{names.api_address}\t{' '.join(_forms('kubernetes', 'default', namespace))}")
    for service in names.services:
        lines += _service_lines(service, names, namespace)
    for alias in pod["spec"].get("hostAliases") or []:
        lines.append(f"{alias['ip']}\t{' '.join(alias.get('hostnames') or [])}")
    return "\n".join(lines) + "\n"


def _forms(name: str, home: str, seen_from: str) -> list[str]:
    short = [name] if home == seen_from else []
    return [f"{name}.{home}.svc.{DOMAIN}", f"{name}.{home}.svc", f"{name}.{home}", *short]


def _service_lines(service: Spec, names: Names, seen_from: str) -> list[str]:
    meta, spec = service["metadata"], service["spec"]
    name, home = meta["name"], meta["namespace"]
    if (home, name) == ("default", "kubernetes"):
        return []
    if spec.get("type") == "ExternalName":
        return []
    lines = []
    address = spec.get("clusterIP") or "None"
    behind = list(backends(service, names.pods))
    addresses = [address] if address in names.reachable else [pod["status"]["podIP"] for pod in behind]
    lines += [f"{each}\t{' '.join(_forms(name, home, seen_from))}" for each in sorted(set(addresses))]
    if address == "None":
        for pod in behind:
            if pod["spec"].get("subdomain") == name and pod["spec"].get("hostname"):
                forms = _forms(f"{pod['spec']['hostname']}.{name}", home, seen_from)
                lines.append(f"{pod['status']['podIP']}\t{' '.join(forms)}")
    return lines


def backends(service: Spec, pods: Iterable[Spec]) -> Iterable[Spec]:
    """The pods a service stands for: those it selects that are ready, or all of them if it publishes those too."""
    selector = service["spec"].get("selector") or {}
    if not selector:
        return
    everyone = bool(service["spec"].get("publishNotReadyAddresses"))
    for pod in pods:
        status, meta = pod.get("status") or {}, pod["metadata"]
        if meta["namespace"] != service["metadata"]["namespace"] or not status.get("podIP"):
            continue
        labels = meta.get("labels") or {}
        over = status.get("phase") in ("Succeeded", "Failed")
        if not over and (everyone or is_ready(pod)) and all(labels.get(key) == selector[key] for key in selector):
            yield pod


def is_ready(pod: Spec) -> bool:
    if "deletionTimestamp" in pod["metadata"]:
        return False
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
