"""What a door must see to judge: queues, priorities, and namespaces with their labels. Every replica sees so much."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.namespaces import Managed
from tidegate.controller.watch.cache import BY_NAMESPACE, by_namespace
from tidegate.kube.client import Client
from tidegate.kube.informer import Informer
from tidegate.kube.resources import NAMESPACES, PRIORITYCLASSES
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds, builtin


class Followed(Protocol):
    """What is followed: by the operator's own cache, or by a replica that does not lead."""

    kinds: Kinds
    queues: Informer[Object]
    cluster_queues: Informer[Object]
    priority_classes: Informer[Object]


@dataclass(frozen=True, slots=True)
class Seen:
    """What a door judges by."""

    kinds: Kinds
    queue: Callable[[str, str], Object | None]
    """By name and namespace."""
    cluster_queue: Callable[[str], Object | None]
    priority_class: Callable[[str], Object | None]

    @classmethod
    def of(cls, followed: Followed) -> Seen:
        return cls(followed.kinds, followed.queues.get, followed.cluster_queues.get, followed.priority_classes.get)


class Sight:
    """Started by `run`; complete once `synced` has returned."""

    def __init__(self, client: Client, *, kinds: Kinds | None = None, everywhere: bool = False) -> None:
        self.kinds = kinds or builtin()
        self.queues: Informer[Object] = Informer(client, QUEUES, indexes={BY_NAMESPACE: by_namespace})
        self.cluster_queues: Informer[Object] = Informer(client, CLUSTER_QUEUES)
        self.priority_classes: Informer[Object] = Informer(client, PRIORITYCLASSES)
        self.namespaces: Informer[Object] = Informer(client, NAMESPACES)
        self.managed = Managed(self._labels, self._queue_names, everywhere=everywhere)

    @property
    def is_synced(self) -> bool:
        return all(each.is_synced for each in self._all())

    async def synced(self) -> None:
        for each in self._all():
            await each.synced()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for each in self._all():
                group.create_task(each.run())

    def _all(self) -> tuple[Informer[Any], ...]:
        return self.queues, self.cluster_queues, self.priority_classes, self.namespaces

    def _labels(self, namespace: str) -> dict[str, str]:
        found = self.namespaces.get(namespace)
        return dict((found or {}).get("metadata", {}).get("labels") or {})

    def _queue_names(self, namespace: str) -> set[str]:
        return {str(queue["metadata"]["name"]) for queue in self.queues.by(BY_NAMESPACE, namespace)}
