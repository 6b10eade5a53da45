"""The mix in Kueue's words, as its own performance test says it: Workloads without Jobs, reclaimWithinCohort Any,
withinClusterQueue LowerPriority, and the end of an eviction said by the runner.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from benchmarks.operator.mix import BORROWING, NAMESPACE, Arrival, queue_names
from benchmarks.operator.words import Conditions, Status, Words

Json = Any
API = "kueue.x-k8s.io/v1beta2"
FLAVOR = "default"
_LET_GO = {"QuotaReserved": "Pending", "Admitted": "NoReservation"}
"""What is no longer so when its quota is given back, and the reasons that Kueue gives for it."""


class _Condition(msgspec.Struct):
    type: str
    status: str


_read = msgspec.json.Decoder(_Condition).decode


def body(one: Arrival) -> Json:
    container = {"name": "main", "image": "none", "resources": {"requests": {"cpu": str(one.shape.cpu)}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    pods = {"name": "main", "count": 1, "template": template}
    spec = {"queueName": one.queue, "priority": one.shape.priority, "podSets": [pods]}
    metadata = {"name": one.name, "namespace": NAMESPACE}
    return {"apiVersion": API, "kind": "Workload", "metadata": metadata, "spec": spec}


def state(status: Status) -> str:
    true = {each.type for each in map(_read, status.conditions) if each.status == "True"}
    if "Evicted" in true and "QuotaReserved" in true:
        return "Evicted"
    return "Admitted" if "Admitted" in true else ""


def let_go(conditions: Conditions) -> Json:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    kept = [each for each in conditions if _read(each).type not in _LET_GO]
    told = [
        {"type": kind, "status": "False", "reason": reason, "message": "By the runner", "lastTransitionTime": now}
        for kind, reason in _LET_GO.items()
    ]
    return {"admission": None, "conditions": [*kept, *told]}


def queues(nominal: int) -> Iterator[tuple[str, Json]]:
    preemption = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
    yield f"/apis/{API}/resourceflavors", _object("ResourceFlavor", FLAVOR, {})
    for cohort, name in queue_names():
        cpu = {"name": "cpu", "nominalQuota": str(nominal), "borrowingLimit": str(BORROWING)}
        groups = [{"coveredResources": ["cpu"], "flavors": [{"name": FLAVOR, "resources": [cpu]}]}]
        spec = {"cohortName": cohort, "namespaceSelector": {}, "resourceGroups": groups, "preemption": preemption}
        yield f"/apis/{API}/clusterqueues", _object("ClusterQueue", name, spec)
        yield f"/apis/{API}/namespaces/{NAMESPACE}/localqueues", _object("LocalQueue", name, {"clusterQueue": name})


def _object(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


WORDS = Words(
    path=f"/apis/{API}/namespaces/{NAMESPACE}/workloads", body=body, state=state, let_go=let_go, queues=queues
)
