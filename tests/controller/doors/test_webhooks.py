"""The doors as an API server calls them: over TLS, with certificates of our own, on both control planes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.controller.doors.replicas import colleague, settings
from tests.controller.house import House
from tests.harness import Cluster
from tests.local.controllers.stage import close
from tests.model.jobs.samples import sample
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.controller.replica import Replica
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError

Json = Any
POD = {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}]}
FORGED = {"tidegate.dev/submitter": '{"user":"somebody-else"}'}


def submitter(obj: Json) -> str:
    return str(json.loads(obj["metadata"]["annotations"]["tidegate.dev/submitter"])["user"])


async def test_a_job_is_held_signed_and_then_admitted(guarded: House) -> None:
    """A whole way: created running, held by the door, let go by the operator."""
    body = {"metadata": {"name": "job", "annotations": FORGED}, "spec": {
        "parallelism": 2, "completions": 2, "template": {"spec": {**POD, "restartPolicy": "Never"}}}}  # fmt: skip
    made = await guarded.client.create(r.JOBS, body, guarded.namespace)
    assert made["spec"]["suspend"] is True
    assert submitter(made) != "somebody-else"
    await guarded.state("job-job", "Admitted", granted=2)
    await guarded.see(r.JOBS, "job", lambda job: job["spec"]["suspend"] is False)


async def test_a_pod_is_gated_signed_and_let_go_when_granted(guarded: House) -> None:
    made = await guarded.client.create(r.PODS, {"metadata": {"name": "one"}, "spec": POD}, guarded.namespace)
    assert made["spec"]["schedulingGates"] == [{"name": "tidegate.dev/quota"}]
    await guarded.see(r.PODS, "one", lambda pod: not pod["spec"].get("schedulingGates"))


async def test_no_queue_no_pod_and_a_queue_that_was_made_just_now_counts(guarded: House) -> None:
    """What the door sees lags behind the server; it asks before it refuses."""
    await guarded.client.delete(QUEUES, "default", guarded.namespace)

    async def refusal() -> str:
        try:
            await guarded.client.create(r.PODS, {"metadata": {"name": "a"}, "spec": POD}, guarded.namespace)
        except StatusError as no:
            return no.message
        await guarded.client.delete(r.PODS, "a", guarded.namespace, grace_period_s=0)
        return ""

    message = await guarded.until(refusal)
    assert f"namespace {guarded.namespace} is managed by Tidegate and has no Queue" in message
    assert f"`tidegate queue create default -n {guarded.namespace}`" in message
    await guarded.furnish()
    await guarded.client.create(r.PODS, {"metadata": {"name": "b"}, "spec": POD}, guarded.namespace)


async def test_a_dead_tidegate_stops_nobody_where_it_does_not_rule(
    cluster: Cluster, client: Client, guarded: House, replica: Replica
) -> None:
    """Its doors are configured and nobody answers: pods are made elsewhere, and refused in the house."""
    elsewhere = cluster.namespace()
    hooks = await client.get(r.MUTATINGWEBHOOKCONFIGURATIONS, "tidegate")
    dead = settings().doors
    assert dead is not None
    for hook in hooks["webhooks"]:
        hook["clientConfig"]["url"] = f"{dead.url}/nobody"
    hooks["metadata"] = {"name": "tidegate-dead"}
    try:
        await client.create(r.MUTATINGWEBHOOKCONFIGURATIONS, hooks)

        async def refused() -> bool:
            try:
                body = {"metadata": {"name": "here"}, "spec": POD}
                await client.create(r.PODS, body, guarded.namespace, dry_run=True)
            except StatusError as no:
                return "failed calling webhook" in no.message or "failed to call webhook" in no.message
            return False

        await guarded.until(refused)
        await client.create(r.PODS, {"metadata": {"name": "there"}, "spec": POD}, elsewhere)
        await client.create(r.JOBS, {"metadata": {"name": "there"}, "spec": sample("Job")["spec"]}, elsewhere)
    finally:
        await client.delete(r.MUTATINGWEBHOOKCONFIGURATIONS, "tidegate-dead")
        await client.delete(r.NAMESPACES, elsewhere)


async def test_submitters_are_enforced_with_user_and_groups_of_the_request(cluster: Cluster, guarded: House) -> None:
    await guarded.client.patch(CLUSTER_QUEUES, guarded.namespace, {"spec": {"submitters": {"groups": ["staff"]}}})
    eve, ann = await colleague(cluster, guarded, "eve"), await colleague(cluster, guarded, "ann", "staff")

    async def refusal() -> str:
        try:
            await eve.create(r.PODS, {"metadata": {"name": "e"}, "spec": POD}, guarded.namespace, dry_run=True)
        except StatusError as no:
            return no.message
        return ""

    try:
        message = await guarded.until(refusal)
        assert f"eve is not among the submitters of ClusterQueue {guarded.namespace}" in message
        made = await ann.create(r.PODS, {"metadata": {"name": "a", "annotations": FORGED}, "spec": POD},
                                guarded.namespace)  # fmt: skip
        assert submitter(made) == "ann"
        await guarded.state("pod-a", "Admitted", granted=1)
    finally:
        await close(eve)
        await close(ann)


async def test_what_a_cron_job_makes_is_submitted_by_whoever_made_the_cron_job(
    cluster: Cluster, guarded: House
) -> None:
    """Its controller may submit for nobody else; and nobody is taken for it by naming the CronJob as an owner."""
    await guarded.client.patch(CLUSTER_QUEUES, guarded.namespace, {"spec": {"submitters": {"users": ["ann"]}}})
    controller = "system:serviceaccount:kube-system:cronjob-controller"
    ann, eve, made = [await colleague(cluster, guarded, name) for name in ("ann", "eve", controller)]
    template = {"spec": {"template": {"spec": {**POD, "restartPolicy": "Never"}}}}
    cron = {"metadata": {"name": "nightly"}, "spec": {"schedule": "0 0 1 1 *", "jobTemplate": template}}
    try:
        signed = await ann.create(r.CRONJOBS, cron, guarded.namespace)
        assert submitter(signed) == "ann"
        owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": signed["metadata"]["uid"],
                 "controller": True}  # fmt: skip
        job = {"metadata": {"name": "tonight", "ownerReferences": [owner]}, **template}
        held = await made.create(r.JOBS, job, guarded.namespace)
        assert (submitter(held), held["spec"]["suspend"]) == ("ann", True)

        async def refusal() -> str:
            try:
                again = {**job, "metadata": {**job["metadata"], "name": "mine"}}
                await eve.create(r.JOBS, again, guarded.namespace, dry_run=True)
            except StatusError as no:
                return no.message
            return ""

        assert "eve is not among the submitters" in await guarded.until(refusal)
    finally:
        for each in (ann, eve, made):
            await close(each)


async def test_what_only_tidegate_writes_is_taken_off_what_is_new(guarded: House) -> None:
    """A pod that says it was granted something waits like any other."""
    marks = {"tidegate.dev/workload": "another", "tidegate.dev/flavor": "default", "tidegate.dev/before": "{}"}
    body = {"metadata": {"name": "sly", "annotations": {**marks, "mine": "stays"}}, "spec": POD}
    made = await guarded.client.create(r.PODS, body, guarded.namespace)
    assert made["spec"]["schedulingGates"] == [{"name": "tidegate.dev/quota"}]
    assert made["metadata"]["annotations"].keys() == {"mine", "tidegate.dev/submitter"}


async def test_a_workload_made_by_hand_is_signed_by_whoever_made_it(cluster: Cluster, guarded: House) -> None:
    ann = await colleague(cluster, guarded, "ann")
    sets = [{"name": "main", "count": 1, "requests": {"cpu": "1"}}]
    body = {"metadata": {"name": "own", "annotations": FORGED}, "spec": {"podSets": sets}}
    try:
        assert submitter(await ann.create(WORKLOADS, body, guarded.namespace)) == "ann"
    finally:
        await close(ann)


@pytest.mark.parametrize("patch", ["signature", "gate", "mark"])
async def test_what_tidegate_writes_nobody_else_changes(cluster: Cluster, guarded: House, patch: str) -> None:
    """Nobody signs for another, lifts the gate of a pod that waits, or has his pods counted to somebody else."""
    ann = await colleague(cluster, guarded, "ann")
    big = {"containers": [{"name": "main", "image": "host", "resources": {"requests": {"cpu": "9"}}}]}
    await ann.create(r.PODS, {"metadata": {"name": "waits"}, "spec": big}, guarded.namespace)
    patches: dict[str, Json] = {
        "signature": {"metadata": {"annotations": FORGED}},
        "gate": {"spec": {"schedulingGates": None}},
        "mark": {"metadata": {"annotations": {"tidegate.dev/workload": "another"}}},
    }

    async def refusal() -> str:
        try:
            await ann.patch(r.PODS, "waits", patches[patch], guarded.namespace, query={"dryRun": "All"})
        except StatusError as no:
            return no.message
        return ""

    try:
        # A policy reaches the server a moment after it was written.
        assert "Tidegate" in await guarded.until(refusal)
        await ann.patch(r.PODS, "waits", {"metadata": {"labels": {"mine": "yes"}}}, guarded.namespace)
    finally:
        await close(ann)


async def test_a_cluster_queue_cannot_be_its_own_ancestor(guarded: House) -> None:
    top, low = f"{guarded.namespace}-top", f"{guarded.namespace}-low"
    try:
        await guarded.client.create(CLUSTER_QUEUES, {"metadata": {"name": top}, "spec": {}})
        await guarded.client.create(CLUSTER_QUEUES, {"metadata": {"name": low}, "spec": {"parent": top}})
        with pytest.raises(StatusError) as no:
            await guarded.client.patch(CLUSTER_QUEUES, top, {"spec": {"parent": low}})
        assert f"ClusterQueue {top} would be its own ancestor ({top} → {low} → {top})" in no.value.message
    finally:
        for name in (low, top):
            await guarded.client.delete(CLUSTER_QUEUES, name)
