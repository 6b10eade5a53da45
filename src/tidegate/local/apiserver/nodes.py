"""The way to a node's agent: logs are streamed from it, exec and attach are tunnelled to it byte by byte.

The agent is reached as a kubelet is: at the address and port its Node object tells, over TLS, with a client certificate
of ours. A tunnel forwards the client's own upgrade request, so whatever the two speak is none of our business.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from urllib.parse import quote, urlencode

import httptools

from tidegate.kube.wire import Object, Request, Response
from tidegate.local.apiserver.front import Duplex, Upgrade
from tidegate.local.errors import ApiError, internal, unavailable

_CONNECT_S = 5.0
_HOP_BY_HOP = {"host", "authorization", "content-length"}


class Nodes:
    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls

    async def stream(self, node: Object, path: str, query: dict[str, str]) -> Response:
        """GET from the agent: its answer, streamed on."""
        reader, writer = await self._open(node)
        writer.write(_head("GET", path, query, {"connection": "close"}))
        answer = _Answer()
        parser = httptools.HttpResponseParser(answer)
        while not answer.begun and (data := await reader.read(1 << 16)):
            parser.feed_data(data)
        headers = {"content-type": answer.headers.get("content-type", "text/plain")}
        return Response(
            parser.get_status_code() if answer.begun else 502, _pieces(reader, writer, parser, answer), headers
        )

    async def tunnel(self, node: Object, path: str, query: dict[str, str], request: Request) -> Response:
        """Hands an upgrade to the agent; from then on bytes go both ways untouched."""
        if "upgrade" not in request.headers.get("connection", "").lower():
            raise ApiError(400, "BadRequest", "Upgrade request required", {})
        reader, writer = await self._open(node)
        passed = {name: value for name, value in request.headers.items() if name not in _HOP_BY_HOP}
        writer.write(_head(request.method, path, query, passed))

        async def talk(duplex: Duplex) -> None:
            both = [asyncio.create_task(_to_client(reader, duplex)), asyncio.create_task(_to_agent(duplex, writer))]
            try:
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in both:
                    task.cancel()
                writer.close()

        return Upgrade(0, b"", {}, talk)

    async def _open(self, node: Object) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        status = node.get("status", {})
        port = status.get("daemonEndpoints", {}).get("kubeletEndpoint", {}).get("Port")
        name = node["metadata"]["name"]
        if not port:
            raise unavailable(f"node {name} does not say where its agent listens")
        known = {address["type"]: address["address"] for address in status.get("addresses") or []}
        host = known.get("InternalIP") or known.get("Hostname") or name
        try:
            return await asyncio.wait_for(asyncio.open_connection(host, port, ssl=self._tls), _CONNECT_S)
        except (OSError, TimeoutError) as error:
            raise internal(f"the agent of node {name} does not answer at {host}:{port}: {error}") from None


class _Answer:
    """What httptools tells of a response."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.begun = False
        self.ended = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.begun = True

    def on_body(self, body: bytes) -> None:
        self.pieces.append(body)

    def on_message_complete(self) -> None:
        self.ended = True


async def _pieces(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, parser: httptools.HttpResponseParser, answer: _Answer
) -> AsyncIterator[bytes]:
    try:
        while True:
            if answer.pieces:
                yield b"".join(answer.pieces)
                answer.pieces.clear()
            if answer.ended or not (data := await reader.read(1 << 16)):
                return
            parser.feed_data(data)
    finally:
        writer.close()


async def _to_client(reader: asyncio.StreamReader, duplex: Duplex) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            await duplex.write(data)


async def _to_agent(duplex: Duplex, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await duplex.read():
            writer.write(data)
            await writer.drain()


def _head(method: str, path: str, query: dict[str, str], headers: dict[str, str]) -> bytes:
    pairs = [(key, part) for key, value in query.items() for part in value.split("\0")]
    target = quote(path) + (f"?{urlencode(pairs)}" if pairs else "")
    lines = [f"{method} {target} HTTP/1.1", "host: agent", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1")
