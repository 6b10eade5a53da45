"""The queue tree of the cluster that kubectl would talk to."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tidegate.cli.errors import CommandError
from tidegate.cli.render.documents import Json
from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.connect import connect
from tidegate.kube.wire import Object, Resource
from tidegate.model.kinds import GROUP, VERSION, ClusterQueue, Queue, ResourceFlavor

_WANTED: list[Resource[Object]] = [
    Resource(GROUP, VERSION, kind.definition.plural, kind.__name__, kind.definition.namespaced)
    for kind in (ResourceFlavor, ClusterQueue, Queue)
]


def queues_of_cluster(kubeconfig: Path | None, context: str | None) -> list[Json]:
    """All flavors, cluster queues and queues there are."""
    try:
        return asyncio.run(_listed(kubeconfig, context))
    except StatusError as error:
        raise CommandError(f"The API server refused: {error.message}. Install Tidegate there, or give files.") from None
    except OSError as error:
        raise CommandError(f"{error} Or give the queues as files.") from None


async def _listed(kubeconfig: Path | None, context: str | None) -> list[Json]:
    client: Client = connect(kubeconfig=kubeconfig, context=context, user_agent="tidegate-render")
    try:
        return [dict(item) for resource in _WANTED for item in (await client.list(resource)).items]
    finally:
        await client.close()
