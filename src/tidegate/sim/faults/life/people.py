"""People: they submit, resize, delete, and change queues, and do not care who is watching."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUE_JOBS, QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.workloads import GATE

Json = Any
NAMESPACES = ("a", "b", "c")
_QUEUES = ("x", "y")


def _template(cpu: int) -> Json:
    container = {"name": "main", "image": "host", "command": ["true"], "resources": {"requests": {"cpu": str(cpu)}}}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


class People:
    """A few teams that share a few nodes."""

    def __init__(self, client: Client, chance: Random) -> None:
        self._client = client
        self._chance = chance
        self._count = 0
        self._acts: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (8, self._job), (5, self._queue_job), (4, self._pod), (3, self._gang), (4, self._workload),
            (3, self._resize), (4, self._delete), (2, self._pause),
            (1, self._quota), (1, self._stop), (1, self._disturb),
        ]  # fmt: skip

    async def open(self) -> None:
        """Queues for everybody: two under ClusterQueues of their own, one at the root."""
        for name in _QUEUES:
            await self._client.create(CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": self._rules()})
        for namespace, queue in zip(NAMESPACES, (*_QUEUES, "root"), strict=True):
            labels = {"tidegate.dev/managed": "true"}
            await self._client.create(r.NAMESPACES, {"metadata": {"name": namespace, "labels": labels}})
            body = {"metadata": {"name": "default", "namespace": namespace}, "spec": {"clusterQueue": queue}}
            await self._client.create(QUEUES, body)

    def _rules(self) -> Json:
        quota = {"nominalQuota": str(self._chance.randint(1, 5))}
        if self._chance.random() < 0.5:
            quota["borrowingLimit"] = str(self._chance.randint(0, 6))
        if self._chance.random() < 0.3:
            quota["lendingLimit"] = str(self._chance.randint(0, 3))
        preemption = {
            "withinQueue": self._chance.choice(["Never", "LowerPriority"]),
            "acrossQueues": self._chance.choice(["Never", "LowerPriority", "FairShare"]),
        }
        return {"quotas": [{"flavor": "default", "resources": {"cpu": quota}}], "preemption": preemption}

    async def act(self) -> None:
        """Somebody does something."""
        weights = [weight for weight, _ in self._acts]
        try:
            await self._chance.choices([act for _, act in self._acts], weights)[0]()
        except StatusError as refused:
            if refused.code not in (404, 409, 422):
                raise

    async def open_again(self) -> None:
        """Whoever stopped a queue, or left a Workload inactive, thinks better of it."""
        for name in _QUEUES:
            await self._client.patch(CLUSTER_QUEUES, name, {"spec": {"stop": "None"}})
        for obj in (await self._client.list(WORKLOADS)).items:
            if not obj["spec"].get("active", True):
                await self._active(obj, True)
            if not obj["spec"].get("owner") and obj["metadata"]["name"].startswith("bare"):
                await self._client.delete(WORKLOADS, obj["metadata"]["name"], obj["metadata"]["namespace"])

    def _new(self, kind: str, **metadata: Json) -> Json:
        self._count += 1
        return {"name": f"{kind}{self._count}", "namespace": self._chance.choice(NAMESPACES), **metadata}

    async def _job(self) -> None:
        pods = self._chance.randint(1, 5)
        floor = {"tidegate.dev/min-count": str(self._chance.randint(1, pods))} if self._chance.random() < 0.5 else {}
        spec = {"suspend": True, "parallelism": pods, "completions": pods, "template": _template(1)}
        await self._client.create(r.JOBS, {"metadata": self._new("job", annotations=floor), "spec": spec})

    async def _queue_job(self) -> None:
        tasks = [
            {
                "name": name,
                "replicas": (replicas := self._chance.randint(1, 3)),
                "template": _template(1),
                **({"minReplicas": self._chance.randint(0, replicas)} if self._chance.random() < 0.5 else {}),
            }
            for name in ("lead", "work")[: self._chance.randint(1, 2)]
        ]
        await self._client.create(
            QUEUE_JOBS, {"metadata": self._new("gang"), "spec": {"taskSpecs": tasks, "backoffLimit": 9}}
        )

    async def _pod(self) -> None:
        await self._gated(self._new("pod"))

    async def _gang(self) -> None:
        size = self._chance.randint(2, 3)
        first = self._new("group")
        marks = {
            "labels": {"tidegate.dev/pod-group": first["name"]},
            "annotations": {"tidegate.dev/pod-group-size": str(size)},
        }
        for number in range(size):
            await self._gated({**first, "name": f"{first['name']}-{number}", **marks})

    async def _gated(self, metadata: Json) -> None:
        spec = _template(self._chance.randint(1, 2))["spec"] | {"schedulingGates": [{"name": GATE}]}
        await self._client.create(r.PODS, {"metadata": metadata, "spec": spec})

    async def _workload(self) -> None:
        """An application that reads what it is granted itself."""
        count = self._chance.randint(1, 6)
        pods = {"name": "main", "count": count, "minCount": self._chance.randint(0, count), "requests": {"cpu": "1"}}
        spec = {"podSets": [pods], "priority": self._chance.choice([0, 0, 5])}
        await self._client.create(WORKLOADS, {"metadata": self._new("bare"), "spec": spec})

    async def _some(self, resource: Any, accept: Callable[[Object], bool] = lambda obj: True) -> Object | None:
        found = [obj for obj in (await self._client.list(resource)).items if accept(obj)]
        return self._chance.choice(found) if found else None

    async def _resize(self) -> None:
        if self._chance.random() < 0.5:
            obj = await self._some(WORKLOADS, lambda obj: obj["metadata"]["name"].startswith("bare"))
            if obj is not None:
                (pods,) = obj["spec"]["podSets"]
                pods = {**pods, "count": pods.get("minCount", 0) + self._chance.randint(0, 4)}
                await self._client.update(WORKLOADS, {**obj, "spec": {**obj["spec"], "podSets": [pods]}})
            return
        obj = await self._some(
            r.JOBS, lambda obj: "tidegate.dev/min-count" in (obj["metadata"].get("annotations") or {})
        )
        if obj is not None:
            # What runs is not raised over the operator's head: pods beyond the grant would be there before it looked.
            least, most = int(obj["metadata"]["annotations"]["tidegate.dev/min-count"]), obj["spec"]["parallelism"]
            most = max(least, most) if not obj["spec"].get("suspend") else least + 2
            change = {"spec": {"parallelism": self._chance.randint(least, most)}}
            await self._client.patch(r.JOBS, obj["metadata"]["name"], change, obj["metadata"]["namespace"])

    async def _delete(self) -> None:
        resource = self._chance.choice([r.JOBS, r.JOBS, QUEUE_JOBS, r.PODS, WORKLOADS])
        obj = await self._some(resource)
        if obj is not None:
            await self._client.delete(resource, obj["metadata"]["name"], obj["metadata"]["namespace"])

    async def _pause(self) -> None:
        obj = await self._some(WORKLOADS)
        if obj is not None:
            await self._active(obj, not obj["spec"].get("active", True))

    async def _active(self, obj: Object, active: bool) -> None:
        meta = obj["metadata"]
        await self._client.patch(WORKLOADS, meta["name"], {"spec": {"active": active}}, meta["namespace"])

    async def _quota(self) -> None:
        await self._client.patch(CLUSTER_QUEUES, self._chance.choice(_QUEUES), {"spec": self._rules()})

    async def _stop(self) -> None:
        stop = self._chance.choice(["None", "Hold", "HoldAndDrain"])
        await self._client.patch(CLUSTER_QUEUES, self._chance.choice(_QUEUES), {"spec": {"stop": stop}})

    async def _disturb(self) -> None:
        """Somebody holds a Job that was let go."""
        obj = await self._some(r.JOBS, lambda obj: not obj["spec"].get("suspend"))
        if obj is not None:
            change = {"spec": {"suspend": True}}
            await self._client.patch(r.JOBS, obj["metadata"]["name"], change, obj["metadata"]["namespace"])
