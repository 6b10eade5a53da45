"""An informer at work against a FaultServer, and a witness that checks every call its handlers get."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.harness.cluster import PATIENCE_S
from tests.kube.faultserver import FaultServer, running
from tidegate.kube.backoff import Backoff
from tidegate.kube.client import Client
from tidegate.kube.informer import Informer
from tidegate.kube.resources import CONFIGMAPS
from tidegate.kube.wire import Object

Key = tuple[str, str]


class Witness:
    """Replays what a handler is told; fails on anything that does not follow from what it was told before."""

    def __init__(self) -> None:
        self.held: dict[Key, Object] = {}
        self.told: list[tuple[str, str, str]] = []
        """(appeared | changed | gone, name, uid), in order."""
        self.faults: list[str] = []
        self.news = asyncio.Event()

    def __call__(self, old: Object | None, new: Object | None) -> None:
        meta = (new or old or {})["metadata"]
        key = (meta["namespace"], meta["name"])
        if self.held.get(key) is not old:
            self.faults.append(f"{key}: the old object is not the one told before")
        if old and new and old["metadata"]["uid"] != new["metadata"]["uid"]:
            self.faults.append(f"{key}: another object without the first one gone")
        if new is None:
            self.held.pop(key, None)
        else:
            self.held[key] = new
        self.told.append(("gone" if new is None else "appeared" if old is None else "changed", key[1], meta["uid"]))
        self.news.set()

    async def until(self, holds: Callable[[], bool], *, within_s: float = PATIENCE_S) -> None:
        """Waits for `holds`, looking again after each piece of news."""
        async with asyncio.timeout(within_s):
            while not holds():
                self.news.clear()
                await self.news.wait()


def quick() -> Backoff:
    return Backoff(base_s=0.005, most_s=0.05)


@asynccontextmanager
async def following(server: FaultServer, **options: Any) -> AsyncIterator[tuple[Informer[Object], Witness]]:
    """A running informer, not necessarily synced yet."""
    async with running(server) as transport:
        informer = Informer(Client(transport), CONFIGMAPS, **{"backoff": quick(), **options})
        witness = Witness()
        informer.on_change(witness)
        task = asyncio.create_task(informer.run())
        try:
            yield informer, witness
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert not witness.faults


def same(server: FaultServer, witness: Witness) -> Callable[[], bool]:
    """Whether the witness holds exactly what the server holds."""
    return lambda: witness.held == server.objects
