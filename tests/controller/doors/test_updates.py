"""Applications that are changed while they are queued, on both control planes: growth waits, and no wish is lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controller.doors.replicas import colleague
from tests.controller.house import House
from tests.harness import Cluster
from tests.local.controllers.stage import close
from tests.model.jobs.samples import sample
from tidegate.controller.kinds import QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object

Json = Any
GATE = {"name": "tidegate.dev/quota"}


@pytest.fixture
async def ann(cluster: Cluster, guarded: House) -> AsyncIterator[Client]:
    """Somebody who may change work and grant nothing."""
    ann = await colleague(cluster, guarded, "ann")
    yield ann
    await close(ann)


async def runs(house: House, name: str, count: int, granted: int, *, least: int | None = None) -> Object:
    """A Job that runs with what it was granted."""
    await house.queued_job(name, count, least=least, completions=40)
    await house.state(f"job-{name}", "Admitted", granted=granted)
    return await house.see(r.JOBS, name, lambda job: job["spec"]["suspend"] is False)


def count(workload: Object) -> int:
    return int(workload["spec"]["podSets"][0]["count"])


@contextlib.asynccontextmanager
async def seen(house: House, name: str) -> AsyncIterator[list[Object]]:
    """Every version of a Job that anybody could see."""
    versions: list[Object] = []
    begun = asyncio.Event()

    async def follow() -> None:
        watch = house.client.watch(r.JOBS, house.namespace, fields=f"metadata.name={name}", initial=True)
        async with contextlib.aclosing(watch):
            async for event in watch:
                if event.type in ("ADDED", "MODIFIED"):
                    versions.append(event.object)
                    begun.set()

    task = asyncio.create_task(follow())
    await begun.wait()
    try:
        yield versions
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("least", [1, None], ids=["elastic", "gang"])
@pytest.mark.parametrize("who", ["ann", "admin"])
async def test_a_job_that_is_made_larger_never_runs_with_more_than_was_granted(
    guarded: House, ann: Client, least: int | None, who: str
) -> None:
    """It is heard, goes on with what it has, and grows when there is quota; not for a moment was there more."""
    await runs(guarded, "job", 2, 2, least=least)
    await guarded.queued_job("other", 2)
    await guarded.state("job-other", "Admitted", granted=2)
    async with seen(guarded, "job") as versions:
        client = ann if who == "ann" else guarded.client
        edited = await client.patch(r.JOBS, "job", {"spec": {"parallelism": 4}}, guarded.namespace)
        assert edited["spec"]["parallelism"] == 2
        await guarded.see(WORKLOADS, "job-job", lambda obj: count(obj) == 4)
        waiting = await guarded.see(
            WORKLOADS, "job-job", lambda obj: (obj["status"].get("waiting") or {}).get("reason")
        )
        assert waiting["status"]["state"] == "Admitted"
        await client.patch(r.JOBS, "job", {"metadata": {"labels": {"mine": "yes"}}}, guarded.namespace)
        assert count(await guarded.get(WORKLOADS, "job-job")) == 4, "the wish outlives other edits"
        await guarded.client.delete(r.JOBS, "other", guarded.namespace)
        await guarded.see(r.JOBS, "job", lambda job: job["spec"]["parallelism"] == 4)
    assert not any(each["spec"]["suspend"] for each in versions), "it was never stopped"
    for each in versions:
        assert (
            each["spec"]["parallelism"] <= json.loads(each["metadata"]["annotations"]["tidegate.dev/granted"])["main"]
        )


async def test_a_job_that_is_made_smaller_is_so_at_once(guarded: House, ann: Client) -> None:
    await runs(guarded, "job", 8, 4, least=1)
    edited = await ann.patch(r.JOBS, "job", {"spec": {"parallelism": 3}}, guarded.namespace)
    assert edited["spec"]["parallelism"] == 3
    await guarded.state("job-job", "Admitted", granted=3)
    assert count(await guarded.get(WORKLOADS, "job-job")) == 3


async def test_who_replaces_a_job_by_the_manifest_he_has_takes_nothing_from_it(guarded: House, ann: Client) -> None:
    """`kubectl replace` knows neither suspend nor what Tidegate noted; what of it may not change the server refuses."""
    running = await runs(guarded, "job", 8, 4, least=1)
    notes = running["metadata"]["annotations"]
    mine = {"tidegate.dev/min-count": "2", "mine": "yes"}
    spec = {key: value for key, value in running["spec"].items() if key not in ("suspend", "parallelism")}
    body = {**running, "metadata": {**running["metadata"], "annotations": mine}, "spec": {**spec, "parallelism": 9}}
    replaced = await ann.update(r.JOBS, body)
    kept = replaced["metadata"]["annotations"]
    assert {**kept, "tidegate.dev/before": ""} == {**notes, **mine, "tidegate.dev/before": ""}
    assert (replaced["spec"]["parallelism"], replaced["spec"]["suspend"]) == (4, False)
    await guarded.see(WORKLOADS, "job-job", lambda obj: (count(obj), obj["spec"]["podSets"][0]["minCount"]) == (9, 2))


async def test_who_lets_go_by_hand_what_is_held_is_told_that_it_waits(guarded: House, ann: Client) -> None:
    await guarded.queued_job("big", 9)
    await guarded.waits("job-big", "ExceedsQuota")
    for client in (ann, guarded.client):
        edited = await client.patch(r.JOBS, "big", {"spec": {"suspend": False}}, guarded.namespace)
        assert edited["spec"]["suspend"] is True
    # One that was evicted was granted something once; its pods may still be there.
    await runs(guarded, "job", 2, 2)
    await guarded.patch(WORKLOADS, "job-job", {"spec": {"active": False}})
    await guarded.see(r.JOBS, "job", lambda job: job["spec"]["suspend"] is True)
    edited = await ann.patch(r.JOBS, "job", {"spec": {"suspend": False}}, guarded.namespace)
    assert edited["spec"]["suspend"] is True


async def test_who_applies_again_a_manifest_that_says_suspend_stops_nothing(guarded: House, ann: Client) -> None:
    """All its pods were killed, and started anew a moment later; manifests say `suspend: true`, as ours do."""
    running = await runs(guarded, "job", 8, 4, least=1)
    async with seen(guarded, "job") as versions:
        for client in (ann, guarded.client):
            edited = await client.patch(r.JOBS, "job", {"spec": {"suspend": True}}, guarded.namespace)
            assert edited["spec"]["suspend"] is False
        spec = {**running["spec"], "suspend": True, "parallelism": 9}
        meta = {key: running["metadata"][key] for key in ("name", "namespace", "labels") if key in running["metadata"]}
        replaced = await ann.update(r.JOBS, {**running, "metadata": meta, "spec": spec})
        assert (replaced["spec"]["parallelism"], replaced["spec"]["suspend"]) == (4, False)
        assert not any(each["spec"]["suspend"] for each in versions)
    await guarded.see(WORKLOADS, "job-job", lambda obj: count(obj) == 9)
    # As the warning says.
    await guarded.patch(WORKLOADS, "job-job", {"spec": {"active": False}})
    await guarded.see(r.JOBS, "job", lambda job: job["spec"]["suspend"] is True)


async def test_what_runs_stays_in_its_queue_and_what_waits_may_go_to_another(guarded: House, ann: Client) -> None:
    await guarded.create(QUEUES, "other", spec={"clusterQueue": guarded.namespace})
    await runs(guarded, "job", 4, 4)
    move: Json = {"metadata": {"labels": {"tidegate.dev/queue": "other"}}}
    with pytest.raises(StatusError) as no:
        await ann.patch(r.JOBS, "job", move, guarded.namespace)
    assert "Job job runs on what Queue default granted, so it stays there" in no.value.message
    await guarded.queued_job("waits", 1)
    await guarded.waits("job-waits", "WaitingForQuota")
    await ann.patch(r.JOBS, "waits", move, guarded.namespace)
    await guarded.see(WORKLOADS, "job-waits", lambda obj: obj["spec"]["queue"] == "other")
    # As the message says: made inactive it can move, and goes on from there.
    await guarded.patch(WORKLOADS, "job-job", {"spec": {"active": False}})
    await guarded.see(r.JOBS, "job", lambda job: job["spec"]["suspend"] is True)
    await ann.patch(r.JOBS, "job", move, guarded.namespace)
    await guarded.client.delete(QUEUES, "default", guarded.namespace)

    async def refusal() -> str:
        try:
            nowhere = {"metadata": {"labels": {"tidegate.dev/queue": None}}}
            await ann.patch(r.JOBS, "job", nowhere, guarded.namespace, query={"dryRun": "All"})
        except StatusError as no:
            return no.message
        return ""

    assert "Job job would be in no Queue" in await guarded.until(refusal)


FORGED = {
    "granted": {"tidegate.dev/granted": '{"main":99}'},
    "submitter": {"tidegate.dev/submitter": '{"user":"somebody-else"}'},
    "workload": {"tidegate.dev/workload": "job-other"},
}


@pytest.mark.parametrize("note", FORGED)
async def test_nobody_notes_on_an_application_what_was_not_granted(guarded: House, ann: Client, note: str) -> None:
    await runs(guarded, "job", 8, 4, least=1)

    async def refusal() -> str:
        try:
            forged = {"metadata": {"annotations": FORGED[note]}, "spec": {"parallelism": 99}}
            await ann.patch(r.JOBS, "job", forged, guarded.namespace, query={"dryRun": "All"})
        except StatusError as no:
            return no.message
        return ""

    assert "Tidegate alone writes the annotations" in await guarded.until(refusal)


async def test_a_memory_of_ones_own_making_hides_no_pods(guarded: House, ann: Client) -> None:
    """As if Tidegate had written 99 where one had been wanted: one would be asked for, and 99 run."""
    await runs(guarded, "job", 8, 4, least=1)
    told = {"bare": False, "changes": [{"at": ["spec", "parallelism"], "is": 99, "was": 1}]}
    forged = {"metadata": {"annotations": {"tidegate.dev/before": json.dumps(told)}}, "spec": {"parallelism": 99}}
    edited = await ann.patch(r.JOBS, "job", forged, guarded.namespace)
    assert edited["spec"]["parallelism"] == 4
    await guarded.see(WORKLOADS, "job-job", lambda obj: count(obj) == 40)


async def test_notes_are_not_believed_on_what_is_new_though_it_has_an_owner(guarded: House, ann: Client) -> None:
    owner = await guarded.client.create(r.CONFIGMAPS, {"metadata": {"name": "owner"}}, guarded.namespace)
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    meta = {"name": "job", "annotations": FORGED["granted"], "ownerReferences": [reference]}
    job = sample("Job")
    made = await ann.create(r.JOBS, {"metadata": meta, "spec": job["spec"]}, guarded.namespace)
    assert "tidegate.dev/granted" not in made["metadata"]["annotations"]
    assert made["spec"]["suspend"] is True


async def test_a_deployment_that_is_written_anew_goes_on_making_pods_behind_a_gate(guarded: House) -> None:
    made = await guarded.deployment("web", replicas=1)
    await guarded.state("deployment-web", "Admitted", granted=1)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "other"}]}}
    body = {"metadata": {"name": "web", "namespace": guarded.namespace}, "spec": {**made["spec"], "template": template}}
    written = await guarded.client.update(r.DEPLOYMENTS, body)
    assert GATE in written["spec"]["template"]["spec"]["schedulingGates"]
    assert written["metadata"]["annotations"]["tidegate.dev/workload"] == "deployment-web"


async def test_a_pod_stays_in_the_queue_it_was_created_for(guarded: House, ann: Client) -> None:
    await guarded.create(QUEUES, "other", spec={"clusterQueue": guarded.namespace})
    big = {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "9"}}}]}
    await ann.create(r.PODS, {"metadata": {"name": "waits"}, "spec": big}, guarded.namespace)
    move = {"metadata": {"labels": {"tidegate.dev/queue": "other"}}}

    async def refusal() -> str:
        try:
            await ann.patch(r.PODS, "waits", move, guarded.namespace, query={"dryRun": "All"})
        except StatusError as no:
            return no.message
        return ""

    assert "A pod stays in the Queue that it was created for" in await guarded.until(refusal)
