"""`tidegate up` keeps what an installation keeps: growth waits, hands are signed, nobody writes what is Tidegate's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.controller.doors.test_in_process import account
from tests.controller.house import House
from tests.controller.kinds.serving import is_served, resource_of, stub
from tests.harness.cluster import PATIENCE_S
from tidegate.assembly import beside
from tidegate.controller.kinds import CLUSTER_QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Request
from tidegate.local.access.users import User
from tidegate.local.apiserver.server import InProcess
from tidegate.local.control_plane import ControlPlane, Settings
from tidegate.model.jobs import builtin

Json = Any
SETS = [{"name": "main", "count": 1, "requests": {"cpu": "1"}}]


@pytest.fixture
async def plane(tmp_path: Path) -> AsyncIterator[ControlPlane]:
    plane = ControlPlane(Settings(tmp_path), beside)
    await plane.start()
    await account(plane.client, "default")
    yield plane
    await plane.stop()


@pytest.fixture
async def house(plane: ControlPlane) -> House:
    """The operator is the one inside."""
    house = House(plane.client)
    await house.open()
    await house.furnish()
    return house


@pytest.fixture
async def ann(plane: ControlPlane, house: House) -> Client:
    """Somebody who may change work and grant nothing."""
    rule = {"apiGroups": ["", "batch", "tidegate.dev"], "resources": ["pods", "jobs", "workloads"], "verbs": ["*"]}
    await house.create(r.ROLES, "ann", rules=[rule])
    group = "rbac.authorization.k8s.io"
    subject, role = (
        {"kind": "User", "name": "ann", "apiGroup": group},
        {"kind": "Role", "name": "ann", "apiGroup": group},
    )
    await house.create(r.ROLEBINDINGS, "ann", subjects=[subject], roleRef=role)
    return Client(InProcess(plane.server, User("ann", ())))


async def test_a_job_that_is_made_larger_stays_at_what_was_granted_and_says_so(
    plane: ControlPlane, house: House, ann: Client
) -> None:
    await house.queued_job("job", 8, least=1, completions=40)
    await house.see(r.JOBS, "job", lambda job: job["spec"]["parallelism"] == 4 and not job["spec"]["suspend"])
    body = json.dumps({"spec": {"parallelism": 20}}).encode()
    headers = {"content-type": "application/merge-patch+json"}
    path = f"/apis/batch/v1/namespaces/{house.namespace}/jobs/job"
    answer = await InProcess(plane.server, User("ann", ())).send(Request("PATCH", path, {}, headers, body))
    assert answer.status == 200
    assert "spec.parallelism: 20 pods are asked for; it runs with the 4 that are granted" in str(answer.headers)
    assert isinstance(answer.body, bytes)
    assert json.loads(answer.body)["spec"]["parallelism"] == 4
    await house.see(WORKLOADS, "job-job", lambda obj: obj["spec"]["podSets"][0]["count"] == 20)


async def test_a_held_job_is_not_let_go_by_hand(house: House, ann: Client) -> None:
    await house.queued_job("big", 9)
    await house.waits("job-big", "ExceedsQuota")
    assert (await ann.patch(r.JOBS, "big", {"spec": {"suspend": False}}, house.namespace))["spec"]["suspend"] is True


async def test_a_workload_made_by_hand_is_signed_by_whoever_made_it(house: House, ann: Client) -> None:
    forged = {"tidegate.dev/submitter": '{"user":"somebody-else"}'}
    made = await ann.create(
        WORKLOADS, {"metadata": {"name": "own", "annotations": forged}, "spec": {"podSets": SETS}}, house.namespace
    )
    assert json.loads(made["metadata"]["annotations"]["tidegate.dev/submitter"])["user"] == "ann"
    # The operator itself says for whom it makes one.
    made = await house.create(WORKLOADS, "ours", spec={"podSets": SETS})
    assert "annotations" not in made["metadata"]


@pytest.mark.parametrize("what", ["granted", "gate"])
async def test_what_only_tidegate_writes_nobody_else_changes(house: House, ann: Client, what: str) -> None:
    big = {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "9"}}}]}
    await ann.create(r.PODS, {"metadata": {"name": "waits"}, "spec": big}, house.namespace)
    patches: dict[str, Json] = {
        "granted": {"metadata": {"annotations": {"tidegate.dev/granted": '{"main":1}'}}},
        "gate": {"spec": {"schedulingGates": None}},
    }

    async def refusal() -> str:
        try:
            await ann.patch(r.PODS, "waits", patches[what], house.namespace, query={"dryRun": "All"})
        except StatusError as no:
            return no.message
        return ""

    # The policy is written once the operator has begun.
    assert "Tidegate" in await house.until(refusal)


async def test_the_policy_is_put_back_when_somebody_takes_it_away(house: House) -> None:
    for resource in (r.VALIDATINGADMISSIONPOLICIES, r.VALIDATINGADMISSIONPOLICYBINDINGS):
        async with asyncio.timeout(PATIENCE_S):
            first = await seen(house.client, resource)
            await house.client.delete(resource, "tidegate")
            assert await seen(house.client, resource, but=first) != first


async def seen(client: Client, resource: Any, *, but: str = "") -> str:
    """The uid of the object called tidegate, once it is there and another than before."""
    async for event in client.watch(resource, fields="metadata.name=tidegate", initial=True):
        if event.type == "ADDED" and event.object["metadata"]["uid"] != but:
            return str(event.object["metadata"]["uid"])
    raise AssertionError("the watch ended")


async def test_a_cluster_queue_cannot_be_its_own_ancestor(house: House) -> None:
    await house.client.create(CLUSTER_QUEUES, {"metadata": {"name": "top"}, "spec": {}})
    await house.client.create(CLUSTER_QUEUES, {"metadata": {"name": "low"}, "spec": {"parent": "top"}})
    with pytest.raises(StatusError) as no:
        await house.client.patch(CLUSTER_QUEUES, "top", {"spec": {"parent": "low"}})
    assert no.value.code == 422
    assert "ClusterQueue top would be its own ancestor (top → low → top)" in no.value.message


async def test_what_is_scaled_is_put_right_afterwards_and_the_wish_is_kept(house: House) -> None:
    """Who scales says nothing of the object that is scaled, so no door can hold what is new. The operator does, when it
    hears of it: pods made from then on wait behind the gate, and come when there is quota."""
    training = resource_of(builtin().named("PyTorchJob"))
    definition = stub(training)
    scale = {"specReplicasPath": ".spec.pytorchReplicaSpecs.Worker.replicas", "statusReplicasPath": ".status.replicas"}
    definition["spec"]["versions"][0]["subresources"]["scale"] = scale
    await house.client.create(r.CRDS, definition)
    await house.until(lambda: is_served(house, training))
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    worker = {"replicas": 2, "template": {"spec": {"containers": [container]}}}
    spec = {"runPolicy": {"suspend": True}, "pytorchReplicaSpecs": {"Worker": worker}}
    await house.client.create(training, {"metadata": {"name": "net"}, "spec": spec}, house.namespace)
    await house.see(training, "net", lambda obj: flavor(obj) == "default" and not obj["spec"]["runPolicy"]["suspend"])
    path = training.path(house.namespace, "net", "scale")
    wish = await house.client.raw("GET", path)
    await house.client.raw("PUT", path, body={**wish, "spec": {"replicas": 6}})
    workload = await house.see(WORKLOADS, "pytorchjob-net", lambda obj: obj["spec"]["podSets"][0]["count"] == 6)
    scaled = await house.see(training, "net", is_gated)
    assert workload["status"]["podSets"][0]["granted"] == 2
    assert scaled["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 6
    template = scaled["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "net", "controller": True}
    meta = {**template["metadata"], "name": "net-2", "ownerReferences": [{**owner, "uid": scaled["metadata"]["uid"]}]}
    pod = await house.client.create(r.PODS, {"metadata": meta, "spec": template["spec"]}, house.namespace)
    assert pod["spec"]["schedulingGates"] == [{"name": "tidegate.dev/quota"}]
    await house.quota({"cpu": {"nominalQuota": "6"}})
    await house.see(r.PODS, "net-2", lambda obj: not obj["spec"].get("schedulingGates"))


def is_gated(job: Json) -> bool:
    gates = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"].get("schedulingGates")
    return bool(gates == [{"name": "tidegate.dev/quota"}])


def flavor(job: Json) -> str | None:
    meta = job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"].get("metadata") or {}
    return (meta.get("annotations") or {}).get("tidegate.dev/flavor")
