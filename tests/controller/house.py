"""A managed namespace with a quota of its own, and operators that can be started and killed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from tests.harness.cluster import PATIENCE_S
from tests.local.controllers.stage import Stage
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.controller.operator import Operator
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource

Json = Any


class House(Stage):
    """One namespace, one ClusterQueue of `cpu`, one Queue; other tests' namespaces do not matter."""

    def __init__(self, client: Client, *, cpu: int = 4) -> None:
        super().__init__(client)
        self.cpu = cpu
        self._operator: asyncio.Task[None] | None = None

    async def open(self) -> None:
        await super().open()
        await self.client.patch(
            r.NAMESPACES, self.namespace, {"metadata": {"labels": {"tidegate.dev/managed": "true"}}}
        )
        quotas = [{"flavor": "default", "resources": {"cpu": {"nominalQuota": str(self.cpu)}}}]
        await self.client.create(CLUSTER_QUEUES, {"metadata": {"name": self.namespace}, "spec": {"quotas": quotas}})

    async def furnish(self) -> None:
        """Its door."""
        await self.create(QUEUES, "default", spec={"clusterQueue": self.namespace})

    async def quota(self, resources: Json, flavor: str = "default") -> None:
        """What its ClusterQueue has, in place of the cpus it began with."""
        quotas = [{"flavor": flavor, "resources": resources}]
        await self.client.patch(CLUSTER_QUEUES, self.namespace, {"spec": {"quotas": quotas}})

    def start(self) -> None:
        self._operator = asyncio.create_task(Operator(self.client).run())

    async def kill(self) -> None:
        """The operator ends wherever it stands, and remembers nothing."""
        if self._operator is not None:
            self._operator.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._operator
            self._operator = None

    async def close(self) -> None:
        await self.kill()
        for resource, name in ((CLUSTER_QUEUES, self.namespace), (r.NAMESPACES, self.namespace)):
            with contextlib.suppress(StatusError):
                await self.client.delete(resource, name)

    async def workload(
        self, name: str, count: int, *, least: int | None = None, cpu: str = "1", **spec: Json
    ) -> Object:
        pods: Json = {"name": "main", "count": count, "requests": {"cpu": cpu}}
        if least is not None:
            pods["minCount"] = least
        return await self.create(WORKLOADS, name, spec={"podSets": [pods], **spec})

    async def queued_job(self, name: str, count: int, *, least: int | None = None, **spec: Json) -> Object:
        container = {"name": "main", "image": "host", "command": ["true"], "resources": {"requests": {"cpu": "1"}}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        meta: Json = {"name": name}
        if least is not None:
            meta["annotations"] = {"tidegate.dev/min-count": str(least)}
        body = {"suspend": True, "parallelism": count, "completions": count, "template": template, **spec}
        return await self.client.create(r.JOBS, {"metadata": meta, "spec": body}, self.namespace)

    async def see(
        self, resource: Resource[Object], name: str, accept: Callable[[Object], Any], timeout_s: float = PATIENCE_S
    ) -> Object:
        """The object once `accept` is true of it; watched, not asked again and again."""
        last: Object = {}
        try:
            async with asyncio.timeout(timeout_s):
                watch = self.client.watch(resource, self.namespace, fields=f"metadata.name={name}", initial=True)
                async with contextlib.aclosing(watch):
                    async for event in watch:
                        if event.type in ("ADDED", "MODIFIED"):
                            last = event.object
                            if accept(last):
                                return last
        except TimeoutError:
            pass
        raise AssertionError(f"{resource.kind} {name} did not become so; it is {last.get('spec')} {last.get('status')}")

    async def state(self, name: str, wanted: str, *, granted: int | None = None) -> Object:
        """A Workload once it has this state and, if asked, so many pods granted."""

        def accept(obj: Object) -> bool:
            status = obj.get("status") or {}
            has = sum(each["granted"] for each in status.get("podSets") or ())
            return status.get("state") == wanted and granted in (None, has)

        return await self.see(WORKLOADS, name, accept)

    async def waits(self, name: str, reason: str) -> Object:
        """A Workload once it waits for this reason."""
        return await self.see(
            WORKLOADS, name, lambda obj: ((obj.get("status") or {}).get("waiting") or {}).get("reason") == reason
        )
