"""An unmodified platform on another scheduler: what it creates is rendered by the rules of its namespace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.controller.doors.replicas import until
from tests.harness import Cluster
from tests.harness.cluster import PATIENCE_S
from tests.local.controllers.stage import Stage
from tests.model.jobs.samples import sample
from tidegate.controller.replica import Replica
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import builtin, peek, templates

Json = Any
CONTAINER = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
POD = {"restartPolicy": "Never", "containers": [CONTAINER]}
POD_GROUPS: Resource[Object] = Resource("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
RAY_CLUSTERS: Resource[Object] = Resource("ray.io", "v1", "rayclusters", "RayCluster")
SPARK: Resource[Object] = Resource("sparkoperator.k8s.io", "v1beta2", "sparkapplications", "SparkApplication")
NAME = "tidegate-dialects"
META = {"name": NAME, "namespace": "kube-system"}
_NEW_KINDS_S = 30.0
"""How often the real controller manager looks for kinds that it did not know; before that it collects none of them."""


def rules(namespace: str, scheduler: str) -> Json:
    text = f"namespaces: {{{namespace}: {{organisation: org1, queueconfig: {{scheduler: {scheduler}}}}}}}"
    return {"metadata": META, "data": {"rules.yaml": text}}


async def say(replica: Replica, client: Client, body: Json) -> None:
    """Make or replace the rules; returns when the replica has heard of them. To ask the server again and again whether
    it renders by now would be to keep a busy one from hearing."""
    heard = asyncio.Event()
    replica.rules.on_change(heard.set)
    try:
        await client.create(r.CONFIGMAPS, body)
    except StatusError as there:
        assert there.code == 409
        await client.patch(r.CONFIGMAPS, NAME, {"data": body["data"]}, "kube-system")
    async with asyncio.timeout(PATIENCE_S):
        await heard.wait()


async def in_force(client: Client, namespace: str) -> None:
    """Returns when the server has been told that it is to ask about this namespace."""
    await until(client, lambda hooks: namespace in str(hooks.get("webhooks")), NAME)


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


@asynccontextmanager
async def defined(client: Client, resource: Resource[Object]) -> AsyncIterator[None]:
    """A kind of somebody else's, with any fields."""
    kind, name = resource.kind, f"{resource.plural}.{resource.group}"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": resource.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "plural": resource.plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    spec = {"group": resource.group, "names": names, "scope": "Namespaced", "versions": [version]}
    # Some groups belong to Kubernetes, which wants to be asked.
    metadata = {"name": name, "annotations": {"api-approved.kubernetes.io": "unapproved, for a test"}}
    try:
        await client.create(r.CRDS, {"metadata": metadata, "spec": spec})
    except StatusError as there:
        assert there.code == 409  # The operator's own definition, which others on this server use, does as well.
        yield
        return
    try:
        yield
    finally:
        await client.delete(r.CRDS, name)


@asynccontextmanager
async def undefined(client: Client, resource: Resource[Object]) -> AsyncIterator[None]:
    """Without a kind that other tests of this server may have defined, and left for each other."""
    name = f"{resource.plural}.{resource.group}"
    try:
        found = await client.get(r.CRDS, name)
    except StatusError as none:
        assert none.code == 404
        yield
        return
    await client.delete(r.CRDS, name)
    await Stage(client).until(lambda: gone(client, name))
    try:
        yield
    finally:
        kept = {field: found["metadata"].get(field) or {} for field in ("name", "labels", "annotations")}
        await client.create(r.CRDS, {"metadata": kept, "spec": found["spec"]})


async def gone(client: Client, name: str) -> bool:
    try:
        await client.get(r.CRDS, name)
    except StatusError as none:
        return none.code == 404
    return False


async def made(platform: Stage, name: str, *, dry_run: bool = True) -> Object:
    body = {"metadata": {"name": name}, "spec": {"template": {"spec": POD}}}
    return await platform.client.create(r.JOBS, body, platform.namespace, dry_run=dry_run)


async def test_what_is_created_is_rendered_for_the_scheduler_of_its_namespace(
    platform: Stage, replica: Replica
) -> None:
    assert (await made(platform, "a"))["spec"]["template"]["spec"]["schedulerName"] == "default-scheduler"
    await say(replica, platform.client, rules(platform.namespace, "yunikorn"))
    await in_force(platform.client, platform.namespace)

    async def rendered() -> bool:
        return (await made(platform, "b"))["spec"]["template"]["spec"]["schedulerName"] == "yunikorn"

    await platform.until(rendered)
    labels = (await made(platform, "c"))["spec"]["template"]["metadata"]["labels"]
    assert labels["queue"] == "root.org1.job"


async def test_rules_that_cannot_be_read_leave_the_last_good_ones(platform: Stage, replica: Replica) -> None:
    await say(replica, platform.client, rules(platform.namespace, "yunikorn"))
    await in_force(platform.client, platform.namespace)
    await say(replica, platform.client, rules(platform.namespace, "nobody-knows-it"))
    await say(replica, platform.client, {"data": {"rules.yaml": "namespaces: ["}, "metadata": META})

    async def rendered() -> bool:
        return (await made(platform, "b"))["spec"]["template"]["spec"]["schedulerName"] == "yunikorn"

    await platform.until(rendered)
    await platform.client.delete(r.CONFIGMAPS, NAME, "kube-system")
    await until(platform.client, lambda hooks: not hooks.get("webhooks"), NAME)


async def test_what_belongs_beside_it_is_made_and_a_dry_run_makes_nothing(
    platform: Stage, client: Client, replica: Replica
) -> None:
    """That the server has no PodGroup was waited for in vain where another test had left their definition there."""
    await say(replica, client, rules(platform.namespace, "volcano"))
    await in_force(client, platform.namespace)

    async def refused() -> bool:
        try:
            await made(platform, "none", dry_run=False)
        except StatusError as no:
            return "the server has no PodGroup" in no.message
        await client.delete(r.JOBS, "none", platform.namespace)
        return False

    async with undefined(client, POD_GROUPS):
        await platform.until(refused)
    async with defined(client, POD_GROUPS):

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
        assert len(await platform.list(POD_GROUPS)) == 1

        async def adopted() -> Object | None:
            group = (await platform.list(POD_GROUPS))[0]
            return group if group["metadata"].get("ownerReferences") else None

        job = await platform.get(r.JOBS, "gang")
        owner = (await platform.until(adopted))["metadata"]["ownerReferences"][0]
        assert (owner["kind"], owner["name"], owner["uid"]) == ("Job", "gang", job["metadata"]["uid"])
        await client.delete(r.JOBS, "gang", platform.namespace, propagation="Background")

        async def gone() -> bool:
            return not await platform.list(POD_GROUPS)

        await platform.until(gone, timeout_s=_NEW_KINDS_S + PATIENCE_S)


@pytest.mark.parametrize("resource", [RAY_CLUSTERS, SPARK], ids=lambda resource: resource.kind)
async def test_applications_of_operators_are_rendered_there_and_nowhere_else(
    platform: Stage, client: Client, replica: Replica, resource: Resource[Object]
) -> None:
    """Every pod template carries what YuniKorn reads; a namespace without a rule sees nothing of it."""
    plain = sample(resource.kind)
    plain["metadata"] = {"name": "plain"}
    elsewhere = Stage(client)
    await elsewhere.open()
    async with defined(client, resource):
        await say(replica, client, rules(platform.namespace, "yunikorn"))
        await in_force(client, platform.namespace)

        async def rendered() -> Object | None:
            try:
                kept = await client.create(resource, plain, platform.namespace, dry_run=True)
            except StatusError:
                return None  # The server does not know the kind yet.
            return kept if "yunikorn" in str(kept) else None

        kept = await platform.until(rendered)
        places = templates(builtin().of(kept), kept)
        assert places
        for place in places:
            assert peek(kept, place.labels)["yunikorn.apache.org/queue"].startswith("root.org1.")
            assert peek(kept, (*place.pod, "schedulerName")) == "yunikorn"
        untouched = await client.create(resource, plain, elsewhere.namespace, dry_run=True)
        assert "yunikorn" not in str(untouched)
        assert "labels" not in untouched["metadata"]
    await client.delete(r.NAMESPACES, elsewhere.namespace)


async def test_a_rule_that_is_wrong_is_told_with_its_field(
    platform: Stage, client: Client, replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    text = "namespaces: {a: {user: u, groups: 5, queueconfig: {scheduler: yunikorn}}}"
    await say(replica, client, {"metadata": META, "data": {"rules.yaml": text}})
    assert "namespaces.a.groups: 5 is not a list; write each group with a dash" in caplog.text
