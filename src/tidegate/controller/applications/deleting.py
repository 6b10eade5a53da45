"""Deleting pods: the very pod that was meant, and no other that has its name by now."""

from __future__ import annotations

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object


async def delete_pod(client: Client, pod: Object) -> None:
    """Delete it, unless it is gone or another is there instead."""
    meta = pod["metadata"]
    try:
        await client.delete(PODS, meta["name"], meta["namespace"], uid=meta["uid"])
    except StatusError as refused:
        if refused.code not in (404, 409):
            raise
