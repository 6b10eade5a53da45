"""Port-forward: connections of somebody far away, carried in one WebSocket, to ports of a pod."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

from tidegate.local.agent.serve.channels import Tunnel
from tidegate.local.agent.serve.spdy import Event, Gone, Opened, Received, Session, SpdyError

SUBPROTOCOL = "SPDY/3.1+portforward.k8s.io"
_PIECE = 32768


@dataclass(slots=True)
class _Connection:
    """One connection of the client: a stream for its bytes and one for what went wrong."""

    port: int = 0
    data: int = 0
    error: int = 0
    writer: asyncio.StreamWriter | None = None
    early: list[Received] = field(default_factory=list)
    """What came before there was somebody to give it to."""
    task: asyncio.Task[None] | None = None


class Forwarding:
    """All connections of one port-forward to a pod."""

    def __init__(self, tunnel: Tunnel, address: str) -> None:
        self._tunnel = tunnel
        self._address = address
        self._session = Session()
        self._connections: dict[str, _Connection] = {}
        self._by_stream: dict[int, _Connection] = {}

    async def run(self) -> None:
        """Carries bytes until the client leaves."""
        try:
            with contextlib.suppress(SpdyError):
                while (data := await self._tunnel.read()) is not None:
                    for event in self._session.receive(data):
                        self._handle(event)
                    await self._flush()
        finally:
            tasks = [one.task for one in self._connections.values() if one.task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _flush(self) -> None:
        if data := self._session.taken():
            await self._tunnel.write(data)

    def _handle(self, event: Event) -> None:
        match event:
            case Opened():
                self._open(event)
            case Received():
                connection = self._by_stream.get(event.stream)
                if connection is not None and event.stream == connection.data:
                    self._pass_on(connection, event)
            case Gone():
                for connection in list(self._by_stream.values()):
                    if event.stream in (0, connection.data) and connection.task is not None:
                        connection.task.cancel()

    def _open(self, opened: Opened) -> None:
        headers = opened.headers
        connection = self._connections.setdefault(headers.get("requestid", ""), _Connection())
        connection.port = int(headers.get("port") or 0)
        sort = "error" if headers.get("streamtype") == "error" else "data"
        setattr(connection, sort, opened.stream)
        self._by_stream[opened.stream] = connection
        self._session.accept(opened.stream)
        if connection.data and connection.error:
            connection.task = asyncio.create_task(self._carry(connection))

    def _pass_on(self, connection: _Connection, received: Received) -> None:
        if connection.writer is None:
            connection.early.append(received)
            return
        if received.payload:
            connection.writer.write(received.payload)
        if received.last and connection.writer.can_write_eof():
            connection.writer.write_eof()

    async def _carry(self, connection: _Connection) -> None:
        problem = ""
        try:
            reader, connection.writer = await asyncio.open_connection(self._address, connection.port)
            for received in connection.early:
                self._pass_on(connection, received)
            while piece := await reader.read(_PIECE):
                self._session.send(connection.data, piece)
                await self._flush()
        except OSError as error:
            problem = f"error forwarding port {connection.port} to the pod: {error}"
        finally:
            if connection.writer is not None:
                connection.writer.close()
        self._session.send(connection.error, problem.encode(), last=True)
        self._session.send(connection.data, b"", last=True)
        await self._flush()
