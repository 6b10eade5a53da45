"""Rendered queues and jobs in the hands of Kueue's own manager and webhooks, on the real control plane."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.dialects.peers import kueue
from tests.dialects.peers.difficult import MENDED, REFUSED
from tests.dialects.peers.programs import program
from tests.dialects.trees import COMPANY, queue_objects
from tests.harness import Cluster, RealKube
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import DialectError, Submission, render
from tidegate.dialects.queues import TARGETS, parse_tree
from tidegate.model.jobs import builtin, peek, podsets

pytestmark = pytest.mark.kube
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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane of its own: Kueue's webhooks have a say in every pod of it."""
    program("kueue")
    folder: Path = tmp_path_factory.mktemp("kueue")
    with RealKube() as cluster, kueue.running(cluster, folder):
        cluster.create("/api/v1/namespaces", {"metadata": {"name": "team-a"}})
        _apply(cluster, TARGETS["kueue"](parse_tree(PLENTY)).objects)
        yield cluster


def _apply(server: Cluster, objects: Any) -> list[str]:
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


def _has(obj: Json, condition: str) -> bool:
    states = (obj.get("status") or {}).get("conditions") or ()
    return any(one["type"] == condition and one["status"] == "True" for one in states)


def _is(condition: str) -> Any:
    """Whether an object is there and its condition is true."""
    return lambda reply: reply.status == 200 and _has(reply.json, condition)


def test_the_company_is_taken_and_becomes_active(server: Cluster) -> None:
    for path in _apply(server, TARGETS["kueue"](parse_tree(COMPANY)).objects):
        server.eventually(path, _is("Active"))


TREES = iter(range(1000))


@given(queue_objects())
@settings(max_examples=20, suppress_health_check=list(HealthCheck), print_blob=True)
def test_every_tree_is_taken_and_becomes_active(server: Cluster, objects: list[Json]) -> None:
    number = next(TREES)
    own = json.loads(
        json.dumps(objects).replace('"node-', f'"tree-{number}-').replace('"name": "q', f'"name": "q{number}-')
    )
    for path in _apply(server, TARGETS["kueue"](parse_tree(own)).objects):
        server.eventually(path, _is("Active"))


# Kinds whose pods another program makes, and which Kueue does not know: asked about by their pods, below.
GROUPED = ("DaskCluster", "DaskJob", "QueueJob")
MADE = {
    "CronJob": ("Job", "batch/v1", "jobTemplate"),
    "ScheduledSparkApplication": ("SparkApplication", "", "template"),
}


def _path(obj: Json) -> str:
    api = "api" if obj["apiVersion"] == "v1" else "apis"
    plural = {"RayCluster": "rayclusters"}.get(obj["kind"], obj["kind"].lower() + "s")
    return f"/{api}/{obj['apiVersion']}/namespaces/team-a/{plural}"


def _what_it_makes(obj: Json) -> Json:
    """What its own controller makes of it at the next turn of the clock, where there is one."""
    if obj["kind"] not in MADE:
        return obj
    kind, version, field = MADE[obj["kind"]]
    inner = obj["spec"][field]
    spec = inner["spec"] if kind == "Job" else inner
    metadata = {**(inner.get("metadata") or {} if kind == "Job" else obj["metadata"]), "name": f"{kind.lower()}-made"}
    made = {"apiVersion": version or obj["apiVersion"], "kind": kind, "metadata": {**metadata, "namespace": "team-a"}}
    return {**made, "spec": spec}


def _workloads_of(server: Cluster, uid: str, count: int = 1) -> list[Json]:
    """The Workloads that belong to an object, once there are so many and quota is given to all of them."""

    def mine(reply: Any) -> list[Json]:
        return [
            one
            for one in reply.json["items"]
            if any(owner["uid"] == uid for owner in one["metadata"].get("ownerReferences") or ())
        ]

    def are_admitted(reply: Any) -> bool:
        found = mine(reply)
        return len(found) >= count and all(_has(one, "QuotaReserved") for one in found)

    return mine(server.eventually(f"{KUEUE}/namespaces/team-a/workloads", are_admitted))


def _runtime(server: Cluster) -> None:
    """What a TrainJob refers to."""
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    pod = {"spec": {"containers": [{"name": "node", "image": "busybox:1"}]}}
    jobs = [{"name": "node", "template": {"metadata": {"labels": labels}, "spec": {"template": pod}}}]
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch"},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": jobs}}},
    }
    server.create("/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes", runtime)


CONTROLLED = ("Deployment", "StatefulSet", "LeaderWorkerSet")
WHOLE = [kind for kind in KINDS if kind not in (*GROUPED, *CONTROLLED)]


@pytest.mark.parametrize("kind", WHOLE)
def test_what_is_rendered_is_taken_and_gets_its_quota(server: Cluster, kind: str) -> None:
    """In the queue that was meant, with as many pods in as many sets as Tidegate counts."""
    if kind == "TrainJob":
        _runtime(server)
    made = _what_it_makes(render(sample(kind), WHO, CONFIG).object)
    kept = server.create(f"{_path(made)}?fieldValidation=Strict", made)
    (workload,) = _workloads_of(server, kept["metadata"]["uid"])
    assert workload["spec"]["queueName"] == "default"
    assert workload["status"]["admission"]["clusterQueue"] == "org1"
    ours = sorted(shape.count for shape in podsets(builtin().of(made), made, find=builtin().find))
    assert sorted(one["count"] for one in workload["spec"]["podSets"]) == ours


def test_every_replica_of_a_leader_worker_set_is_a_workload(server: Cluster) -> None:
    made = render(sample("LeaderWorkerSet"), WHO, CONFIG).object
    made["spec"]["rolloutStrategy"] = {"type": "RollingUpdate"}  # Its own webhook would fill it in.
    kept = server.create(f"{_path(made)}?fieldValidation=Strict", made)
    found = _workloads_of(server, kept["metadata"]["uid"], 2)
    assert [sorted(one["count"] for one in workload["spec"]["podSets"]) for workload in found] == [[1, 3]] * 2


@pytest.mark.parametrize(("kind", "least"), [("Deployment", 3), ("StatefulSet", 1)])
def test_pods_that_a_controller_makes_are_let_go(server: Cluster, kind: str, least: int) -> None:
    """Kueue holds each of them by a gate, which goes when there is quota."""
    made = render(sample(kind), WHO, CONFIG).object
    labels = made["spec"]["selector"]["matchLabels"] = {"app": kind.lower()}
    made["spec"]["template"]["metadata"]["labels"] |= labels
    server.create(f"{_path(made)}?fieldValidation=Strict", made)
    listed = f"/api/v1/namespaces/team-a/pods?labelSelector=app={kind.lower()}"
    pods = server.eventually(
        listed,
        lambda reply: (
            len(reply.json["items"]) >= least
            and not any(pod["spec"].get("schedulingGates") for pod in reply.json["items"])
        ),
    ).json["items"]
    assert {pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] for pod in pods} == {"default"}
    assert all(pod["metadata"]["labels"]["kueue.x-k8s.io/managed"] == "true" for pod in pods)


def _pods_of(obj: Json) -> list[Json]:
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


@pytest.mark.parametrize("kind", GROUPED)
def test_pods_of_kinds_that_kueue_does_not_know_are_one_workload(server: Cluster, kind: str) -> None:
    rendered = render(sample(kind), WHO, CONFIG).object
    pods = _pods_of(rendered)
    for pod in pods:
        server.create(f"{_path(pod)}?fieldValidation=Strict", pod)
    group = f"{KUEUE}/namespaces/team-a/workloads/{rendered['metadata']['name']}"
    workload = server.eventually(group, _is("QuotaReserved")).json
    assert workload["spec"]["queueName"] == "default"
    assert sum(one["count"] for one in workload["spec"]["podSets"]) == len(pods)


def test_a_pod_group_is_one_workload(server: Cluster) -> None:
    """Pods that say for Tidegate that they belong together do so for Kueue, too."""
    for index in range(2):
        pod = sample("Pod")
        pod["metadata"] = {"name": f"gang-{index}", "namespace": "team-a", "labels": {"tidegate.dev/pod-group": "gang"}}
        pod["metadata"]["annotations"] = {"tidegate.dev/pod-group-size": "2"}
        rendered = render(pod, WHO, CONFIG).object
        server.create(f"{_path(rendered)}?fieldValidation=Strict", rendered)
    workload = server.eventually(f"{KUEUE}/namespaces/team-a/workloads/gang", _is("Admitted")).json
    assert sum(one["count"] for one in workload["spec"]["podSets"]) == 2


@pytest.mark.parametrize(("bound", "value"), [("min-count", "2"), ("max-count", "8")])
def test_a_job_with_bounds_and_a_priority_is_taken(server: Cluster, bound: str, value: str) -> None:
    """A floor as partial admission, a ceiling as an elastic job, a class as a class."""
    priority = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": bound}}
    server.create(f"{KUEUE}/workloadpriorityclasses", {**priority, "value": 1000})
    job = sample("Job")
    job["metadata"] |= {"name": bound, "annotations": {f"tidegate.dev/{bound}": value}}
    job["metadata"]["labels"] = {"tidegate.dev/priority-class": bound}
    made = render(job, WHO, CONFIG).object
    kept = server.create(f"{_path(made)}?fieldValidation=Strict", made)
    (workload,) = _workloads_of(server, kept["metadata"]["uid"])
    assert workload["spec"]["priority"] == 1000
    (pods,) = workload["spec"]["podSets"]
    assert (pods["count"], pods.get("minCount")) == (4, 2 if bound == "min-count" else None)


def _asked_raw(server: Cluster, obj: Json) -> Any:
    """What Kueue says to an object that only has the label."""
    raw = {**obj, "metadata": {"name": "raw", "labels": {"kueue.x-k8s.io/queue-name": "default"}}}
    return server.http("POST", f"{_path(raw)}?dryRun=All", raw)


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_what_kueue_refuses(server: Cluster, what: str) -> None:
    with pytest.raises(DialectError):
        render(REFUSED[what], WHO, CONFIG)
    reply = _asked_raw(server, REFUSED[what])
    assert reply.status in (403, 422), reply.body[:500]
    assert "admission webhook" in reply.json["message"]


@pytest.mark.parametrize("what", MENDED)
def test_what_kueue_would_refuse_is_rendered_so_that_it_does_not(server: Cluster, what: str) -> None:
    assert _asked_raw(server, MENDED[what]).status in (403, 422)
    rendered = render(MENDED[what], WHO, CONFIG).object
    rendered["metadata"]["name"] = "mended"
    reply = server.http("POST", f"{_path(rendered)}?dryRun=All", rendered)
    assert reply.status == 201, reply.body[:800]
