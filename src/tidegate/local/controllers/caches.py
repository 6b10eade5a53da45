"""The caches all controllers share: one informer per kind, started when somebody asks for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from tidegate.kube.client import Client
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Resource
from tidegate.local.controllers.job.objects import JOBS, Job
from tidegate.local.controllers.nodes.objects import NODES, Node
from tidegate.local.controllers.objects import Meta
from tidegate.local.controllers.pod_writes import PODS
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.replicas.objects import REPLICA_SETS, REPLICATION_CONTROLLERS, ReplicaSet

T = TypeVar("T")

Index = Callable[[T], Iterable[str]]
Key = tuple[str, str]
"""Namespace and name."""


class Caches:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._informers: list[Informer[Any]] = []
        self._running = False

    @cached_property
    def pods(self) -> Informer[Pod]:
        return self.follow(PODS, controller=_controller, orphans=_orphans, namespace=_namespace, node=_node)

    @cached_property
    def jobs(self) -> Informer[Job]:
        return self.follow(JOBS, controller=_controller, namespace=_namespace)

    @cached_property
    def replica_sets(self) -> Informer[ReplicaSet]:
        return self.follow(REPLICA_SETS, controller=_controller, orphans=_orphans, namespace=_namespace)

    @cached_property
    def replication_controllers(self) -> Informer[ReplicaSet]:
        return self.follow(REPLICATION_CONTROLLERS, controller=_controller, namespace=_namespace)

    @cached_property
    def nodes(self) -> Informer[Node]:
        return self.follow(NODES)

    def follow(
        self, resource: Resource[T], *, within: str | None = None, fields: str = "", **indexes: Index[T]
    ) -> Informer[T]:
        """An informer that runs with the others, of one namespace if `within` names it."""
        assert not self._running, "caches are chosen before they run: a later one would never fill"
        informer = Informer(self._client, resource, within, fields=fields, indexes=dict(indexes))
        self._informers.append(informer)
        return informer

    async def run(self) -> None:
        self._running = True
        async with asyncio.TaskGroup() as group:
            for informer in self._informers:
                group.create_task(informer.run())


async def synced(*informers: Informer[Any]) -> None:
    """Returns when each of them shows a whole list: to decide earlier would be to take what is unseen for absent."""
    for informer in informers:
        await informer.synced()


def _meta(each: Any) -> Meta:
    metadata: Meta = each.metadata
    return metadata


def _controller(each: Any) -> list[str]:
    owner = _meta(each).controller
    return [owner.uid] if owner else []


def _orphans(each: Any) -> list[str]:
    return [] if _meta(each).controller else [_meta(each).namespace]


def _namespace(each: Any) -> list[str]:
    return [_meta(each).namespace]


def _node(each: Pod) -> list[str]:
    return [each.spec.node_name]
