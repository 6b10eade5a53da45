"""The real server's side of the comparison, and what of its answers can be compared."""

from __future__ import annotations

import copy
import http.client
from typing import Any

from tests.harness import Cluster
from tests.local.kinds.ours import Sort, Verdict, sort_of
from tidegate.local.kinds.core import service, service_checks

Json = Any
_DRY = "?dryRun=All"
_VOLATILE = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "generateName", "selfLink")
ADMISSION_OFF = (
    "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,DefaultTolerationSeconds,Priority,"
    "StorageObjectInUseProtection,DefaultStorageClass,PodTopologyLabels,RuntimeClass,LimitRanger,PodSecurity"
)
"""What admission adds or refuses is not a kind's own rule."""


def create(cluster: Cluster, obj: Json) -> Verdict:
    return _asked(cluster, "POST", sort_of(obj).path + _DRY, obj)


def update(cluster: Cluster, obj: Json, subresource: str = "") -> Verdict:
    path = f"{sort_of(obj).path}/{obj['metadata']['name']}"
    return _asked(cluster, "PUT", f"{path}/{subresource}{_DRY}" if subresource else path + _DRY, obj)


def _asked(cluster: Cluster, method: str, path: str, obj: Json) -> Verdict:
    try:
        return _verdict(cluster.http(method, path, obj))
    except http.client.RemoteDisconnected:  # Some manifests make the real server panic and hang up.
        return Verdict(500)


def store(cluster: Cluster, obj: Json) -> Json:
    """Creates for good, under a name of its own, unless it is there; what is stored."""
    sort = sort_of(obj)
    obj = copy.deepcopy(obj)
    if sort.kind != "APIService":
        obj["metadata"]["name"] = f"kept-{obj['metadata']['name']}"
    for port in obj.get("spec", {}).get("ports") or ():
        port.pop("nodePort", None)
    cluster.http("POST", sort.path, obj)
    reply = cluster.http("GET", f"{sort.path}/{obj['metadata']['name']}")
    assert reply.status == 200, reply.body
    return reply.json


def store_status(cluster: Cluster, obj: Json) -> Json:
    """Writes the status for good; what is stored."""
    path = f"{sort_of(obj).path}/{obj['metadata']['name']}"
    reply = cluster.http("PUT", f"{path}/status", obj)
    assert reply.status == 200, reply.body
    return reply.json


def _verdict(reply: Any) -> Verdict:
    answer = reply.json
    if reply.status < 300:
        return Verdict(reply.status, obj=answer)
    causes = answer.get("details", {}).get("causes") or ()
    if reply.status != 422:
        return Verdict(reply.status)
    return Verdict(422, frozenset((cause["reason"], cause.get("field", "")) for cause in causes))


def comparable(obj: Json, sort: Sort, theirs: Json) -> Json:
    """Without what differs from run to run, and with what only a whole server hands out."""
    kept = copy.deepcopy(obj)
    for key in _VOLATILE:
        kept["metadata"].pop(key, None)
    if sort.kind == "Service":
        _hand_out(kept["spec"], theirs["spec"])
    if sort.kind == "Namespace":
        kept.get("status", {}).pop("conditions", None)
    for condition in kept.get("status", {}).get("conditions") or ():
        if condition.get("reason") == "SchedulingGated":
            # A slow server says so a second after the pod was made.
            condition.pop("lastTransitionTime", None)
    return pruned(kept)


def _hand_out(spec: Json, theirs: Json) -> None:
    if service.needs_cluster_ip(spec) and not spec.get("clusterIP"):
        spec["clusterIP"], spec["clusterIPs"] = theirs["clusterIP"], theirs["clusterIPs"]
    if service.needs_node_ports(spec):
        for port, other in zip(spec.get("ports") or (), theirs.get("ports") or (), strict=True):
            port.setdefault("nodePort", other["nodePort"])
    if service_checks.needs_health_check_port(spec):
        spec.setdefault("healthCheckNodePort", theirs["healthCheckNodePort"])


def pruned(value: Json) -> Json:
    """Without nulls, empty lists, empty maps and empty texts: which of them are shown is the schema's business."""
    if isinstance(value, dict):
        kept = {key: pruned(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    return [pruned(item) for item in value] if isinstance(value, list) else value
