"""What must be there before anything can be queued: Tidegate's kinds, and the root of the tree."""

from __future__ import annotations

import asyncio
import hashlib
from importlib.resources import files

from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import CRDS, NAMESPACES
from tidegate.kube.wire import Object, Resource
from tidegate.model.kinds import GROUP, SERVED, VERSION
from tidegate.model.kinds.queue import ROOT

MADE_FROM = "tidegate.dev/made-from"
"""Annotation of our definitions: which version of the types they were generated from."""
INSIDE = "tidegate.dev/operator-inside"
"""Annotation of the system's namespace: the control plane itself is the operator, and no other has a place there."""
_TRIES, _PAUSE_S = 200, 0.05


async def install_kinds(client: Client) -> None:
    """Tidegate's CustomResourceDefinitions, made or brought up to date; returns when the server serves them."""
    made_from = _fingerprint()
    there = [each for each in (await client.list(CRDS)).items if each["spec"]["group"] == GROUP]
    if len(there) >= len(SERVED) and all(_made_from(each) == made_from for each in there):
        return  # To make them only to see that they are the same would take longer than all the rest of a start.
    for definition in wanted_definitions():
        await client.apply(CRDS, definition, field_manager="tidegate", force=True)
    for kind in SERVED:
        await _served(client, kind.definition.plural)


def wanted_definitions() -> list[Object]:
    """Tidegate's CustomResourceDefinitions, each with what it was generated from."""
    from tidegate.model.schema.definition import definitions

    made, made_from = list(definitions()), _fingerprint()
    for definition in made:
        definition["metadata"]["annotations"] = {MADE_FROM: made_from}
    return made


def _made_from(definition: Object) -> str | None:
    found = (definition["metadata"].get("annotations") or {}).get(MADE_FROM)
    return str(found) if found else None


def _fingerprint() -> str:
    """Of the types that the definitions are generated from, and of what generates them."""
    digest = hashlib.sha256()
    for room in ("kinds", "schema"):
        for file in sorted(files("tidegate.model").joinpath(room).iterdir(), key=lambda each: each.name):
            if file.name.endswith(".py"):
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


async def _served(client: Client, plural: str) -> None:
    """Returns when objects of a kind can be asked for: a server says that it knows a kind before it has set it up."""
    resource: Resource[Object] = Resource(GROUP, VERSION, plural, "")
    for _ in range(_TRIES):
        try:
            await client.list(resource, limit=1)
        except StatusError as not_yet:
            if not_yet.code not in (404, 429, 503):
                raise
            await asyncio.sleep(_PAUSE_S)
        else:
            return
    name = f"{plural}.{GROUP}"
    raise TimeoutError(f"The server does not serve {name} yet. Look at the conditions of that definition.")


async def make_root(client: Client) -> None:
    """The ClusterQueue that Queues belong to when they name none. It is sized from the nodes."""
    await _make(client, CLUSTER_QUEUES, {"metadata": {"name": ROOT}, "spec": {}})


async def make_default_queue(client: Client, namespace: str = "default") -> None:
    """A door in the namespace everybody starts in."""
    await _make(client, QUEUES, {"metadata": {"name": "default", "namespace": namespace}, "spec": {}})


async def mark_inside(client: Client) -> None:
    """For whoever would put another operator there."""
    await client.patch(NAMESPACES, "kube-system", {"metadata": {"annotations": {INSIDE: "true"}}})


async def is_inside(client: Client) -> bool:
    """Whether the control plane itself is the operator."""
    system = await client.get(NAMESPACES, "kube-system")
    return INSIDE in (system["metadata"].get("annotations") or {})


async def _make(client: Client, resource: Resource[Object], body: Object) -> None:
    try:
        await client.create(resource, body)
    except StatusError as refused:
        if refused.code != 409:
            raise
