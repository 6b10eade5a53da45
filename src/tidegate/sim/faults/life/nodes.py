"""Nodes and the pods on them: bound, run, ended, stopped; each takes its time."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from random import Random
from typing import Any

from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Object

POOL = "pool"
"""Label of a node: its flavor."""
_NODES = 3
_CPUS = 4
_SLOWEST_START_S, _SLOWEST_STOP_S, _LONGEST_RUN_S = 2.0, 4.0, 40.0
_FAILS = 6
"""Of so many pods one fails."""


class Nodes:
    """A few machines, and what a kubelet and a scheduler would do with pods that are free to start."""

    def __init__(self, client: Client, chance: Random, flavors: tuple[str, ...]) -> None:
        self._client = client
        self._chance = chance
        self._pods: Informer[Object] = Informer(client, r.PODS)
        self._pods.on_change(self._heard)
        self._known: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pools = {f"node-{number}": flavors[number % len(flavors)] for number in range(_NODES)}
        self._lost: set[str] = set()
        self.going_on = asyncio.Event()
        """Cleared, pods that run go on running; those that are told to go still do."""
        self.going_on.set()

    async def open(self) -> None:
        for name in self._pools:
            await self._join(name)
        self._run(self._pods.run())
        await self._pods.synced()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _join(self, name: str) -> None:
        await self._client.create(r.NODES, {"metadata": {"name": name, "labels": {POOL: self._pools[name]}}})
        await self._ready(name, True)

    async def _ready(self, name: str, ready: bool) -> None:
        conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
        status = {"allocatable": {"cpu": str(_CPUS), "memory": "64Gi"}, "conditions": conditions}
        await self._client.patch(r.NODES, name, {"status": status}, subresource="status")

    async def lose_one(self) -> None:
        """A node goes, its pods with it, and comes back: it is silent for a while, or taken away and put up anew."""
        if len(self._lost) + 1 >= len(self._pools):
            return
        name = self._chance.choice([each for each in self._pools if each not in self._lost])
        self._lost.add(name)
        is_taken = self._chance.random() < 0.5
        await (self._client.delete(r.NODES, name) if is_taken else self._ready(name, False))
        await asyncio.sleep(self._chance.random() * 5)
        for pod in list(self._pods.all()):
            if pod["spec"].get("nodeName") == name:
                await self._delete(pod)
        await asyncio.sleep(self._chance.random() * 40)
        await (self._join(name) if is_taken else self._ready(name, True))
        self._lost.discard(name)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _heard(self, old: Object | None, new: Object | None) -> None:
        if new is None:
            return
        uid, stage = str(new["metadata"]["uid"]), _stage(new)
        if stage and (uid, stage) not in self._known:
            self._known.add((uid, stage))
            self._run(self._stop(new) if stage == "stop" else self._live(new))

    async def _live(self, pod: Object) -> None:
        meta = pod["metadata"]
        await asyncio.sleep(self._chance.random() * _SLOWEST_START_S)
        try:
            # The very pod that was meant: another may have its name by now, and would be bound and never run.
            who = {"name": meta["name"], "uid": meta["uid"]}
            binding = {"metadata": who, "target": {"kind": "Node", "name": await self._place(pod)}}
            await self._client.create(r.PODS, binding, meta["namespace"], subresource="binding")
            await self._phase(pod, "Running")
            await self._work(pod)
        except StatusError as refused:
            if refused.code not in (404, 409, 422):
                raise

    async def _place(self, pod: Object) -> str:
        """A node that it may be on, once there is one."""
        pool = (pod["spec"].get("nodeSelector") or {}).get(POOL)
        while True:
            found = [name for name, each in self._pools.items() if pool in (None, each) and name not in self._lost]
            if found:
                return self._chance.choice(found)
            await asyncio.sleep(1)

    async def _work(self, pod: Object) -> None:
        """Until it ends, well or not. A service never does; where containers are started again, a failure is one more
        try in the same pod."""
        policy = pod["spec"].get("restartPolicy", "Always")
        if policy == "Always":
            return
        for restarts in itertools.count(1):
            await asyncio.sleep(1 + self._chance.random() * _LONGEST_RUN_S)
            await self.going_on.wait()
            ended_well = bool(self._chance.randrange(_FAILS))
            if ended_well or policy == "Never":
                await self._phase(pod, "Succeeded" if ended_well else "Failed")
                return
            await self._phase(pod, "Running", restarts)

    async def _phase(self, pod: Object, phase: str, restarts: int = 0) -> None:
        now = await self._client.get(r.PODS, pod["metadata"]["name"], pod["metadata"]["namespace"])
        if now["metadata"]["uid"] == pod["metadata"]["uid"] and not now["metadata"].get("deletionTimestamp"):
            container = {"name": "main", "image": "host", "imageID": "", "ready": False, "restartCount": restarts}
            status = {**(now.get("status") or {}), "phase": phase, "containerStatuses": [container]}
            body = {**now, "status": status}
            await self._client.update(r.PODS, body, subresource="status")

    async def _stop(self, pod: Object) -> None:
        await asyncio.sleep(self._chance.random() * _SLOWEST_STOP_S)
        await self._delete(pod)

    async def _delete(self, pod: Object) -> None:
        meta = pod["metadata"]
        try:
            await self._client.delete(r.PODS, meta["name"], meta["namespace"], uid=meta["uid"], grace_period_s=0)
        except StatusError as refused:
            if refused.code not in (404, 409):
                raise


def _stage(pod: Object) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "stop"
    return "" if pod["spec"].get("schedulingGates") or pod["spec"].get("nodeName") else "live"
