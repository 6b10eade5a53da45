"""What every cluster has from its first moment: namespaces, roles, priority classes, the `kubernetes` Service.

Written at each start if it is missing, and never changed if it is there: whoever edits a role keeps the edit.
"""

from __future__ import annotations

import asyncio
import logging

from tidegate.kube.wire import Object, Request, Response
from tidegate.local.access.policy import cluster_role_bindings, cluster_roles
from tidegate.local.apiserver.addresses import FIRST
from tidegate.local.apiserver.answers import encode
from tidegate.local.apiserver.server import InProcess, Server

log = logging.getLogger(__name__)

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")


async def bootstrap(server: Server, port: int) -> None:
    """Creates what is missing. All writes go out together, so that they share a commit."""
    transport = InProcess(server)
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    wanted = [("/api/v1/namespaces", {"metadata": {"name": name}}) for name in _NAMESPACES]
    wanted += [(f"{rbac}/clusterroles", role) for role in cluster_roles()]
    wanted += [(f"{rbac}/clusterrolebindings", binding) for binding in cluster_role_bindings()]
    wanted += [(classes, _priority_class(name, value)) for name, value in _PRIORITIES.items()]
    answers = await asyncio.gather(*[_create(server, transport, path, obj) for path, obj in wanted])
    # The Service needs its namespace.
    answers += [await _create(server, transport, "/api/v1/namespaces/default/services", _service(port))]
    failed = [answer for answer in answers if answer is not None and answer.status not in (201, 409)]
    for answer in failed:
        log.error("one of the cluster's own objects could not be made: %r", answer.body)


async def _create(server: Server, transport: InProcess, path: str, obj: Object) -> Response | None:
    group, plural = (
        ("core", path.rpartition("/")[2])
        if path.startswith("/api/")
        else (path.split("/")[2], path.rsplit("/", maxsplit=1)[-1])
    )
    inside = "default/" if plural == "services" else ""
    if server.api.store.get(f"{group}/{plural}/{inside}{obj['metadata']['name']}") is not None:
        return None
    return await transport.send(Request("POST", path, {}, {"user-agent": "kube-apiserver"}, encode(obj)))


_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def _priority_class(name: str, value: int) -> Object:
    what = "Used for pods the whole cluster needs." if "cluster" in name else "Used for pods a node cannot do without."
    return {"metadata": {"name": name}, "value": value, "description": what}


def _service(port: int) -> Object:
    labels = {"component": "apiserver", "provider": "kubernetes"}
    ports = [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": port}]
    spec = {"clusterIP": FIRST, "ports": ports, "sessionAffinity": "None", "type": "ClusterIP"}
    return {"metadata": {"name": "kubernetes", "labels": labels}, "spec": spec}
