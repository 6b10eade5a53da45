"""The queue tree of the cluster that is meant."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidegate.cli.errors import CommandError
from tidegate.cli.queued.cluster import on_cluster
from tidegate.cli.render.documents import Json
from tidegate.kube.wire import Object, Resource
from tidegate.model.kinds import GROUP, VERSION, ClusterQueue, Queue, ResourceFlavor

if TYPE_CHECKING:
    from tidegate.kube.client import Client

_WANTED: list[Resource[Object]] = [
    Resource(GROUP, VERSION, kind.definition.plural, kind.__name__, kind.definition.namespaced)
    for kind in (ResourceFlavor, ClusterQueue, Queue)
]


def queues_of_cluster(told: argparse.Namespace) -> list[Json]:
    """All flavors, cluster queues and queues there are."""

    async def work(client: Client, _: str) -> list[Json]:
        return [dict(item) for resource in _WANTED for item in (await client.list(resource)).items]

    try:
        return on_cluster(told, work)
    except CommandError as error:
        raise CommandError(f"{error} Or give the queues as files.") from None
