"""A namespace to play in: objects by short calls, and a kubelet that does to pods what the test says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from tests.harness import Cluster
from tests.harness.cluster import PATIENCE_S
from tidegate.kube import resources as r
from tidegate.kube.access import Access, Trust
from tidegate.kube.client import Client, StatusError
from tidegate.kube.credentials import Fixed
from tidegate.kube.transport import HttpTransport
from tidegate.kube.wire import Object, Resource

Fate = Callable[[Object], Object | None]
"""What becomes of a pod: the status to give it, or None to leave it."""

CONTAINERS = [{"name": "main", "image": "host"}]


def client_of(cluster: Cluster) -> Client:
    trust = Trust(cluster.ca_file.read_text())
    return Client(HttpTransport(Access(cluster.url, Fixed.token(cluster.token), trust)))


async def close(client: Client) -> None:
    """TLS connections say goodbye in a later turn of the loop, which aiohttp gives no way to await."""
    await client.close()
    await asyncio.sleep(0.25)


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def succeeds(_: Object) -> Object:
    return {"phase": "Succeeded", "containerStatuses": [_ended(0)]}


def fails(exit_code: int = 1) -> Fate:
    return lambda _: {"phase": "Failed", "containerStatuses": [_ended(exit_code)]}


def runs(_: Object) -> Object:
    return {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": stamp()}]}


def waits(_: Object) -> None:
    return None


def by_index(fates: dict[int, Fate], default: Fate = succeeds) -> Fate:
    def fate(pod: Object) -> Object | None:
        index = int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"])
        return fates.get(index, default)(pod)

    return fate


def _ended(exit_code: int) -> Object:
    ended = {"exitCode": exit_code, "startedAt": stamp(), "finishedAt": stamp()}
    return {
        "name": "main",
        "image": "host",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": ended},
    }


class Stage:
    def __init__(self, client: Client, root_ca: str = "") -> None:
        self.client = client
        self.root_ca = root_ca
        self.namespace = ""

    async def open(self) -> None:
        made = await self.client.create(r.NAMESPACES, {"metadata": {"generateName": "stage-"}})
        self.namespace = made["metadata"]["name"]
        await self.until(lambda: self.exists(r.SERVICEACCOUNTS, "default"))

    async def close(self) -> None:
        """The namespace goes, with all that was played in it: others use this server, too, and a node that binds what
        waits would take the pods that nobody plays any more."""
        if self.namespace:
            await self.client.delete(r.NAMESPACES, self.namespace)

    async def create(self, resource: Resource[Object], name: str, **body: Any) -> Object:
        return await self.client.create(resource, {"metadata": {"name": name}, **body}, self.namespace)

    async def get(self, resource: Resource[Object], name: str) -> Object:
        return await self.client.get(resource, name, self.namespace)

    async def exists(self, resource: Resource[Object], name: str) -> bool:
        try:
            await self.get(resource, name)
        except StatusError as error:
            if error.code != 404:
                raise
            return False
        return True

    async def list(self, resource: Resource[Object], labels: str = "") -> list[Object]:
        return (await self.client.list(resource, self.namespace, labels=labels)).items

    async def patch(self, resource: Resource[Object], name: str, patch: Object) -> Object:
        return await self.client.patch(resource, name, patch, self.namespace)

    async def job(self, name: str, **spec: Any) -> Object:
        template = {"spec": {"restartPolicy": "Never", "containers": CONTAINERS}}
        return await self.create(r.JOBS, name, spec={"template": template, **spec})

    async def deployment(self, name: str, **spec: Any) -> Object:
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": CONTAINERS}}
        selector = {"matchLabels": {"app": name}}
        return await self.create(r.DEPLOYMENTS, name, spec={"template": template, "selector": selector, **spec})

    async def act(self, labels: str, fate: Fate) -> None:
        """The kubelet's turn: pods that have not ended meet their fate."""
        for pod in await self.list(r.PODS, labels):
            if pod["status"]["phase"] in {"Succeeded", "Failed"} or pod["metadata"].get("deletionTimestamp"):
                continue
            status = fate(pod)
            if status is not None and status["phase"] != pod["status"]["phase"]:
                await self._set(pod, status)

    async def play(
        self, resource: Resource[Object], name: str, fate: Fate, until: Callable[[Object], bool], timeout_s: float = 60
    ) -> Object:
        """Lets pods of `name` meet their fate until its object is as wanted."""
        labels = f"job-name={name}" if resource is r.JOBS else f"app={name}"
        deadline = time.monotonic() + timeout_s
        while True:
            await self.act(labels, fate)
            there = await self.get(resource, name)
            if until(there):
                return there
            assert time.monotonic() < deadline, there.get("status")
            await asyncio.sleep(0.05)

    async def until(self, holds: Callable[[], Awaitable[Any]], timeout_s: float = PATIENCE_S) -> Any:
        deadline = time.monotonic() + timeout_s
        while not (found := await holds()):
            assert time.monotonic() < deadline, "it did not come to pass"
            await asyncio.sleep(0.05)
        return found

    async def _set(self, pod: Object, status: Object) -> None:
        try:
            await self.client.patch(
                r.PODS, pod["metadata"]["name"], {"status": status}, self.namespace, subresource="status"
            )
        except StatusError as error:
            if error.code != 404:
                raise


def finished(job: Object) -> bool:
    return any(each["type"] in {"Complete", "Failed"} for each in job.get("status", {}).get("conditions", ()))


def has(kind: str, reason: str) -> Callable[[Object], bool]:
    def holds(there: Object) -> bool:
        conditions = there.get("status", {}).get("conditions", ())
        return any((each["type"], each["reason"]) == (kind, reason) for each in conditions)

    return holds
