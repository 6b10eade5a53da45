"""Replicas of the operator in the test's own process, called by an API server over TLS."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from tests.controller.house import House
from tests.harness import Cluster, processes
from tests.harness.cluster import PATIENCE_S
from tidegate.controller.doors.keeping import RESOURCES
from tidegate.controller.replica import Doors, Replica, Settings
from tidegate.kube import resources as r
from tidegate.kube.access import Access, Trust
from tidegate.kube.client import Client, StatusError
from tidegate.kube.credentials import Fixed
from tidegate.kube.serve.listener import Bind
from tidegate.kube.transport import HttpTransport
from tidegate.kube.wire import Object

NAMES = ("tidegate", "tidegate-dialects")


def settings(**more: Any) -> Settings:
    """Webhooks on a free port of loopback."""
    port = processes.free_port()
    doors = Doors(Bind("127.0.0.1", port), url=f"https://127.0.0.1:{port}")
    return Settings(doors=doors, health=Bind("127.0.0.1", 0), lease_s=3, **more)


@contextlib.asynccontextmanager
async def running(client: Client, how: Settings) -> AsyncIterator[Replica]:
    """A replica that leads, once the server knows its doors."""
    replica = Replica(client, how)
    task = asyncio.create_task(replica.run())
    try:
        assert replica.doors is not None
        await replica.doors.listening.wait()
        yield replica
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def known(client: Client, replica: Replica) -> None:
    """Returns when the server has been told of the doors."""
    assert replica.certificates is not None
    await until(client, lambda hooks: bundle_of(hooks) == replica.certificates.trusted)  # type: ignore[union-attr]


async def until(client: Client, accept: Any, name: str = "tidegate") -> Object:
    """The configuration of the doors, or of dialects, once it is as wanted."""
    async with asyncio.timeout(PATIENCE_S):
        watch = client.watch(r.MUTATINGWEBHOOKCONFIGURATIONS, fields=f"metadata.name={name}", initial=True)
        async with contextlib.aclosing(watch):
            async for event in watch:
                if event.type in ("ADDED", "MODIFIED") and accept(event.object):
                    return event.object
    raise AssertionError("the watch ended")


def bundle_of(hooks: Object) -> bytes:
    return base64.b64decode(hooks["webhooks"][0]["clientConfig"].get("caBundle") or "")


async def forget(client: Client) -> None:
    """Nobody answers any more, so nobody is to be asked."""
    for resource in RESOURCES.values():
        for name in NAMES:
            with contextlib.suppress(StatusError):
                await client.delete(resource, name)
    with contextlib.suppress(StatusError):
        await client.delete(r.SECRETS, "tidegate-webhook", "kube-system")


async def judged_soon(house: House) -> None:
    """Returns when the server calls the doors: configurations reach it a moment after they are written."""
    pod = {"metadata": {"generateName": "probe-"}, "spec": {"containers": [{"name": "main", "image": "host"}]}}

    async def gated() -> bool:
        made = await house.client.create(r.PODS, pod, house.namespace, dry_run=True)
        return bool(made["spec"].get("schedulingGates"))

    await house.until(gated)


async def colleague(cluster: Cluster, house: House, user: str, *groups: str) -> Client:
    """Somebody who may do in the house what people may: make, change and delete work, but grant nothing."""
    work = ["pods", "jobs", "cronjobs", "workloads", "queuejobs"]
    rule = {"apiGroups": ["", "batch", "tidegate.dev"], "resources": work, "verbs": ["*"]}
    role = {"metadata": {"name": user}, "rules": [rule]}
    await house.client.create(r.ROLES, role, house.namespace)
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    to = {"kind": "Role", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    await house.client.create(r.ROLEBINDINGS, {"metadata": {"name": user}, "subjects": [subject], "roleRef": to},
                              house.namespace)  # fmt: skip
    says = (("Impersonate-User", user), *(("Impersonate-Group", group) for group in groups))
    access = Access(cluster.url, Fixed.token(cluster.token), Trust(cluster.ca_file.read_text()), impersonate=says)
    return Client(HttpTransport(access))
