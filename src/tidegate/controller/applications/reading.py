"""Reading a pod again that is another than we thought."""

from __future__ import annotations

from tidegate.controller.watch.cache import Cache
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object


async def read_again(client: Client, cache: Cache, pod: Object) -> None:
    """After a conflict: an earlier write of ours may have taken effect without an answer, and its room counts from now
    on, not from when its event comes."""
    meta = pod["metadata"]
    try:
        cache.pods.wrote(await client.get(PODS, meta["name"], meta["namespace"]))
    except StatusError as refused:
        if refused.code != 404:
            raise
