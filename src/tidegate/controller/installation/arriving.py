"""Putting Tidegate on a cluster. Doing it again changes nothing that is as it should be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from tidegate.controller.bootstrap import install_kinds
from tidegate.controller.installation.deployment import NAME, Choice
from tidegate.controller.installation.objects import RESOURCES, around, root
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import DEPLOYMENTS
from tidegate.kube.wire import Object
from tidegate.model.jobs import Kinds

Say = Callable[[str], None]
_MANAGER = "tidegate-install"


async def install(client: Client, kinds: Kinds, choice: Choice, say: Say) -> None:
    """Definitions, rights, Deployment, root; each told of as it is there."""
    await install_kinds(client)
    say("kinds of tidegate.dev/v1alpha1: served")
    for obj in [*around(kinds, choice), root()]:
        say(f"{_called(obj)}: {await _put(client, obj)}")


async def _put(client: Client, obj: Object) -> str:
    resource, meta = RESOURCES[str(obj["kind"])], obj["metadata"]
    try:
        before: Object | None = await client.get(resource, meta["name"], meta.get("namespace"))
    except StatusError as absent:
        if absent.code != 404:
            raise
        before = None
    after = await client.apply(resource, obj, field_manager=_MANAGER, force=True)
    if before is None:
        return "created"
    same = before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]
    return "unchanged" if same else "changed"


def _called(obj: Object) -> str:
    meta = obj["metadata"]
    return f"{obj['kind']} {meta['namespace'] + '/' if meta.get('namespace') else ''}{meta['name']}"


async def available(client: Client, choice: Choice, within_s: float) -> bool:
    """Whether a replica is ready within so long."""
    until = time.monotonic() + within_s
    while True:
        found = await client.get(DEPLOYMENTS, NAME, choice.namespace)
        if ((found.get("status") or {}).get("availableReplicas") or 0) > 0:
            return True
        if time.monotonic() >= until:
            return False
        await asyncio.sleep(0.5)
