"""People: they submit, resize, delete, and change queues, and do not care who is watching."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, QUEUE_JOBS, QUEUES, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.sim.faults.life.nodes import POOL
from tidegate.sim.faults.life.wishes import NAMESPACES, URGENT, Wishes

Json = Any
_CLUSTER_QUEUES = ("x", "y")
_QUEUES = dict(zip(NAMESPACES, (*_CLUSTER_QUEUES, "root"), strict=True))
"""By namespace, where its Queue belongs at first: two have ClusterQueues of their own, one is at the root."""
_MINDED = (403, 404, 409, 422)
"""What people shrug at: it is gone, somebody was faster, or it is not allowed."""


class People:
    """A few teams that share a few nodes, of one flavor or several."""

    def __init__(
        self, client: Client, chance: Random, flavors: tuple[str, ...], *, doors: bool, limits: bool = False
    ) -> None:
        self._client = client
        self._chance = chance
        self._flavors = flavors
        self._wishes = Wishes(chance, doors=doors, leaves_open=limits)
        self._acts: list[tuple[int, Callable[[], Awaitable[None]]]] = [
            (8, self._job), (5, self._queue_job), (4, self._pod), (3, self._group), (4, self._workload),
            (4, self._resize), (4, self._delete), (2, self._pause), (1, self._disturb),
            (1, self._quota), (1, self._stop), (1, self._door), (1, self._move),
        ]  # fmt: skip
        if doors:
            self._acts += [(3, self._deployment), (1, self._roll_out), (2, self._pass_off)]
        if limits:
            self._acts += [(4, self._limit)]

    async def open(self) -> None:
        """Queues for everybody."""
        await self._client.create(r.PRIORITYCLASSES, {"metadata": {"name": URGENT}, "value": 10})
        if len(self._flavors) > 1:
            for name in self._flavors:
                await self._client.create(FLAVORS, {"metadata": {"name": name}, "spec": {"nodeLabels": {POOL: name}}})
        for name in _CLUSTER_QUEUES:
            await self._client.create(CLUSTER_QUEUES, {"metadata": {"name": name}, "spec": self._rules()})
        for namespace in NAMESPACES:
            labels = {"tidegate.dev/managed": "true"}
            await self._client.create(r.NAMESPACES, {"metadata": {"name": namespace, "labels": labels}})
            await self._open_door(namespace, _QUEUES[namespace])

    async def _open_door(self, namespace: str, cluster_queue: str) -> None:
        limits = {"limits": {"cpu": str(self._chance.randint(2, 9))}} if not self._chance.randrange(4) else {}
        body = {"metadata": {"name": "default", "namespace": namespace}, "spec": {"clusterQueue": cluster_queue}}
        await self._client.create(QUEUES, {**body, "spec": {**body["spec"], **limits}})

    def _rules(self) -> Json:
        flavors = self._chance.sample(self._flavors, self._chance.randint(1, len(self._flavors)))
        preemption = {
            "withinQueue": self._chance.choice(["Never", "LowerPriority"]),
            "acrossQueues": self._chance.choice(["Never", "LowerPriority", "FairShare"]),
        }
        quotas = [{"flavor": flavor, "resources": {"cpu": self._amounts()}} for flavor in flavors]
        return {"quotas": quotas, "preemption": preemption}

    def _amounts(self) -> Json:
        quota = {"nominalQuota": str(self._chance.randint(1, 5))}
        if self._chance.random() < 0.5:
            quota["borrowingLimit"] = str(self._chance.randint(0, 6))
        if self._chance.random() < 0.3:
            quota["lendingLimit"] = str(self._chance.randint(0, 3))
        return quota

    async def act(self) -> None:
        """Somebody does something."""
        weights = [weight for weight, _ in self._acts]
        try:
            await self._chance.choices([act for _, act in self._acts], weights)[0]()
        except StatusError as refused:
            if refused.code not in _MINDED:
                raise

    async def open_again(self) -> None:
        """Whoever stopped a queue, closed a door, or left a Workload inactive, thinks better of it; what would never
        end by itself is taken away."""
        for name in _CLUSTER_QUEUES:
            await self._client.patch(CLUSTER_QUEUES, name, {"spec": {"stop": "None"}})
        there = {queue["metadata"]["namespace"] for queue in (await self._client.list(QUEUES)).items}
        for namespace in sorted({*NAMESPACES} - there):
            await self._open_door(namespace, _QUEUES[namespace])
        for obj in (await self._client.list(WORKLOADS)).items:
            if not obj["spec"].get("active", True):
                await self._active(obj, True)
            if not obj["spec"].get("owner") and obj["metadata"]["name"].startswith("bare"):
                await self._client.delete(WORKLOADS, obj["metadata"]["name"], obj["metadata"]["namespace"])
        for obj in (await self._client.list(r.DEPLOYMENTS)).items:
            await self._client.delete(r.DEPLOYMENTS, obj["metadata"]["name"], obj["metadata"]["namespace"])

    # ── what they ask for ──

    async def _job(self) -> None:
        await self._client.create(r.JOBS, self._wishes.job())

    async def _queue_job(self) -> None:
        await self._client.create(QUEUE_JOBS, self._wishes.queue_job())

    async def _pod(self) -> None:
        await self._client.create(r.PODS, self._wishes.pod())

    async def _group(self) -> None:
        for pod in self._wishes.group():
            await self._client.create(r.PODS, pod)

    async def _deployment(self) -> None:
        await self._client.create(r.DEPLOYMENTS, self._wishes.deployment())

    async def _pass_off(self) -> None:
        """Somebody makes a pod and says that it is an application's, perhaps with all that he sees on its pods."""
        resource = self._chance.choice([r.JOBS, QUEUE_JOBS, r.PODS])
        obj = await self._some(resource)
        if obj is not None:
            await self._client.create(r.PODS, self._wishes.passed_off(resource.api_version, resource.kind, obj))

    async def _workload(self) -> None:
        await self._client.create(WORKLOADS, self._wishes.workload())

    # ── what they think better of ──

    async def _some(self, resource: Any, accept: Callable[[Object], bool] = lambda obj: True) -> Object | None:
        found = [obj for obj in (await self._client.list(resource)).items if accept(obj)]
        return self._chance.choice(found) if found else None

    async def _patch(self, resource: Any, obj: Object | None, change: Json) -> None:
        if obj is not None:
            await self._client.patch(resource, obj["metadata"]["name"], change, obj["metadata"]["namespace"])

    async def _resize(self) -> None:
        match self._chance.randrange(3):
            case 0:
                await self._resize_workload()
            case 1:
                replicas = {"spec": {"replicas": self._chance.randint(0, 5)}}
                await self._patch(r.DEPLOYMENTS, await self._some(r.DEPLOYMENTS), replicas)
            case _:
                await self._resize_job()

    async def _resize_workload(self) -> None:
        obj = await self._some(WORKLOADS, lambda obj: obj["metadata"]["name"].startswith("bare"))
        if obj is not None:
            (pods,) = obj["spec"]["podSets"]
            pods = {**pods, "count": pods.get("minCount", 0) + self._chance.randint(0, 4)}
            await self._client.update(WORKLOADS, {**obj, "spec": {**obj["spec"], "podSets": [pods]}})

    async def _resize_job(self) -> None:
        obj = await self._some(
            r.JOBS, lambda obj: "tidegate.dev/min-count" in (obj["metadata"].get("annotations") or {})
        )
        if obj is not None:
            # What runs is not raised over the operator's head: pods beyond the grant would be there before it looked.
            least, most = int(obj["metadata"]["annotations"]["tidegate.dev/min-count"]), obj["spec"]["parallelism"]
            most = max(least, most) if not obj["spec"].get("suspend") else least + 2
            await self._patch(r.JOBS, obj, {"spec": {"parallelism": self._chance.randint(least, most)}})

    async def _delete(self) -> None:
        resource = self._chance.choice([r.JOBS, r.JOBS, QUEUE_JOBS, r.PODS, WORKLOADS, r.DEPLOYMENTS])
        obj = await self._some(resource)
        if obj is not None:
            await self._client.delete(resource, obj["metadata"]["name"], obj["metadata"]["namespace"])

    async def _pause(self) -> None:
        obj = await self._some(WORKLOADS)
        if obj is not None:
            await self._active(obj, not obj["spec"].get("active", True))

    async def _active(self, obj: Object, active: bool) -> None:
        await self._patch(WORKLOADS, obj, {"spec": {"active": active}})

    async def _disturb(self) -> None:
        """Somebody holds a Job that was let go."""
        obj = await self._some(r.JOBS, lambda obj: not obj["spec"].get("suspend"))
        await self._patch(r.JOBS, obj, {"spec": {"suspend": True}})

    async def _roll_out(self) -> None:
        """New pods come before the old ones go."""
        version = {"metadata": {"labels": {"version": str(self._chance.randrange(100))}}}
        await self._patch(r.DEPLOYMENTS, await self._some(r.DEPLOYMENTS), {"spec": {"template": version}})

    # ── what they do to queues ──

    async def _quota(self) -> None:
        await self._client.patch(CLUSTER_QUEUES, self._chance.choice(_CLUSTER_QUEUES), {"spec": self._rules()})

    async def _stop(self) -> None:
        stop = self._chance.choice(["None", "Hold", "HoldAndDrain"])
        await self._client.patch(CLUSTER_QUEUES, self._chance.choice(_CLUSTER_QUEUES), {"spec": {"stop": stop}})

    async def _door(self) -> None:
        """A namespace loses its Queue, with whatever runs there, or has it again."""
        namespace = self._chance.choice(NAMESPACES)
        if await self._some(QUEUES, lambda obj: obj["metadata"]["namespace"] == namespace):
            await self._client.delete(QUEUES, "default", namespace)
        else:
            await self._open_door(namespace, _QUEUES[namespace])

    async def _move(self) -> None:
        """A Queue is put under another ClusterQueue."""
        target = self._chance.choice((*_CLUSTER_QUEUES, "root"))
        await self._patch(QUEUES, await self._some(QUEUES), {"spec": {"clusterQueue": target}})

    async def _limit(self) -> None:
        """What pods of a namespace request where they say nothing is something else from now on, or nothing again."""
        namespace, cpu = self._chance.choice(NAMESPACES), self._chance.randint(0, 3)
        spec = {"limits": [{"type": "Container", "defaultRequest": {"cpu": str(cpu)}}]}
        known = await self._some(r.LIMITRANGES, lambda obj: obj["metadata"]["namespace"] == namespace)
        if known is None:
            await self._client.create(
                r.LIMITRANGES, {"metadata": {"name": "open", "namespace": namespace}, "spec": spec}
            )
        elif cpu:
            await self._patch(r.LIMITRANGES, known, {"spec": spec})
        else:
            await self._client.delete(r.LIMITRANGES, "open", namespace)
