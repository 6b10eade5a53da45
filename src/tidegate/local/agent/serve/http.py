"""A lean HTTP/1.1 server for a handful of routes: requests without bodies, whole or chunked answers, WebSockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

_HEAD_MOST = 65536
_IDLE_S = 120.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: decoded path parts, query (a name may come several times), and its head as it came."""

    method: str
    parts: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    headers: dict[str, str]
    head: bytes

    @property
    def query(self) -> dict[str, str]:
        return dict(self.pairs)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.pairs if key == name]


class Answer:
    """Writes one answer on a connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.taken_over = False

    async def whole(self, status: int, text: str, content_type: str = "text/plain; charset=utf-8") -> None:
        body = text.encode()
        head = f"HTTP/1.1 {status} {_PHRASES.get(status, 'Error')}\r\nContent-Type: {content_type}\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await self.writer.drain()

    async def begin(self) -> None:
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.writer.write(head.encode())
        await self.writer.drain()

    async def piece(self, piece: bytes) -> None:
        self.writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        await self.writer.drain()

    async def end(self) -> None:
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()


_PHRASES = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 500: "Internal Server Error"}

# Cancelled is among them: it comes when the agent ends, and nobody waits for a connection's task.
_OVER = (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError)

Handler = Callable[[Asked, Answer], Awaitable[None]]


def tls(certificate: Path, key: Path, client_ca: Path) -> ssl.SSLContext:
    """Both sides show certificates: logs and exec are not for everyone on the machine."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(client_ca)
    context.verify_mode = ssl.CERT_REQUIRED
    return context


async def listen(handler: Handler, ear: socket.socket, context: ssl.SSLContext) -> asyncio.Server:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(*_OVER):
                while await _one(handler, reader, writer):
                    pass
        finally:
            writer.close()

    return await asyncio.start_server(connected, sock=ear, ssl=context, limit=_HEAD_MOST)


async def _one(handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Serves one request; false when the connection is to be closed."""
    async with asyncio.timeout(_IDLE_S):
        head = await reader.readuntil(b"\r\n\r\n")
    answer = Answer(reader, writer)
    try:
        asked = parse(head)
    except ValueError:
        await answer.whole(400, "the request cannot be read\n")
        return False
    body = int(asked.headers.get("content-length") or 0)
    if body:
        await reader.readexactly(min(body, _HEAD_MOST))
    await handler(asked, answer)
    return not answer.taken_over and asked.headers.get("connection", "").lower() != "close"


def parse(head: bytes) -> Asked:
    """A request's head; ValueError if it is not one."""
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    url = urlsplit(target)
    headers: dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    parts = tuple(unquote(part) for part in url.path.split("/") if part)
    return Asked(method, parts, tuple(parse_qsl(url.query, keep_blank_values=True)), headers, head)
