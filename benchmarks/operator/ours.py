"""The mix in Tidegate's own words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.operator.mix import BORROWING, COHORTS, NAMESPACE, Arrival, queue_names
from benchmarks.operator.words import Words

Json = Any
API = "tidegate.dev/v1alpha1"


def body(one: Arrival) -> Json:
    pods = {"name": "main", "count": 1, "requests": {"cpu": str(one.shape.cpu)}}
    spec = {"queue": one.queue, "priority": one.shape.priority, "podSets": [pods]}
    metadata = {"name": one.name, "namespace": NAMESPACE}
    return {"apiVersion": API, "kind": "Workload", "metadata": metadata, "spec": spec}


def queues(nominal: int) -> Iterator[tuple[str, Json]]:
    """The tree: a root for each cohort, its ClusterQueues, and a door to each."""
    trees, doors = f"/apis/{API}/clusterqueues", f"/apis/{API}/namespaces/{NAMESPACE}/queues"
    preemption = {"withinQueue": "LowerPriority", "acrossQueues": "FairShare"}
    for number in range(COHORTS):
        yield trees, _object("ClusterQueue", f"cohort-{number}", {})
    for cohort, name in queue_names():
        cpu = {"nominalQuota": str(nominal), "borrowingLimit": str(BORROWING)}
        quotas = [{"flavor": "default", "resources": {"cpu": cpu}}]
        yield trees, _object("ClusterQueue", name, {"parent": cohort, "quotas": quotas, "preemption": preemption})
        yield doors, _object("Queue", name, {"clusterQueue": name})


def _object(kind: str, name: str, spec: Json) -> Json:
    return {"apiVersion": API, "kind": kind, "metadata": {"name": name}, "spec": spec}


WORDS = Words(
    path=f"/apis/{API}/namespaces/{NAMESPACE}/workloads",
    body=body,
    state=lambda status: status.state,
    let_go=None,
    queues=queues,
)
