"""Installed for all namespaces: those that say nothing are ruled, the system's and those that say no are not."""

from __future__ import annotations

import uuid

from tests.controller.doors.replicas import forget, known, running, settings
from tests.local.controllers.stage import Stage
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError

POD = {"containers": [{"name": "main", "image": "host"}], "automountServiceAccountToken": False}


async def namespace(stage: Stage, name: str, **labels: str) -> str:
    name = f"{name}-{uuid.uuid4().hex[:6]}"
    await stage.client.create(r.NAMESPACES, {"metadata": {"name": name, "labels": labels}})

    async def ready() -> bool:
        return bool((await stage.client.list(r.SERVICEACCOUNTS, name)).items)

    await stage.until(ready)
    return name


async def test_only_the_system_and_those_that_say_no_are_left_alone(client: Client) -> None:
    await forget(client)
    stage, made = Stage(client), []
    async with running(client, settings(everywhere=True)) as replica:
        await known(client, replica)
        try:
            plain, kube = await namespace(stage, "plain"), await namespace(stage, "kube-more")
            free = await namespace(stage, "free", **{"tidegate.dev/managed": "false"})
            made = [plain, kube, free]
            pod = {"metadata": {"name": "one"}, "spec": POD}

            async def refused() -> str:
                try:
                    await client.create(r.PODS, pod, plain, dry_run=True)
                except StatusError as no:
                    return no.message
                return ""

            assert f"namespace {plain} is managed by Tidegate and has no Queue" in await stage.until(refused)
            for elsewhere in (kube, free):
                assert not (await client.create(r.PODS, pod, elsewhere))["spec"].get("schedulingGates")
            # A Queue and its first pod, one right after the other.
            await client.create(CLUSTER_QUEUES, {"metadata": {"name": plain}, "spec": {}})
            await client.create(QUEUES, {"metadata": {"name": "default"}, "spec": {"clusterQueue": plain}}, plain)
            assert (await client.create(r.PODS, pod, plain))["spec"]["schedulingGates"]
        finally:
            for name in made:
                await client.delete(r.NAMESPACES, name)
            await client.delete(CLUSTER_QUEUES, plain)
    await forget(client)
