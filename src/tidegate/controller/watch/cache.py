"""Everything the controllers know of the server: one informer per kind, and who is told of which change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS, QUEUES, WORKLOADS, ServedKind, served_kinds
from tidegate.controller.watch.latest import Latest
from tidegate.kube.client import Client
from tidegate.kube.informer import Change, Informer
from tidegate.kube.resources import (
    CRDS,
    LIMITRANGES,
    NAMESPACES,
    NODES,
    PODS,
    PRIORITYCLASSES,
    RESOURCEQUOTAS,
    RUNTIMECLASSES,
)
from tidegate.kube.wire import Object
from tidegate.model.jobs import JobKind, Kinds, Scope
from tidegate.workloads import PodDefaults, asks_as, inheriting, maker_of, pod_defaults

BY_WORKLOAD = "workload"
BY_NAMESPACE = "namespace"
_LISTED_S = 1.0


def by_namespace(obj: Object) -> Iterable[str]:
    return [str(obj["metadata"]["namespace"])]


class Followed:
    """The applications of one kind, and the objects that describe their pods where they do not themselves."""

    def __init__(self, client: Client, served: ServedKind) -> None:
        self.entry, self.resource = served.entry, served.resource
        self.informer: Informer[Object] = Informer(client, served.resource)
        self.latest = Latest(self.informer)
        self.referred = {each.kind: (each, Informer(client, each)) for each in served.referred}
        """By kind."""

    def referred_by(self, obj: Object) -> Object | None:
        """The object that describes its pods; None where it describes them itself, or that object is not there."""
        refers = self.entry.refers
        if refers is None:
            return None
        scope = Scope(obj)
        known = self.referred.get(str(refers.kind.value(scope) or refers.kinds[0]))
        if known is None:
            return None
        resource, informer = known
        namespace = str(obj["metadata"]["namespace"]) if resource.namespaced else ""
        return informer.get(str(refers.name.value(scope)), namespace)


class Cache:
    """Started by `run`; complete once `synced` has returned."""

    def __init__(self, client: Client, kinds: Kinds) -> None:
        self._client = client
        self.kinds = kinds
        self._workloads: Informer[Object] = Informer(client, WORKLOADS)
        self.workloads = Latest(self._workloads)
        self.queues: Informer[Object] = Informer(client, QUEUES, indexes={BY_NAMESPACE: by_namespace})
        self.cluster_queues: Informer[Object] = Informer(client, CLUSTER_QUEUES)
        self.flavors: Informer[Object] = Informer(client, FLAVORS)
        self.nodes: Informer[Object] = Informer(client, NODES)
        self.namespaces: Informer[Object] = Informer(client, NAMESPACES)
        self._pods: Informer[Object] = Informer(client, PODS, indexes={BY_WORKLOAD: self._by_workload})
        self.pods = Latest(self._pods, self._by_workload)
        self.priority_classes: Informer[Object] = Informer(client, PRIORITYCLASSES)
        self.resource_quotas: Informer[Object] = Informer(client, RESOURCEQUOTAS, indexes={BY_NAMESPACE: by_namespace})
        self.limit_ranges: Informer[Object] = Informer(client, LIMITRANGES, indexes={BY_NAMESPACE: by_namespace})
        self.runtime_classes: Informer[Object] = Informer(client, RUNTIMECLASSES)
        self._definitions: Informer[Object] = Informer(client, CRDS)
        self.applications: dict[tuple[str, str], Followed] = {}
        """By API group and kind."""
        self.makers: dict[tuple[str, str], Followed] = {}
        """Likewise: what makes applications again and again, and is not queued itself."""
        self._on_application: list[Change[Object]] = []
        self._on_maker: list[Change[Object]] = []
        self._new_kinds = asyncio.Event()
        self._complete = asyncio.Event()
        self._definitions.on_change(lambda old, new: self._new_kinds.set())

    def asks_as(self, pod: Object) -> str:
        """The name of the Workload that a pod belongs to or waits for; empty where it is nobody's."""
        return asks_as(pod, kinds=self.kinds)

    def _by_workload(self, pod: Object) -> Iterable[str]:
        name = self.asks_as(pod)
        return [f"{pod['metadata']['namespace']}/{name}"] if name else []

    def with_maker(self, obj: Object) -> Object:
        """An application, with what its maker says of queue and priority where it says nothing itself."""
        maker = self.maker(obj, str(obj["metadata"].get("namespace") or ""))
        return obj if maker is None else dict(inheriting(obj, maker))

    def maker(self, obj: Object, namespace: str) -> Object | None:
        """What made an application, if it is something that makes them again and again."""
        found = maker_of(obj, self.kinds)
        followed = self.makers.get((found[0].group, found[0].kind)) if found else None
        return None if found is None or followed is None else followed.latest.get((namespace, found[1]))

    def pod_defaults(self, namespace: str) -> PodDefaults:
        """What the server fills into pods of a namespace."""
        return pod_defaults(self.limit_ranges.by(BY_NAMESPACE, namespace), self.runtime_classes.all())

    def on_workload(self, handler: Change[Object]) -> None:
        self._workloads.on_change(handler)
        self.workloads.on_lost(lambda obj: handler(obj, None))

    def on_pod(self, handler: Change[Object]) -> None:
        self._pods.on_change(handler)
        self.pods.on_lost(lambda obj: handler(obj, None))

    def on_application(self, handler: Change[Object]) -> None:
        """Of every kind, also of those that the server learns later."""
        self._on_application.append(handler)
        for followed in self.applications.values():
            followed.informer.on_change(handler)

    def on_maker(self, handler: Change[Object]) -> None:
        """Likewise, of what makes applications."""
        self._on_maker.append(handler)
        for followed in self.makers.values():
            followed.informer.on_change(handler)

    def pods_of(self, name: str) -> list[Object]:
        """Pods of a Workload, by namespace/name; those that are held and ask for it included, and those that we made a
        moment ago."""
        found = self._pods.by(BY_WORKLOAD, name)
        heard = [self.pods.get((pod["metadata"]["namespace"], pod["metadata"]["name"])) or pod for pod in found]
        return heard + self.pods.made(name)

    def application(self, api_version: str, kind: str) -> Followed | None:
        return self.applications.get((api_version.rpartition("/")[0], kind))

    async def synced(self) -> None:
        """Returns when everything there is was heard of."""
        await self._complete.wait()

    async def run(self) -> None:
        fixed: list[Informer[Any]] = [
            self._workloads, self.queues, self.cluster_queues, self.flavors, self.nodes, self.namespaces,
            self.priority_classes, self.resource_quotas, self.limit_ranges, self.runtime_classes, self._definitions,
        ]  # fmt: skip
        async with asyncio.TaskGroup() as group:
            for informer in fixed:
                group.create_task(informer.run())
            for informer in fixed:
                await informer.synced()
            while True:
                self._new_kinds.clear()
                await self._follow_applications(group)
                if not self._complete.is_set():
                    # Pods come last: all that an application made before it said that it may make less are there then.
                    group.create_task(self._pods.run())
                    await self._pods.synced()
                self._complete.set()
                # Servers tell of a definition before they list what it defines.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_LISTED_S if self._is_behind() else None):
                        await self._new_kinds.wait()

    def _is_behind(self) -> bool:
        """Whether something is defined that we would follow and do not yet."""
        return any(
            (entry.group, entry.kind) not in {**self.applications, **self.makers}
            for definition in self._definitions.all()
            for entry in self._entries_of(definition)
        )

    def _entries_of(self, definition: Object) -> Iterable[JobKind]:
        spec = definition["spec"]
        for version in spec["versions"]:
            api_version = f"{spec['group']}/{version['name']}"
            entry = self.kinds.find({"apiVersion": api_version, "kind": spec["names"]["kind"]})
            if entry is not None and version.get("served") and not definition["metadata"].get("deletionTimestamp"):
                yield entry

    async def _follow_applications(self, group: asyncio.TaskGroup) -> None:
        """Begin to follow kinds that the server has and we do not follow yet."""
        for served in await self._served():
            entry = served.entry
            known = self.applications if entry.makes is None else self.makers
            if (entry.group, entry.kind) in known:
                continue
            followed = Followed(self._client, served)
            for _, informer in followed.referred.values():
                group.create_task(informer.run())
                await informer.synced()
            group.create_task(followed.informer.run())
            await followed.informer.synced()
            # In one breath: whoever begins to listen while we waited finds it here, or is found by it.
            known[entry.group, entry.kind] = followed
            for handler in self._on_application if entry.makes is None else self._on_maker:
                followed.informer.on_change(handler)

    async def _served(self) -> list[ServedKind]:
        from tidegate.kube.answers import StatusError

        for _ in range(60):
            try:
                return await served_kinds(self._client, self.kinds)
            except (OSError, StatusError):
                await asyncio.sleep(1)
        return []
