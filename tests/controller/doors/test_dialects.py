"""An unmodified platform on another scheduler: what it creates is rendered by the rules of its namespace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controller.doors.replicas import until
from tests.harness import Cluster
from tests.local.controllers.stage import Stage
from tidegate.controller.replica import Replica
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource

Json = Any
CONTAINER = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
POD = {"restartPolicy": "Never", "containers": [CONTAINER]}
POD_GROUPS: Resource[Object] = Resource("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
NAME = "tidegate-dialects"


def rules(namespace: str, scheduler: str) -> Json:
    text = f"namespaces: {{{namespace}: {{organisation: org1, queueconfig: {{scheduler: {scheduler}}}}}}}"
    return {"metadata": {"name": NAME, "namespace": "kube-system"}, "data": {"rules.yaml": text}}


async def say(client: Client, body: Json) -> None:
    """Make or replace the rules."""
    try:
        await client.create(r.CONFIGMAPS, body)
    except StatusError as there:
        assert there.code == 409
        await client.patch(r.CONFIGMAPS, NAME, {"data": body["data"]}, "kube-system")


@pytest.fixture
async def platform(cluster: Cluster, client: Client, replica: Replica) -> AsyncIterator[Stage]:
    """A namespace that Tidegate does not rule, with a platform that knows of no scheduler."""
    stage = Stage(client)
    await stage.open()
    yield stage
    for resource, name, where in ((r.CONFIGMAPS, NAME, "kube-system"), (r.NAMESPACES, stage.namespace, None)):
        try:
            await client.delete(resource, name, where)
        except StatusError as gone:
            assert gone.code == 404


async def made(platform: Stage, name: str, *, dry_run: bool = True) -> Object:
    body = {"metadata": {"name": name}, "spec": {"template": {"spec": POD}}}
    return await platform.client.create(r.JOBS, body, platform.namespace, dry_run=dry_run)


async def test_what_is_created_is_rendered_for_the_scheduler_of_its_namespace(platform: Stage) -> None:
    assert (await made(platform, "a"))["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"
    await say(platform.client, rules(platform.namespace, "yunikorn"))

    async def rendered() -> bool:
        return (await made(platform, "b"))["spec"]["template"]["spec"]["schedulerName"] == "yunikorn"

    await platform.until(rendered)
    labels = (await made(platform, "c"))["spec"]["template"]["metadata"]["labels"]
    assert labels["queue"] == "root.org1.job"


async def test_rules_that_cannot_be_read_leave_the_last_good_ones(platform: Stage) -> None:
    await say(platform.client, rules(platform.namespace, "yunikorn"))
    await until(platform.client, lambda hooks: bool(hooks.get("webhooks")), NAME)
    await say(platform.client, rules(platform.namespace, "nobody-knows-it"))
    await platform.client.patch(r.CONFIGMAPS, NAME, {"data": {"rules.yaml": "namespaces: ["}}, "kube-system")

    async def rendered() -> bool:
        return (await made(platform, "b"))["spec"]["template"]["spec"]["schedulerName"] == "yunikorn"

    await platform.until(rendered)
    await platform.client.delete(r.CONFIGMAPS, NAME, "kube-system")
    await until(platform.client, lambda hooks: not hooks.get("webhooks"), NAME)


async def test_what_belongs_beside_it_is_made_and_a_dry_run_makes_nothing(platform: Stage, client: Client) -> None:
    await say(client, rules(platform.namespace, "volcano"))
    await until(client, lambda hooks: bool(hooks.get("webhooks")), NAME)

    async def refused() -> bool:
        try:
            await made(platform, "none", dry_run=False)
        except StatusError as no:
            return "the server has no PodGroup" in no.message
        await client.delete(r.JOBS, "none", platform.namespace)
        return False

    await platform.until(refused)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "PodGroup", "plural": "podgroups", "singular": "podgroup", "listKind": "PodGroupList"}
    spec = {"group": POD_GROUPS.group, "names": names, "scope": "Namespaced", "versions": [version]}
    await client.create(r.CRDS, {"metadata": {"name": "podgroups.scheduling.volcano.sh"}, "spec": spec})
    try:

        async def accepted() -> bool:
            try:
                job = await made(platform, "gang", dry_run=False)
            except StatusError:
                return False
            return bool(job["spec"]["template"]["spec"]["schedulerName"] == "volcano")

        await platform.until(accepted)
        groups = await platform.list(POD_GROUPS)
        assert len(groups) == 1
        assert (await made(platform, "another"))["spec"]["template"]["spec"]["schedulerName"] == "volcano"
        assert await platform.list(POD_GROUPS) == groups
    finally:
        await client.delete(r.CRDS, "podgroups.scheduling.volcano.sh")
