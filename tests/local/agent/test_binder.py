"""The loop that binds: a server that is away or says no for a moment does not end it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.harness.cluster import PATIENCE_S
from tidegate.kube.client import Client
from tidegate.kube.wire import Request, Response
from tidegate.local.agent.binder import Binder

NODE = {"metadata": {"name": "n"}, "spec": {}, "status": {"allocatable": {"cpu": "1", "pods": "10"}}}


def pod(name: str, cpu: str) -> dict[str, Any]:
    containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
    meta = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": containers}, "status": {}}


class Moody:
    """Has one pod that fits and one that is too large; fails the first write of each, then takes them."""

    def __init__(self, mood: int | OSError) -> None:
        self.mood = mood
        self.tried: set[str] = set()
        self.taken: set[str] = set()
        self.all_taken = asyncio.Event()

    async def send(self, request: Request) -> Response:
        if request.method == "GET":
            return Response(200, self._events(), {})
        if request.path not in self.tried:
            self.tried.add(request.path)
            if isinstance(self.mood, OSError):
                raise self.mood
            return Response(self.mood, json.dumps({"kind": "Status", "code": self.mood, "message": "no"}).encode(), {})
        self.taken.add(request.path.removeprefix("/api/v1/namespaces/ns/pods/"))
        if len(self.taken) == 2:
            self.all_taken.set()
        return Response(200, json.dumps(pod("any", "1")).encode(), {})

    async def _events(self) -> AsyncIterator[bytes]:
        for each in (pod("large", "5"), pod("small", "1")):
            yield json.dumps({"type": "ADDED", "object": each}).encode() + b"\n"
        end = {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}
        yield json.dumps({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": end}}).encode() + b"\n"
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    "mood", [500, 429, 403, ConnectionResetError("away"), TimeoutError("busy")], ids=lambda mood: str(mood)
)
async def test_a_write_that_fails_is_tried_again_and_ends_nothing(mood: int | OSError) -> None:
    """The loop ended, and with it the agent and the node: one answer of a busy server was enough."""
    server = Moody(mood)
    binder = Binder(Client(server), node=lambda: NODE, present=lambda: (), clock=lambda: 0.0)
    running = asyncio.create_task(binder.run())
    binder.room_made()
    heard = asyncio.create_task(server.all_taken.wait())
    await asyncio.wait({running, heard}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
    assert not running.done(), running.exception()
    assert server.taken == {"large/status", "small/binding"}
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
