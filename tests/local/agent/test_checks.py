"""What a look at a container finds, without a container: the other side is a server of this test."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from tidegate.local.agent.work.checks import Target, look
from tidegate.local.agent.work.processes import Runner

HOME = "127.0.0.1"
SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"
DATA, HEADERS, SETTINGS = 0, 1, 4


def target(runner: Runner | None = None) -> Target:
    return Target(runner, {"name": "main", "ports": [{"name": "health", "containerPort": 0}]}, HOME)  # type: ignore[arg-type]


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


async def request(reader: asyncio.StreamReader) -> bytes:
    """The message of one gRPC call, as HTTP/2 carries it."""
    await reader.readexactly(len(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    while True:
        head = await reader.readexactly(9)
        payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
        if head[3] == DATA:
            return payload[5:]


@asynccontextmanager
async def health_service(answer: Callable[[bytes], bytes | None]) -> AsyncIterator[int]:
    """A gRPC health service: `answer` makes its message of the name that was asked for; None refuses the call."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await request(reader)
        message = answer(asked[2:])
        writer.write(frame(SETTINGS, 0, 0, b"") + frame(SETTINGS, 1, 0, b""))
        if message is None:
            writer.write(frame(HEADERS, 5, 1, b"\x88"))  # :status 200, the end of the stream
        else:
            writer.write(frame(HEADERS, 4, 1, b"\x88"))
            writer.write(frame(DATA, 0, 1, b"\0" + struct.pack(">I", len(message)) + message))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(connected, HOME, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("service", ["", "queue"])
async def test_a_grpc_service_that_serves_is_well(service: str) -> None:
    heard = []

    def answer(name: bytes) -> bytes:
        heard.append(name.decode())
        return SERVING

    async with health_service(answer) as port:
        assert await look({"grpc": {"port": port, "service": service}}, target(), 5) == ""
    assert heard == [service]


async def test_a_grpc_service_that_does_not_serve_is_not_well() -> None:
    async with health_service(lambda _: NOT_SERVING) as port:
        assert "SERVING" in await look({"grpc": {"port": port}}, target(), 5)


async def test_a_grpc_server_without_that_service_is_not_well() -> None:
    async with health_service(lambda _: None) as port:
        assert "did not answer" in await look({"grpc": {"port": port}}, target(), 5)


async def test_nobody_there_is_not_well() -> None:
    async with health_service(lambda _: SERVING) as port:
        pass
    for action in ({"grpc": {"port": port}}, {"tcpSocket": {"port": port}}, {"httpGet": {"port": port}}):
        assert await look(action, target(), 5) != ""
