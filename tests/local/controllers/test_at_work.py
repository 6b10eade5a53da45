"""The controllers at work on an API server: what users see happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

from tests.local.controllers.stage import CONTAINERS, Stage, finished, has, runs, succeeds, waits
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.local.controllers.caches import Caches
from tidegate.local.controllers.nodes.lifecycle import NodeLifecycleController
from tidegate.local.controllers.nodes.pod_gc import PodGcController
from tidegate.local.controllers.run import Controller, run_controllers, utc_now

TRACKING = "batch.kubernetes.io/job-tracking"
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}}


@asynccontextmanager
async def working(client: Client, make: Callable[[Caches], Controller]) -> AsyncIterator[None]:
    """One controller alone, as the block goes on."""
    caches = Caches(client)
    controller = make(caches)
    tasks = [asyncio.create_task(caches.run()), asyncio.create_task(controller.run())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def test_a_namespace_is_furnished_and_kept_so(stage: Stage) -> None:
    async def furnished() -> bool:
        accounts, bundles = await stage.list(r.SERVICEACCOUNTS), await stage.list(r.CONFIGMAPS)
        return bool(accounts) and [bundle["data"] for bundle in bundles] == [{"ca.crt": stage.root_ca}]

    await stage.until(furnished)
    await stage.client.delete(r.SERVICEACCOUNTS, "default", stage.namespace)
    await stage.patch(r.CONFIGMAPS, "kube-root-ca.crt", {"data": {"ca.crt": "forged", "more": "x"}})
    await stage.until(furnished)


async def test_a_job_in_a_namespace_without_room_waits_and_goes_on(stage: Stage) -> None:
    """Pods that the quota refuses are made when it allows them; the status counts what there is."""
    await stage.create(r.RESOURCEQUOTAS, "tight", spec={"hard": {"pods": "1"}})

    async def enforced() -> Any:
        return (await stage.get(r.RESOURCEQUOTAS, "tight")).get("status", {}).get("used")

    await stage.until(enforced)
    await stage.job("j", completions=3, parallelism=3)
    job = await stage.play(r.JOBS, "j", runs, lambda job: job["status"].get("ready") == 1)
    assert job["status"]["active"] == 1
    job = await stage.play(r.JOBS, "j", succeeds, finished, timeout_s=90)
    assert (job["status"]["succeeded"], job["status"].get("failed")) == (3, None)


async def test_a_deleted_job_takes_its_pods_finalizers_along(stage: Stage) -> None:
    """Nothing keeps a pod whose Job is gone, whether it ran or had ended.

    A garbage collector may have let the Job go already, and collects the pods as soon as nothing keeps them: the test
    counted on being faster than the one in the embedded server."""
    await stage.job("gone", parallelism=2, completions=2)
    await stage.play(r.JOBS, "gone", waits, lambda job: job["status"].get("active") == 2)

    async def held() -> list[str]:
        pods = await stage.list(r.PODS, "job-name=gone")
        return [pod["metadata"]["name"] for pod in pods if TRACKING in pod["metadata"].get("finalizers", ())]

    assert len(await held()) == 2
    await stage.client.delete(r.JOBS, "gone", stage.namespace, propagation="Orphan")
    try:
        await stage.patch(r.JOBS, "gone", {"metadata": {"finalizers": None}})
    except StatusError as gone:
        assert gone.code == 404

    async def free() -> bool:
        return not await held()

    await stage.until(free)


async def test_an_indexed_pod_knows_its_index(stage: Stage) -> None:
    await stage.job("known", completions=1, completionMode="Indexed")
    await stage.play(r.JOBS, "known", waits, lambda job: job["status"].get("active") == 1)
    (pod,) = await stage.list(r.PODS, "job-name=known")
    index = "batch.kubernetes.io/job-completion-index"
    assert pod["metadata"]["annotations"][index] == pod["metadata"]["labels"][index] == "0"
    assert pod["spec"]["hostname"] == "known-0"
    env = {each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] for each in pod["spec"]["containers"][0]["env"]}
    assert env == {"JOB_COMPLETION_INDEX": f"metadata.labels['{index}']"}


async def test_a_cron_job_starts_jobs_and_forgets_old_ones(stage: Stage) -> None:
    spec = {"schedule": "@every 1s", "jobTemplate": {"spec": {"template": TEMPLATE}}, "successfulJobsHistoryLimit": 0}
    await stage.create(r.CRONJOBS, "tick", spec=spec)

    async def started() -> Any:
        return (await stage.get(r.CRONJOBS, "tick")).get("status", {}).get("active")

    (active,) = await stage.until(started)
    await stage.patch(r.CRONJOBS, "tick", {"spec": {"suspend": True}})

    async def forgotten() -> bool:
        await stage.act(f"job-name={active['name']}", succeeds)
        status = (await stage.get(r.CRONJOBS, "tick"))["status"]
        return "active" not in status and "lastSuccessfulTime" in status

    await stage.until(forgotten)

    async def gone() -> bool:
        return not await stage.exists(r.JOBS, active["name"])

    await stage.until(gone)


async def test_a_finished_job_goes_when_its_time_is_over(stage: Stage) -> None:
    await stage.job("brief", ttlSecondsAfterFinished=1)
    await stage.play(r.JOBS, "brief", succeeds, finished)

    async def gone() -> bool:
        return not await stage.exists(r.JOBS, "brief")

    await stage.until(gone)


async def test_many_pods_are_made_once_each(stage: Stage) -> None:
    """A cache that is behind its own writes must not make twice the pods."""
    await stage.job("many", completions=60, parallelism=60, completionMode="Indexed")
    job = await stage.play(r.JOBS, "many", succeeds, finished, timeout_s=90)
    assert (job["status"]["succeeded"], job["status"]["completedIndexes"]) == (60, "0-59")
    assert len(await stage.list(r.PODS, "job-name=many")) == 60


async def test_two_sets_of_controllers_do_each_other_no_harm(stage: Stage) -> None:
    """Every write says what it was decided on, so the slower one only looks again."""
    rival = asyncio.create_task(run_controllers(stage.client, root_ca=stage.root_ca))
    try:
        await stage.job("contested", completions=8, parallelism=4, completionMode="Indexed")
        job = await stage.play(r.JOBS, "contested", succeeds, finished, timeout_s=90)
        assert (job["status"]["succeeded"], job["status"].get("failed", 0)) == (8, 0)
    finally:
        rival.cancel()
        await asyncio.gather(rival, return_exceptions=True)


async def test_pods_of_a_vanished_node_fail_and_go(stage: Stage) -> None:
    await stage.create(r.PODS, "lost", spec={"containers": CONTAINERS, "nodeName": f"gone-{stage.namespace}"})

    async def gone() -> bool:
        return not await stage.exists(r.PODS, "lost")

    def collector(caches: Caches) -> Controller:
        return PodGcController(stage.client, caches, utc_now, period_s=0.2, quarantine_s=1)

    async with working(stage.client, collector):
        await stage.until(gone)


async def test_a_silent_node_is_unknown_and_its_pods_unready(stage: Stage) -> None:
    name = f"silent-{stage.namespace}"
    await stage.client.create(r.NODES, {"metadata": {"name": name}})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "it is"}
    await stage.client.patch(r.NODES, name, {"status": {"conditions": [ready]}}, subresource="status")
    await stage.create(r.PODS, "there", spec={"containers": CONTAINERS, "nodeName": name})
    await stage.act("", runs)

    async def unknown() -> bool:
        return has("Ready", "NodeStatusUnknown")(await stage.client.get(r.NODES, name))

    async def unready() -> bool:
        conditions = (await stage.get(r.PODS, "there"))["status"]["conditions"]
        return any((each["type"], each["status"]) == ("Ready", "False") for each in conditions)

    def watcher(caches: Caches) -> Controller:
        return NodeLifecycleController(stage.client, caches, utc_now, period_s=0.2, grace_s=1)

    async with working(stage.client, watcher):
        await stage.until(unknown)
        await stage.until(unready)
    await stage.client.delete(r.NODES, name)


async def test_a_machine_that_slept_does_not_take_its_node_for_lost(stage: Stage) -> None:
    """A laptop that is opened again: the node had said nothing for an hour, and nor had anybody listened. It was marked
    silent before it could speak, and everything that ran there was evicted."""
    name = f"sleeps-{stage.namespace}"
    await stage.client.create(r.NODES, {"metadata": {"name": name}})
    slept, looks = timedelta(0), asyncio.Queue[None]()

    def clock() -> datetime:
        looks.put_nowait(None)
        return utc_now() + slept

    def watcher(caches: Caches) -> Controller:
        return NodeLifecycleController(stage.client, caches, clock, period_s=0.01, grace_s=60)

    async with working(stage.client, watcher):
        for _ in range(20):
            await looks.get()
        slept = timedelta(hours=1)
        for _ in range(20):
            await looks.get()
    conditions = (await stage.client.get(r.NODES, name)).get("status", {}).get("conditions") or ()
    assert not [each for each in conditions if each["status"] == "Unknown"]
    await stage.client.delete(r.NODES, name)
