"""What must be there before anything can be queued: Tidegate's kinds, and the root of the tree."""

from __future__ import annotations

import asyncio

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import CRDS
from tidegate.kube.wire import Object, Resource
from tidegate.model.kinds.queue import ROOT

_TRIES, _PAUSE_S = 200, 0.05


async def install_kinds(client: Client) -> None:
    """Tidegate's CustomResourceDefinitions, made or brought up to date; returns when the server serves them."""
    from tidegate.model.schema.definition import definitions

    wanted = definitions()
    for definition in wanted:
        await client.apply(CRDS, definition, field_manager="tidegate", force=True)
    for definition in wanted:
        await _served(client, str(definition["metadata"]["name"]))


async def _served(client: Client, name: str) -> None:
    for _ in range(_TRIES):
        conditions = ((await client.get(CRDS, name)).get("status") or {}).get("conditions") or ()
        if any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return
        await asyncio.sleep(_PAUSE_S)
    raise TimeoutError(f"The server does not serve {name} yet. Look at the conditions of that definition.")


async def make_root(client: Client) -> None:
    """The ClusterQueue that Queues belong to when they name none. It is sized from the nodes."""
    await _make(client, CLUSTER_QUEUES, {"metadata": {"name": ROOT}, "spec": {}})


async def make_default_queue(client: Client, namespace: str = "default") -> None:
    """A door in the namespace everybody starts in."""
    await _make(client, QUEUES, {"metadata": {"name": "default", "namespace": namespace}, "spec": {}})


async def _make(client: Client, resource: Resource[Object], body: Object) -> None:
    try:
        await client.create(resource, body)
    except StatusError as refused:
        if refused.code != 409:
            raise
