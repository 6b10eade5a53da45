"""Objects given to a control plane with Kueue in it, and what Kueue makes of them."""

from __future__ import annotations

import json
from typing import Any

from tests.harness import Cluster
from tidegate.dialects import Submission
from tidegate.model.jobs import builtin, peek, podsets

Json = Any
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
PLURALS = {
    "ResourceFlavor": "resourceflavors", "Cohort": "cohorts", "ClusterQueue": "clusterqueues",
    "LocalQueue": "localqueues",
}  # fmt: skip
# One tenant with a queue for everything, and more room than anybody asks for.
PLENTY: list[Json] = [
    {"kind": "ClusterQueue", "metadata": {"name": "org1"}, "spec": {"quotas": [{"flavor": "default", "resources": {
        "cpu": {"nominalQuota": "1000"}, "memory": {"nominalQuota": "10Ti"}}}]}},
    {"kind": "Queue", "metadata": {"namespace": "team-a", "name": "default"}, "spec": {"clusterQueue": "org1"}},
]  # fmt: skip
CONFIG: Json = {"scheduler": "kueue", "jobs": []}
WHO = Submission(organisation="org1", user="anna", id="7")
# What a TrainJob refers to.
RUNTIME: Json = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime", "metadata": {"name": "torch"},
    "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [{"name": "node", "template": {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": {"spec": {"containers": [{"name": "node", "image": "busybox:1"}]}}}}}]}}},
}  # fmt: skip


def apply(server: Cluster, objects: Any) -> list[str]:
    """Creates Kueue's objects; every one of them must be taken. Gives back where those are that have a state."""
    with_state = []
    for obj in objects:
        namespace = obj["metadata"].get("namespace")
        if namespace:
            server.http("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        path = f"{KUEUE}{f'/namespaces/{namespace}' if namespace else ''}/{PLURALS[obj['kind']]}"
        reply = server.http("POST", f"{path}?fieldValidation=Strict", obj)
        known = obj["kind"] == "ResourceFlavor" and reply.status == 409
        assert reply.status == 201 or known, f"{json.dumps(obj)}: {reply.body[:800]!r}"
        if obj["kind"] in ("ClusterQueue", "LocalQueue"):
            with_state.append(f"{path}/{obj['metadata']['name']}")
    return with_state


def has(obj: Json, condition: str) -> bool:
    states = (obj.get("status") or {}).get("conditions") or ()
    return any(one["type"] == condition and one["status"] == "True" for one in states)


def is_true(condition: str) -> Any:
    """Whether an object is there and its condition is true."""
    return lambda reply: reply.status == 200 and has(reply.json, condition)


# Kinds whose pods another program makes, and which Kueue does not know: asked about by their pods.
GROUPED = ("DaskCluster", "DaskJob", "QueueJob")
MADE = {
    "CronJob": ("Job", "batch/v1", "jobTemplate"),
    "ScheduledSparkApplication": ("SparkApplication", "", "template"),
}


def path_of(obj: Json) -> str:
    api = "api" if obj["apiVersion"] == "v1" else "apis"
    plural = {"RayCluster": "rayclusters"}.get(obj["kind"], obj["kind"].lower() + "s")
    return f"/{api}/{obj['apiVersion']}/namespaces/team-a/{plural}"


def what_it_makes(obj: Json) -> Json:
    """What its own controller makes of it at the next turn of the clock, where there is one."""
    if obj["kind"] not in MADE:
        return obj
    kind, version, field = MADE[obj["kind"]]
    inner = obj["spec"][field]
    spec = inner["spec"] if kind == "Job" else inner
    metadata = {
        **(inner.get("metadata") or {} if kind == "Job" else obj["metadata"]),
        "name": f"{obj['metadata']['name']}-made",
    }
    made = {"apiVersion": version or obj["apiVersion"], "kind": kind, "metadata": {**metadata, "namespace": "team-a"}}
    return {**made, "spec": spec}


def workloads_of(server: Cluster, uid: str, count: int = 1) -> list[Json]:
    """The Workloads that belong to an object, once there are so many and quota is given to all of them."""

    def mine(reply: Any) -> list[Json]:
        return [
            one
            for one in reply.json["items"]
            if any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences") or ())
        ]

    def are_admitted(reply: Any) -> bool:
        found = mine(reply)
        return len(found) >= count and all(has(one, "QuotaReserved") for one in found)

    return mine(server.eventually(f"{KUEUE}/namespaces/team-a/workloads", are_admitted))


def all_pods_of(obj: Json) -> list[Json]:
    """The pods that its own operator makes of its templates."""
    pods = []
    for shape in podsets(builtin().of(obj), obj, find=builtin().find):
        assert shape.place is not None
        labels, annotations = peek(obj, shape.place.labels), peek(obj, shape.place.annotations)
        metadata = {"labels": labels, "annotations": annotations}
        for index in range(shape.count):
            name = {"name": f"{obj['metadata']['name']}-{shape.name}-{index}"}
            pods.append(
                {"apiVersion": "v1", "kind": "Pod", "metadata": name | metadata, "spec": peek(obj, shape.place.pod)}
            )
    return pods
