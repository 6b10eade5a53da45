"""What has changed since the last cycle: events mark, the cycle looks. Nothing is done in reaction to an event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from tidegate.controller.kinds import Key, key_of
from tidegate.controller.namespaces import MANAGED
from tidegate.controller.seen.config import config_differs
from tidegate.controller.watch.cache import Cache
from tidegate.kube.wire import Object
from tidegate.workloads import asks_as

Taken = tuple[set[Key], list[Object], set[Key]]
"""Workloads, applications, and Workloads that pods wait for."""


class Changes:
    """Marks, set by the informers' events and taken by the cycle."""

    def __init__(self, is_own: Callable[[Object], bool] = lambda obj: False) -> None:
        """`is_own`: whether a Workload is as we wrote it, so that nothing about it is news."""
        self._is_own = is_own
        self.workloads: set[Key] = set()
        self.applications: dict[tuple[str, str, str, str], Object] = {}
        """By version, kind, namespace and name."""
        self.pods: set[Key] = set()
        """Workloads for which pods wait that have none yet, perhaps."""
        self.config = True
        self.quotas = True
        self._wake = asyncio.Event()
        self._asks_as: Callable[[Object], str] = asks_as

    def listen(self, cache: Cache, workload_of: Callable[[Object], Key]) -> None:
        """Hear of everything that matters."""
        cache.on_workload(lambda old, new: self._workload(cache, old, new))
        self._asks_as = cache.asks_as
        cache.on_pod(self._pod)
        cache.on_maker(lambda old, new: self._maker(cache, old, new))
        cache.on_application(lambda old, new: self._application(workload_of, old, new))
        for informer in (cache.queues, cache.cluster_queues, cache.flavors, cache.nodes, cache.namespaces):
            informer.on_change(self._config)
        cache.resource_quotas.on_change(self._quota)
        cache.priority_classes.on_change(lambda old, new: self.mark(map(key_of, list(cache.workloads.all()))))
        cache.queues.on_change(lambda old, new: self._queue(cache, old, new))
        cache.namespaces.on_change(lambda old, new: self._namespace(cache, old, new))
        for informer in (cache.limit_ranges, cache.runtime_classes):
            informer.on_change(lambda old, new: self._defaults(cache, old or new))

    def mark(self, keys: Iterable[Key]) -> None:
        """Look at these Workloads again."""
        marked = set(keys)
        if marked:
            self.workloads |= marked
            self._wake.set()

    def add(self, obj: Object) -> None:
        """Look at this application again."""
        self.applications[str(obj["apiVersion"]), str(obj["kind"]), *key_of(obj)] = obj
        self._wake.set()

    def add_pods(self, key: Key) -> None:
        """Look again at pods that wait for this Workload."""
        self.pods.add(key)
        self._wake.set()

    def mark_quotas(self) -> None:
        """Look at ResourceQuotas again."""
        self.quotas = True
        self._wake.set()

    def take(self) -> Taken:
        """What is to be looked at: Workloads, applications, and Workloads that pods wait for."""
        taken = self.workloads, list(self.applications.values()), self.pods
        self.workloads, self.applications, self.pods = set(), {}, set()
        self._wake.clear()
        return taken

    def give_back(self, taken: Taken) -> None:
        """It was not looked at; so it is to be, the next time."""
        workloads, applications, pods = taken
        self.workloads |= workloads
        self.pods |= pods
        for obj in applications:
            self.applications.setdefault((str(obj["apiVersion"]), str(obj["kind"]), *key_of(obj)), obj)

    async def wait(self, at_most_s: float | None) -> None:
        """Returns when something was marked, or after so long."""
        try:
            async with asyncio.timeout(at_most_s):
                await self._wake.wait()
        except TimeoutError:
            return

    def wake(self) -> None:
        self._wake.set()

    def _workload(self, cache: Cache, old: Object | None, new: Object | None) -> None:
        if new is not None and self._is_own(new):
            return
        self.mark([key_of(obj) for obj in (old, new) if obj is not None])
        if new is None and old is not None:
            # Whoever it stood for may need another one.
            self.pods.add(key_of(old))
            owner = old["spec"].get("owner") or {}
            followed = cache.application(str(owner.get("apiVersion")), str(owner.get("kind")))
            obj = followed.latest.get((key_of(old)[0], str(owner.get("name")))) if followed else None
            if obj is not None:
                self.add(obj)

    def _pod(self, old: Object | None, new: Object | None) -> None:
        for obj in (old, new):
            if obj is not None and (name := self._asks_as(obj)):
                key = (str(obj["metadata"]["namespace"]), name)
                self.pods.add(key)
                self.mark([key])

    def _application(self, workload_of: Callable[[Object], Key], old: Object | None, new: Object | None) -> None:
        obj = new if new is not None else old
        if obj is None:
            return
        if new is not None:
            self.add(new)
        self.mark([workload_of(obj)])

    def _maker(self, cache: Cache, old: Object | None, new: Object | None) -> None:
        """What it made may have been heard of before it was, or is to go elsewhere now."""
        if new is None or (old is not None and old["metadata"].get("labels") == new["metadata"].get("labels")):
            return
        uid = new["metadata"].get("uid")
        for followed in list(cache.applications.values()):
            for obj in followed.latest.all():
                if any(owner.get("uid") == uid for owner in obj["metadata"].get("ownerReferences") or ()):
                    self.add(obj)

    def _config(self, old: Object | None, new: Object | None) -> None:
        if config_differs(old, new):
            self.config = self.quotas = True
            self._wake.set()

    def _quota(self, old: Object | None, new: Object | None) -> None:
        def kept(quota: Object) -> object:
            return quota.get("spec"), quota["metadata"].get("ownerReferences")

        if old is None or new is None or kept(old) != kept(new):
            self.mark_quotas()

    def _defaults(self, cache: Cache, changed: Object | None) -> None:
        """Pods are given something else from now on, and so their applications ask for something else."""
        self._applications_in(cache, None if changed is None else changed["metadata"].get("namespace"))

    def _queue(self, cache: Cache, old: Object | None, new: Object | None) -> None:
        """A new door: whoever stood before a namespace without one is to be looked at again."""
        if old is None and new is not None:
            self._everybody_in(cache, str(new["metadata"]["namespace"]))

    def _namespace(self, cache: Cache, old: Object | None, new: Object | None) -> None:
        """One that comes under Tidegate, or leaves it, with whoever is there."""
        if old is not None and new is not None and _managed(old) != _managed(new):
            self._everybody_in(cache, str(new["metadata"]["name"]))

    def _everybody_in(self, cache: Cache, namespace: str) -> None:
        self._applications_in(cache, namespace)
        for pod in cache.pods.all():
            self._pod(None, pod)
        self._wake.set()

    def _applications_in(self, cache: Cache, namespace: str | None) -> None:
        for followed in list(cache.applications.values()):
            for obj in followed.latest.all():
                if namespace is None or obj["metadata"]["namespace"] == namespace:
                    self.add(obj)


def _managed(namespace: Object) -> str | None:
    return (namespace["metadata"].get("labels") or {}).get(MANAGED)
