"""Events are a courtesy: gathered, counted, and never in anybody's way."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from tidegate.kube.client import Client
from tidegate.kube.events import EventRecorder
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Request, Response

POD = {"metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "3"}}


@dataclass
class EventServer:
    """Keeps events as an API server does; a test may make it refuse."""

    events: dict[str, dict[str, Any]] = field(default_factory=dict)
    writes: int = 0
    refuse: list[int] = field(default_factory=list)
    written: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        if self.refuse:
            code = self.refuse.pop(0)
            if not code:
                raise ConnectionRefusedError("away")
            return Response(code, b"{}")
        self.writes += 1
        body = msgspec.json.decode(request.body)
        if request.method == "POST":
            self.events[body["metadata"]["name"]] = body
        elif (name := request.path.rpartition("/")[2]) not in self.events:
            return Response(404, b"{}")
        else:
            self.events[name] |= body
        self.written.set()
        return Response(200, json.dumps(body).encode())

    async def close(self) -> None:
        pass

    async def until(self, count: int) -> None:
        """Waits until that many happenings are told, repetitions counted."""
        async with asyncio.timeout(5):
            while sum(event["count"] for event in self.events.values()) < count:
                self.written.clear()
                await self.written.wait()


@asynccontextmanager
async def recording(server: EventServer) -> AsyncIterator[EventRecorder]:
    recorder = EventRecorder(Client(server), "tester", pause_s=0.01)
    recorder._backoff.base_s = 0.01
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_an_event_says_what_happened_to_whom() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        recorder.record(PODS, POD, "Admitted", "It fits now.", type="Warning")
        await server.until(1)
    (event,) = server.events.values()
    assert event["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": "n",
        "name": "p",
        "uid": "u",
        "resourceVersion": "3",
    }
    assert (event["reason"], event["message"], event["type"]) == ("Admitted", "It fits now.", "Warning")
    assert (event["metadata"]["namespace"], event["source"]) == ("n", {"component": "tester"})


async def test_the_same_event_again_is_a_count() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        for _ in range(100):
            recorder.record(PODS, POD, "Waits", "No room.")
        await server.until(100)
        recorder.record(PODS, POD, "Waits", "No room.")
        await server.until(101)
    assert len(server.events) == 1
    assert server.writes == 2


async def test_many_alike_become_one_that_says_so() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        for n in range(50):
            recorder.record(PODS, POD, "Waits", f"{n} are ahead.")
        await server.until(50)
    assert len(server.events) == 11
    (combined,) = [event for event in server.events.values() if "combined" in event["message"]]
    assert (combined["count"], combined["message"]) == (40, "(combined from similar events): 49 are ahead.")


@pytest.mark.parametrize("fault", [429, 500, 0])
async def test_a_server_that_is_unwell_gets_it_later(fault: int) -> None:
    server = EventServer(refuse=[fault, fault])
    async with recording(server) as recorder:
        recorder.record(PODS, POD, "Waits", "No room.")
        await server.until(1)


async def test_a_refused_event_is_dropped_and_the_next_is_not() -> None:
    server = EventServer(refuse=[403])
    async with recording(server) as recorder:
        recorder.record(PODS, POD, "First", "Refused.")
        recorder.record(PODS, POD, "Second", "Taken.")
        await server.until(1)
    assert [event["reason"] for event in server.events.values()] == ["Second"]


async def test_an_event_the_server_has_forgotten_is_written_anew() -> None:
    server = EventServer()
    async with recording(server) as recorder:
        recorder.record(PODS, POD, "Waits", "No room.")
        await server.until(1)
        server.events.clear()
        recorder.record(PODS, POD, "Waits", "No room.")
        await server.until(2)
    assert len(server.events) == 1


async def test_recording_never_fails_and_never_grows_without_bound() -> None:
    recorder = EventRecorder(Client(EventServer(refuse=[0])), "tester")
    recorder.record(PODS, object(), "Nonsense", "This is no object.")
    for n in range(20_000):
        recorder.record(PODS, {"metadata": {"name": f"p{n}"}}, "Waits", "No room.")
    assert len(recorder._waiting) <= 1000
    assert len(recorder._known) <= 4096
    await recorder.flush()
    assert not recorder._waiting
