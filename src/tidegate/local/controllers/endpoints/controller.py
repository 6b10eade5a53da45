"""Keeps Endpoints and EndpointSlices as their plan has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.endpoints.objects import ENDPOINTS, SERVICES, SLICES, Service
from tidegate.local.controllers.endpoints.plan import MANAGED_BY, MANAGER, SERVICE_NAME, endpoints_for, slices_for
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.selectors import selects
from tidegate.local.controllers.status import is_namespace_ending

_BATCH_S = 0.05
"""Pods of a Service tend to change together; one write then tells of all."""


class EndpointController:
    def __init__(self, client: Client, caches: Caches) -> None:
        self._client, self._caches = client, caches
        self._services = caches.follow(SERVICES, namespace=_namespace)
        self._slices = caches.follow(SLICES, service=_service_of)
        self._endpoints = caches.follow(ENDPOINTS)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._services.on_change(self._service_changed)
        self._slices.on_change(self._slice_changed)
        self._endpoints.on_change(self._endpoints_changed)
        caches.pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._services, self._slices, self._endpoints, self._caches.pods)
        await self._queue.run(self._look, workers=2)

    def _service_changed(self, old: Service | None, new: Service | None) -> None:
        service = new or old
        assert service is not None
        self._queue.add(service.metadata.key)

    def _slice_changed(self, old: Object | None, new: Object | None) -> None:
        for key in _service_of(new or old or {}):
            namespace, _, name = key.partition("/")
            self._queue.add((namespace, name))

    def _endpoints_changed(self, old: Object | None, new: Object | None) -> None:
        metadata = (new or old or {})["metadata"]
        self._queue.add((metadata["namespace"], metadata["name"]))

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is not None and _shows_the_same(old, new):
            return
        for pod in (old, new):
            for service in self._services.by("namespace", pod.metadata.namespace) if pod else ():
                if pod is not None and service.managed and selects(service.spec.selector, pod.metadata.labels):
                    self._queue.add_after(service.metadata.key, _BATCH_S)

    async def _look(self, key: Key) -> None:
        namespace, name = key
        service = self._services.get(name, namespace)
        if service is None:
            await self._forget(key)
            return
        if not service.managed or service.metadata.deletion_timestamp is not None:
            return
        everyone = self._caches.pods.by("namespace", namespace)
        pods = [pod for pod in everyone if selects(service.spec.selector, pod.metadata.labels)]
        await self._keep(ENDPOINTS, self._endpoints.get(name, namespace), endpoints_for(service, pods), ("subsets",))
        wanted = {each["metadata"]["name"]: each for each in slices_for(service, pods)}
        for each in self._slices.by("service", f"{namespace}/{name}"):
            if each["metadata"]["name"] not in wanted:
                await self._tolerant(self._client.delete, SLICES, each["metadata"]["name"], namespace)
        for slice_name, body in wanted.items():
            await self._keep(SLICES, self._slices.get(slice_name, namespace), body, ("endpoints", "ports"))

    async def _forget(self, key: Key) -> None:
        """Slices go with their owner; Endpoints have none but a name."""
        namespace, name = key
        there = self._endpoints.get(name, namespace)
        if there is not None and "endpoints.kubernetes.io/managed-by" in (there["metadata"].get("labels") or {}):
            await self._tolerant(self._client.delete, ENDPOINTS, name, namespace)

    async def _keep(self, resource: Resource[Object], there: Object | None, body: Object, parts: Iterable[str]) -> None:
        """Creates what is missing, corrects what differs, leaves alone what is right."""
        metadata = body["metadata"]
        if there is None:
            await self._tolerant(self._client.create, resource, body)
            return
        labels = there["metadata"].get("labels") or {}
        differs = any((there.get(part) or []) != body[part] for part in parts)
        if differs or labels != metadata["labels"]:
            gone: dict[str, Any] = dict.fromkeys(labels.keys() - metadata["labels"].keys())
            patch = {part: body[part] for part in parts} | {"metadata": {"labels": metadata["labels"] | gone}}
            await self._tolerant(self._client.patch, resource, metadata["name"], patch, metadata["namespace"])

    async def _tolerant(self, write: Callable[..., Any], *words: Any) -> None:
        """A cache that is behind writes what is there already, or to what is gone: the next event tells."""
        try:
            await write(*words)
        except StatusError as error:
            if error.code not in {404, 409} and not is_namespace_ending(error):
                raise


def _namespace(service: Service) -> list[str]:
    return [service.metadata.namespace]


def _service_of(each: Object) -> list[str]:
    metadata = each.get("metadata") or {}
    labels = metadata.get("labels") or {}
    if labels.get(MANAGED_BY) != MANAGER or SERVICE_NAME not in labels:
        return []
    return [f"{metadata['namespace']}/{labels[SERVICE_NAME]}"]


def _shows_the_same(old: Pod, new: Pod) -> bool:
    """Whether nothing changed that any Service would show."""

    def shown(pod: Pod) -> tuple[object, ...]:
        place = (pod.spec.node_name, pod.status.pod_ips, pod.metadata.labels)
        return (*place, pod.ready, pod.finished, pod.terminating, pod.spec.hostname, pod.spec.subdomain)

    return shown(old) == shown(new)
