"""What is created is judged: held, gated, refused with what to do, or none of Tidegate's business."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.controllers.stage import Stage
from tests.model.jobs.samples import sample
from tidegate.assembly import beside
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.namespaces import rules_in
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Request
from tidegate.local.access.users import User
from tidegate.local.apiserver.server import InProcess
from tidegate.local.control_plane import ControlPlane, Settings

Json = Any
POD = {"containers": [{"name": "main", "image": "host"}]}


@pytest.fixture
async def plane(tmp_path: Path) -> AsyncIterator[ControlPlane]:
    """The embedded control plane with the operator inside, as `tidegate up` has it."""
    plane = ControlPlane(Settings(tmp_path), beside)
    await plane.start()
    await account(plane.client, "default")
    yield plane
    await plane.stop()


@pytest.fixture
def client(plane: ControlPlane) -> Client:
    return plane.client


async def pod(client: Client, name: str, namespace: str = "default", **spec: Json) -> Object:
    body = {"metadata": {"name": name, "namespace": namespace}, "spec": {**POD, **spec}}
    return await client.create(r.PODS, body)


async def namespace(client: Client, name: str, **labels: str) -> str:
    await client.create(r.NAMESPACES, {"metadata": {"name": name, "labels": labels}})
    await account(client, name)
    return name


async def account(client: Client, namespace: str) -> None:
    """Pods need one; a controller makes it."""
    async with contextlib.aclosing(client.watch(r.SERVICEACCOUNTS, namespace, initial=True)) as watch:
        async for event in watch:
            if event.type == "ADDED":
                return


async def test_a_pod_that_nobody_owns_is_gated_and_signed(client: Client) -> None:
    made = await pod(client, "one")
    assert made["spec"]["schedulingGates"] == [{"name": "tidegate.dev/quota"}]
    assert json.loads(made["metadata"]["annotations"]["tidegate.dev/submitter"])["user"] == "system:apiserver"


async def test_no_queue_no_pod_and_what_to_do(client: Client) -> None:
    await namespace(client, "bare")
    with pytest.raises(StatusError) as refused:
        await pod(client, "one", "bare")
    assert refused.value.code == 403
    assert "namespace bare is managed by Tidegate and has no Queue" in refused.value.message
    assert "`tidegate queue create default -n bare`" in refused.value.message


async def test_an_application_without_a_queue_is_taken_with_a_warning(plane: ControlPlane, client: Client) -> None:
    """Its pods will be refused, which only its events would say: kubectl shows a warning at once."""
    await namespace(client, "bare")
    job = {"metadata": {"name": "x"}, "spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}
    body = json.dumps({"apiVersion": "batch/v1", "kind": "Job", **job}).encode()
    headers = {"content-type": "application/json"}
    for place, warned in (("bare", True), ("default", False)):
        request = Request("POST", f"/apis/batch/v1/namespaces/{place}/jobs", {}, headers, body)
        answer = await InProcess(plane.server).send(request)
        assert answer.status == 201
        assert ("`tidegate queue create default -n bare`" in str(answer.headers)) is warned


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        (
            {"labels": {"tidegate.dev/queue": "defualt"}},
            "there is no Queue defualt in namespace default, so it waits; ",
        ),
        ({"annotations": {"tidegate.dev/min-count": "x"}}, "it cannot be put in line: metadata.annotations"),
        ({"annotations": {"tidegate.dev/min-count.wroker": "1"}}, "it has no pod set wroker; name one of main"),
        ({"annotations": {"tidegate.dev/min-count.main": "1"}}, ""),
        (
            {"labels": {"tidegate.dev/priority-class": "hihg"}},
            "there is no PriorityClass hihg, so it waits; ",
        ),
        ({"labels": {"tidegate.dev/priority-class": "system-node-critical"}}, ""),
        ({}, ""),
    ],
)
async def test_who_creates_what_will_not_run_is_told_at_once(plane: ControlPlane, meta: Json, said: str) -> None:
    """A slip in the Queue's name, or a count that is none: the Job stood there held, and nobody had said a word."""
    job = {"metadata": {"name": "x", **meta}, "spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}
    body = json.dumps({"apiVersion": "batch/v1", "kind": "Job", **job}).encode()
    path = "/apis/batch/v1/namespaces/default/jobs"
    answer = await InProcess(plane.server).send(Request("POST", path, {}, {"content-type": "application/json"}, body))
    assert answer.status == 201
    assert said in answer.headers.get("warning", "")
    assert said or "warning" not in answer.headers


async def test_where_tidegate_does_not_rule_it_changes_nothing(client: Client) -> None:
    await namespace(client, "free", **{"tidegate.dev/managed": "false"})
    made = await pod(client, "one", "free")
    assert "schedulingGates" not in made["spec"]


async def test_a_job_is_held_and_who_made_it_is_written_by_the_door_alone(client: Client) -> None:
    job = sample("Job")
    forged = {"tidegate.dev/submitter": '{"user":"somebody-else"}'}
    job["metadata"] = {"name": "job", "namespace": "default", "annotations": forged}
    made = await client.create(r.JOBS, job)
    assert made["spec"]["suspend"] is True
    assert json.loads(made["metadata"]["annotations"]["tidegate.dev/submitter"])["user"] == "system:apiserver"


async def refusal(client: Client, body: Json) -> str:
    try:
        await client.create(r.PODS, body, dry_run=True)
    except StatusError as no:
        return no.message
    return ""


async def test_submitters_are_enforced_up_the_tree(plane: ControlPlane, client: Client) -> None:
    """A list anywhere between a Queue and the root keeps everybody else out."""
    await client.patch(CLUSTER_QUEUES, "root", {"spec": {"submitters": {"groups": ["staff"]}}})
    await client.create(CLUSTER_QUEUES, {"metadata": {"name": "below"}, "spec": {"parent": "root"}})
    await client.create(
        QUEUES, {"metadata": {"name": "deep", "namespace": "default"}, "spec": {"clusterQueue": "below"}}
    )
    body = {"metadata": {"name": "one", "namespace": "default", "labels": {"tidegate.dev/queue": "deep"}}, "spec": POD}
    stranger = Client(InProcess(plane.server, User("eve", ("system:masters",))))
    # What the door sees lags behind the server by a moment; whoever slips through then waits as NotAllowed.
    message = await Stage(client).until(lambda: refusal(stranger, body))
    assert "eve is not among the submitters of ClusterQueue root" in message
    colleague = Client(InProcess(plane.server, User("ann", ("system:masters", "staff"))))
    await colleague.create(r.PODS, body)


@pytest.mark.parametrize(
    ("name", "labels", "everywhere", "rules"),
    [
        ("a", {}, True, True),
        ("a", {}, False, False),
        ("kube-system", {}, True, False),
        ("a", {"tidegate.dev/managed": "false"}, True, False),
        ("a", {"tidegate.dev/managed": "true"}, False, True),
        ("kube-x", {"tidegate.dev/managed": "true"}, False, True),
        ("a", {"tidegate.dev/managed": "perhaps"}, False, False),
    ],
)
def test_where_tidegate_rules(name: str, labels: dict[str, str], everywhere: bool, rules: bool) -> None:
    assert rules_in(name, labels, everywhere=everywhere) is rules
