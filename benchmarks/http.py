"""The cheapest HTTP client that still does TLS: one connection, prebuilt requests, a C parser."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httptools


class Connection(asyncio.Protocol):
    """One request at a time; `send` returns the status and the length of the body.

    `on_body`, when given, gets every piece of every body: that is how watches are read.
    """

    def __init__(self, on_body: Callable[[bytes], None] | None = None) -> None:
        self.body = bytearray()
        self.size = 0
        self.keep = False
        self._on_body = on_body
        self._parser = httptools.HttpResponseParser(self)
        self._transport: Any = None
        self._done: asyncio.Future[int] | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(exc or ConnectionResetError("closed by the server"))

    # What the parser calls.
    def on_body(self, data: bytes) -> None:
        self.size += len(data)
        if self._on_body is not None:
            self._on_body(data)
        if self.keep:
            self.body += data

    def on_message_complete(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(self._parser.get_status_code())

    async def send(self, request: bytes) -> int:
        if self._transport.is_closing():  # What is written then goes nowhere, and nobody would ever say so.
            raise ConnectionResetError("closed by the server")
        self.size = 0
        self.body.clear()
        # A parser is spent after one message when the server says the connection closes; a fresh one never is.
        self._parser = httptools.HttpResponseParser(self)
        self._done = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._done

    def close(self) -> None:
        self._transport.close()


async def connect(url: str, ca_file: str, on_body: Callable[[bytes], None] | None = None) -> Connection:
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or 443
    context = ssl.create_default_context(cafile=ca_file)
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(lambda: Connection(on_body), host, port, ssl=context)
    return connection


def request(method: str, path: str, token: str, body: bytes = b"", content_type: str = "application/json") -> bytes:
    """One request, as it goes over the wire."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\nAccept: application/json\r\n"
        f"User-Agent: bench\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
