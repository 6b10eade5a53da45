"""Rendered queues and jobs in the hands of Kueue's own manager and webhooks, on the real control plane."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.dialects.peers.asking_kueue import (
    CONFIG,
    GROUPED,
    KUEUE,
    WHO,
    all_pods_of,
    apply,
    is_true,
    path_of,
    what_it_makes,
    workloads_of,
)
from tests.dialects.peers.difficult import MENDED, REFUSED
from tests.dialects.trees import COMPANY, queue_objects
from tests.harness import Cluster
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import DialectError, render
from tidegate.dialects.queues import TARGETS, parse_tree
from tidegate.model.jobs import builtin, podsets

pytestmark = pytest.mark.kube
Json = Any


def test_the_company_is_taken_and_becomes_active(server: Cluster) -> None:
    for path in apply(server, TARGETS["kueue"](parse_tree(COMPANY)).objects):
        server.eventually(path, is_true("Active"))


TREES = iter(range(1000))


@given(queue_objects())
@settings(max_examples=20, suppress_health_check=list(HealthCheck), print_blob=True)
def test_every_tree_is_taken_and_becomes_active(server: Cluster, objects: list[Json]) -> None:
    number = next(TREES)
    own = json.loads(
        json.dumps(objects).replace('"node-', f'"tree-{number}-').replace('"name": "q', f'"name": "q{number}-')
    )
    for path in apply(server, TARGETS["kueue"](parse_tree(own)).objects):
        server.eventually(path, is_true("Active"))


CONTROLLED = ("Deployment", "StatefulSet", "LeaderWorkerSet")
WHOLE = [kind for kind in KINDS if kind not in (*GROUPED, *CONTROLLED)]


@pytest.mark.parametrize("kind", WHOLE)
def test_what_is_rendered_is_taken_and_gets_its_quota(server: Cluster, kind: str) -> None:
    """In the queue that was meant, with as many pods in as many sets as Tidegate counts."""
    made = what_it_makes(render(sample(kind), WHO, CONFIG).object)
    kept = server.create(f"{path_of(made)}?fieldValidation=Strict", made)
    (workload,) = workloads_of(server, kept["metadata"]["uid"])
    assert workload["spec"]["queueName"] == "default"
    assert workload["status"]["admission"]["clusterQueue"] == "org1"
    ours = sorted(shape.count for shape in podsets(builtin().of(made), made, find=builtin().find))
    assert sorted(one["count"] for one in workload["spec"]["podSets"]) == ours


def test_every_replica_of_a_leader_worker_set_is_a_workload(server: Cluster) -> None:
    made = render(sample("LeaderWorkerSet"), WHO, CONFIG).object
    made["spec"]["rolloutStrategy"] = {"type": "RollingUpdate"}  # Its own webhook would fill it in.
    kept = server.create(f"{path_of(made)}?fieldValidation=Strict", made)
    found = workloads_of(server, kept["metadata"]["uid"], 2)
    assert [sorted(one["count"] for one in workload["spec"]["podSets"]) for workload in found] == [[1, 3]] * 2


@pytest.mark.parametrize(("kind", "least"), [("Deployment", 3), ("StatefulSet", 1)])
def test_pods_that_a_controller_makes_are_let_go(server: Cluster, kind: str, least: int) -> None:
    """Kueue holds each of them by a gate, which goes when there is quota."""
    made = render(sample(kind), WHO, CONFIG).object
    labels = made["spec"]["selector"]["matchLabels"] = {"app": kind.lower()}
    made["spec"]["template"]["metadata"]["labels"] |= labels
    server.create(f"{path_of(made)}?fieldValidation=Strict", made)
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


@pytest.mark.parametrize("kind", GROUPED)
def test_pods_of_kinds_that_kueue_does_not_know_are_one_workload(server: Cluster, kind: str) -> None:
    rendered = render(sample(kind), WHO, CONFIG).object
    pods = all_pods_of(rendered)
    for pod in pods:
        server.create(f"{path_of(pod)}?fieldValidation=Strict", pod)
    group = f"{KUEUE}/namespaces/team-a/workloads/{rendered['metadata']['name']}"
    workload = server.eventually(group, is_true("QuotaReserved")).json
    assert workload["spec"]["queueName"] == "default"
    assert sum(one["count"] for one in workload["spec"]["podSets"]) == len(pods)


def test_a_pod_group_is_one_workload(server: Cluster) -> None:
    """Pods that say for Tidegate that they belong together do so for Kueue, too."""
    for index in range(2):
        pod = sample("Pod")
        pod["metadata"] = {"name": f"gang-{index}", "namespace": "team-a", "labels": {"tidegate.dev/pod-group": "gang"}}
        pod["metadata"]["annotations"] = {"tidegate.dev/pod-group-size": "2"}
        rendered = render(pod, WHO, CONFIG).object
        server.create(f"{path_of(rendered)}?fieldValidation=Strict", rendered)
    workload = server.eventually(f"{KUEUE}/namespaces/team-a/workloads/gang", is_true("Admitted")).json
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
    kept = server.create(f"{path_of(made)}?fieldValidation=Strict", made)
    (workload,) = workloads_of(server, kept["metadata"]["uid"])
    assert workload["spec"]["priority"] == 1000
    (pods,) = workload["spec"]["podSets"]
    assert (pods["count"], pods.get("minCount")) == (4, 2 if bound == "min-count" else None)


def _asked_raw(server: Cluster, obj: Json) -> Any:
    """What Kueue says to an object that only has the label."""
    raw = {**obj, "metadata": {"name": "raw", "labels": {"kueue.x-k8s.io/queue-name": "default"}}}
    return server.http("POST", f"{path_of(raw)}?dryRun=All", raw)


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
    reply = server.http("POST", f"{path_of(rendered)}?dryRun=All", rendered)
    assert reply.status == 201, reply.body[:800]
