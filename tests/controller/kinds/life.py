"""The life of one application: admitted, run, evicted, brought back, ended."""

from __future__ import annotations

from typing import Any

from tests.controller.house import House
from tests.controller.kinds.played import finished, pods_for, running
from tests.controller.kinds.serving import resource_of, serve
from tests.local.controllers.stage import runs, succeeds
from tests.model.jobs.samples import sample
from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, WORKLOADS
from tidegate.kube import resources as r
from tidegate.kube.client import StatusError
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin, is_gated, is_suspended, put, with_suspend

Json = Any
GATE = {"name": "tidegate.dev/quota"}


class Life:
    """One application of a kind, in a house whose only flavor has a label and a taint of its own."""

    def __init__(self, house: House, kind: str, *, real: bool) -> None:
        self.house, self.kind, self.real = house, kind, real
        self.entry = builtin().of(sample(kind))
        self.resource = resource_of(self.entry)
        self.workload = f"{kind.lower()}-app"
        self.made: Object = {}
        self.is_native = kind in ("Job", "Deployment", "QueueJob", "Pod") or (real and kind == "StatefulSet")
        """Its pods are made by somebody who is there."""

    async def begin(self) -> None:
        """Submit it."""
        house, name = self.house, self.house.namespace
        await serve(house, self.entry, real=self.real)
        tolerations = [{"key": "pool", "operator": "Exists"}]
        flavor = {"nodeLabels": {"pool": name}, "tolerations": tolerations}
        await house.client.create(FLAVORS, {"metadata": {"name": name}, "spec": flavor})
        plenty = {"cpu": {"nominalQuota": "1000"}, "memory": {"nominalQuota": "1000Gi"}}
        await self._queue(quotas=[{"flavor": name, "resources": plenty}])
        obj = put(sample(self.kind), ("metadata",), {"name": "app", "labels": {"app": "x"}})
        if self.entry.suspend is not None:
            obj = with_suspend(self.entry, obj, True)
        if self.kind == "Pod":
            obj = put(obj, ("spec", "schedulingGates"), [GATE])
        self.made = await house.client.create(self.resource, dict(obj), house.namespace)

    async def _queue(self, **spec: Json) -> None:
        await self.house.client.patch(CLUSTER_QUEUES, self.house.namespace, {"spec": spec})

    async def runs(self) -> None:
        """Until all it wants is granted and counted, each pod where its flavor is."""
        await self.house.state(self.workload, "Admitted")
        if self.entry.suspend is not None:
            await self.house.see(self.resource, "app", lambda app: not is_suspended(self.entry, app))
        if (said := running(self.kind)) is not None:
            await self._say(said)
        await self.house.until(self._is_running, 60)
        # At once: a pod that is counted as running is placed, and nobody else's is there to be taken for it.
        pods = [pod for pod in await self.house.list(r.PODS) if not self._is_of_before(pod)]
        assert [pod["metadata"]["name"] for pod in pods if not self._is_placed(pod)] == []

    def _is_placed(self, pod: Object) -> bool:
        on_its_nodes = (pod["spec"].get("nodeSelector") or {}).get("pool") == self.house.namespace
        return on_its_nodes and any(each.get("key") == "pool" for each in pod["spec"]["tolerations"])

    def _is_of_before(self, pod: Object) -> bool:
        """Of an application that no door held there are pods until its first rollout has replaced them."""
        marked = "tidegate.dev/workload" in (pod["metadata"].get("annotations") or {})
        return "deletionTimestamp" in pod["metadata"] or (is_gated(self.entry) and not marked)

    async def _is_running(self) -> bool:
        await self._play()
        workload = await self.house.get(WORKLOADS, self.workload)
        wanted = {each["name"]: each["count"] for each in workload["spec"]["podSets"]}
        has = {each["name"]: each for each in workload["status"].get("podSets") or ()}
        return all(
            (has.get(name) or {}).get("granted", 0) == (has.get(name) or {}).get("running", 0) == count
            for name, count in wanted.items()
        )

    async def _play(self) -> None:
        """The turn of the kind's operator and of the nodes."""
        app = await self.house.get(self.resource, "app")
        held = is_suspended(self.entry, app)
        if not self.is_native:
            there, wanted = (
                {pod["metadata"]["name"] for pod in await self.house.list(r.PODS)},
                pods_for(self.entry, app),
            )
            # A real StatefulSet controller was once not taken for one: its pods stood gated beside those that were made
            # here, which were all that was granted, and so a pod was seen that was gated and counted as running.
            assert there <= {pod["metadata"]["name"] for pod in wanted}, "somebody else makes its pods, too"
            for pod in [] if held else wanted:
                if pod["metadata"]["name"] not in there:
                    await self.house.client.create(r.PODS, pod, self.house.namespace)
            for name in there if held else ():
                await self._delete(name)
        await self.house.act("", lambda pod: None if pod["spec"].get("schedulingGates") else runs(pod))

    async def _delete(self, name: str) -> None:
        try:
            await self.house.client.delete(r.PODS, name, self.house.namespace)
        except StatusError as refused:
            assert refused.code == 404

    async def evicted(self) -> None:
        """Drained: nothing of it runs, and it is as its owner wrote it."""
        await self._queue(stop="HoldAndDrain")
        await self.house.state(self.workload, "Evicted", granted=0)
        await self.house.until(self._is_empty)
        if self.entry.suspend is not None:
            held = await self.house.see(self.resource, "app", lambda app: app["spec"] == self.made["spec"])
            assert is_suspended(self.entry, held)
            assert "tidegate.dev/granted" not in (held["metadata"].get("annotations") or {})

    async def _is_empty(self) -> bool:
        await self._play()
        workload = await self.house.get(WORKLOADS, self.workload)
        counted = sum(each.get("running", 0) for each in workload["status"].get("podSets") or ())
        pods = await self.house.list(r.PODS)
        held = [pod for pod in pods if GATE in (pod["spec"].get("schedulingGates") or ())]
        assert not any("pool" in (pod["spec"].get("nodeSelector") or {}) for pod in held)
        return counted == 0 and len(pods) == len(held)

    async def comes_back(self) -> None:
        await self._queue(stop="None")
        await self.runs()

    async def ends(self) -> None:
        """As its operator would say it, or by being deleted; its quota comes back either way."""
        said = finished(self.kind)
        if said is not None:
            await self._say(said)
        elif self.kind in ("Job", "QueueJob", "Pod"):
            await self.house.until(self._has_finished, 60)
        else:
            await self.house.client.delete(self.resource, "app", self.house.namespace)
            await self.house.until(self._is_gone, 60)
            return
        workload = await self.house.state(self.workload, "Finished", granted=0)
        ended = next(each for each in workload["status"]["conditions"] if each["type"] == "Finished")
        assert ended["reason"] == "Succeeded"

    async def _has_finished(self) -> bool:
        await self.house.act("", succeeds)
        return bool((await self.house.get(WORKLOADS, self.workload))["status"].get("state") == "Finished")

    async def _is_gone(self) -> bool:
        return not await self.house.exists(WORKLOADS, self.workload)

    async def _say(self, status: Json) -> None:
        app = await self.house.get(self.resource, "app")
        body = {**app, "status": {**(app.get("status") or {}), **status}}
        try:
            await self.house.client.update(self.resource, body, subresource="status")
        except StatusError as refused:
            assert refused.code == 409, refused.message
            await self._say(status)
