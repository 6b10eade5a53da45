"""`timeout` in the query of a request: what is not stored by then never is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Request, Response, Transport
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.deadline import duration_s
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.server import SimulatedServer, a_folder


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("4000ms", 4.0), ("1m30s", 90.0), ("1.5s", 1.5), ("-2s", -2.0), ("0", 0.0), ("+3s", 3.0), (".5s", 0.5)],
)
def test_durations_are_read_as_go_writes_them(text: str, seconds: float) -> None:
    assert duration_s(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5 s", "1d", "five", "--1s", "1s2"])
def test_what_is_no_duration_is_none(text: str) -> None:
    assert duration_s(text) is None


class Asking:
    """A Transport that asks for an answer in time."""

    def __init__(self, wire: Transport, timeout: str) -> None:
        self._wire, self._timeout = wire, timeout

    async def send(self, request: Request) -> Response:
        return await self._wire.send(
            Request(request.method, request.path, {"timeout": self._timeout}, request.headers, request.body)
        )

    async def close(self) -> None:
        await self._wire.close()


class Slow:
    """Admission that takes three seconds, as a webhook may."""

    async def mutate(self, asked: Attributes) -> None:
        if asked.served.plural == "configmaps":
            await asyncio.sleep(3)

    async def validate(self, asked: Attributes) -> None:
        """Nothing is refused."""


async def _story(folder: Path, loop: VirtualLoop) -> None:
    server = SimulatedServer(folder, loop, Random(0))
    server.admission.plugins.append(Slow())
    server.start(controllers=False)

    def client(timeout: str) -> Client:
        return Client(Asking(server.transport, timeout))

    def named(name: str) -> dict[str, Any]:
        return {"metadata": {"name": name, "namespace": "default"}}

    with pytest.raises(StatusError) as late:
        await client("2s").create(r.CONFIGMAPS, named("late"))
    assert (late.value.code, late.value.reason) == (504, "Timeout")
    assert loop.time() == pytest.approx(2, abs=0.01)
    await client("4s").create(r.CONFIGMAPS, named("soon"))
    await client("0s").create(r.CONFIGMAPS, named("any"))
    with pytest.raises(StatusError) as unread:
        await client("soon").create(r.CONFIGMAPS, named("unread"))
    assert unread.value.code == 400
    await asyncio.sleep(60)
    there = {obj["metadata"]["name"] for obj in (await server.client.list(r.CONFIGMAPS, "default")).items}
    assert there >= {"soon", "any"}
    assert not there & {"late", "unread"}
    await server.stop()


def test_what_takes_longer_is_refused_and_never_stored() -> None:
    with a_folder() as folder:
        run(lambda loop: _story(folder, loop))
