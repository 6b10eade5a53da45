"""The front: HTTP/1.1 on sockets, turned into Requests and Responses.

One Protocol per connection, parsed by httptools. A connection carries one request at a time; the bytes of a client that
pipelines wait their turn. What is handled is a task, so a client that goes away cancels what was done for it (a watch
above all). Streams are chunked and wait for a slow reader; whoever produces the stream decides how much to keep for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

import httptools

from tidegate.kube.wire import Request, Response

log = logging.getLogger(__name__)

MOST_BODY = 3 * 1024 * 1024
GZIP_FROM = 128 * 1024
"""Bodies from this size on are compressed for clients that accept it: below, it costs more than it saves."""

_REASONS = {status.value: status.phrase for status in HTTPStatus}
_TOO_LARGE = 413


class Duplex:
    """The bytes of an upgraded connection, both ways."""

    def __init__(self, transport: asyncio.Transport, writable: asyncio.Event) -> None:
        self._transport = transport
        self._writable = writable
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()

    def feed(self, data: bytes) -> None:
        self._arrived.put_nowait(data)

    async def read(self) -> bytes:
        """The next bytes; empty when the other side is gone."""
        return await self._arrived.get()

    async def write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)
            await self._writable.wait()

    def close(self) -> None:
        self._transport.close()


@dataclass(slots=True)
class Upgrade(Response):
    """An answer after which the connection no longer speaks HTTP: `talk` has it until it returns."""

    talk: Callable[[Duplex], Awaitable[None]] | None = None


@dataclass(slots=True)
class Peer:
    """Who is at the other end, as far as the connection itself can tell."""

    certificate: bytes | None = None
    """The client's certificate in DER, verified against our CA."""


Handler = Callable[[Request, Peer], Awaitable[Response]]


class Connection(asyncio.Protocol):
    def __init__(self, handler: Handler, connections: set[Connection]) -> None:
        self._handler = handler
        self._connections = connections
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpRequestParser(self)
        self._writable = asyncio.Event()
        self._writable.set()
        self._task: asyncio.Task[None] | None = None
        self._held = b""
        self._duplex: Duplex | None = None
        self._peer = Peer()
        self._reset()

    def _reset(self) -> None:
        self._url = b""
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._complete = False
        self._overrun = False

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]
        self._connections.add(self)
        secured = transport.get_extra_info("ssl_object")
        if secured is not None:
            self._peer = Peer(secured.getpeercert(binary_form=True))

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._writable.set()
        if self._duplex is not None:
            self._duplex.feed(b"")
        elif self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        if self._duplex is not None:
            self._duplex.feed(data)
        elif self._task is not None:
            self._held += data
            if len(self._held) > MOST_BODY:
                self._close()
        else:
            self._feed(data)

    def eof_received(self) -> bool:
        return False

    # Called by the parser.

    def on_message_begin(self) -> None:
        # A second request in the same bytes as the first: nobody pipelines any more, so it may be sent again.
        self._overrun = self._complete

    def on_url(self, url: bytes) -> None:
        if not self._overrun:
            self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._overrun:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        known = self._headers.get(key)
        self._headers[key] = text if known is None else f"{known}, {text}"

    def on_headers_complete(self) -> None:
        if self._headers.get("expect", "").lower() == "100-continue" and self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        self._size += 0 if self._overrun else len(body)
        if self._size <= MOST_BODY and not self._overrun:
            self._body.append(body)

    def on_message_complete(self) -> None:
        self._complete = True

    # Ours.

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._held = data[upgrade.args[0] :]
        except httptools.HttpParserError:
            self._write_head(400, {"connection": "close", "content-length": "0"})
            self._close()
            return
        if self._complete:
            self._task = asyncio.get_running_loop().create_task(self._answer())

    def _request(self) -> Request:
        path, _, query = self._url.decode("latin-1").partition("?")
        pairs = parse_qsl(query, keep_blank_values=True) if query else []
        asked: dict[str, str] = {}
        for key, value in pairs:  # Repeated parameters (exec's command) are kept apart by a character no URL has.
            asked[key] = f"{asked[key]}\0{value}" if key in asked else value
        method = self._parser.get_method().decode()
        return Request(method, unquote(path) if "%" in path else path, asked, self._headers, b"".join(self._body))

    async def _answer(self) -> None:
        try:
            request = self._request()
            if self._size > MOST_BODY:
                request.headers = dict(request.headers) | {"x-too-large": str(self._size)}
            keep = self._parser.should_keep_alive() and not self._overrun
            response = await self._handler(request, self._peer)
            if isinstance(response, Upgrade) and response.talk is not None:
                await self._upgrade(response)
                return
            await self._write(request, response, keep=keep)
        except asyncio.CancelledError:
            self._close()
            raise
        except Exception:
            log.exception("a request could not be answered")
            self._close()
            return
        if not keep:
            self._close()
            return
        self._task = None
        self._reset()
        held, self._held = self._held, b""
        if held:
            self._feed(held)

    async def _upgrade(self, response: Upgrade) -> None:
        assert self._transport is not None
        assert response.talk is not None
        self._duplex = Duplex(self._transport, self._writable)
        if self._held:
            self._duplex.feed(self._held)
        try:
            if response.status == 101:
                self._write_head(101, response.headers)
            await response.talk(self._duplex)
        finally:
            self._close()

    async def _write(self, request: Request, response: Response, *, keep: bool) -> None:
        headers = dict(response.headers)
        if not keep:
            headers["connection"] = "close"
        body = response.body
        if isinstance(body, bytes):
            if len(body) >= GZIP_FROM and "gzip" in request.headers.get("accept-encoding", ""):
                body = await asyncio.to_thread(_gzip, body)
                headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
            headers["content-length"] = str(len(body))
            self._write_head(response.status, headers, b"" if request.method == "HEAD" else body)
            await self._writable.wait()
            return
        headers["transfer-encoding"] = "chunked"
        self._write_head(response.status, headers)
        try:
            async for piece in body:
                if piece and self._transport is not None:
                    self._transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                    if not self._writable.is_set():
                        await self._writable.wait()
        finally:
            with contextlib.suppress(AttributeError):
                await body.aclose()  # type: ignore[attr-defined]
        if self._transport is not None:
            self._transport.write(b"0\r\n\r\n")

    def _write_head(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        lines = [f"HTTP/1.1 {status} {_REASONS.get(status, '')}"]
        for name, value in headers.items():  # A header said several times has its values in lines.
            lines += [f"{name}: {line}" for line in value.split("\n")] if "\n" in value else [f"{name}: {value}"]
        if self._transport is not None:
            self._transport.write("\r\n".join([*lines, "\r\n"]).encode() + body)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def stop(self) -> None:
        """Ends the connection; what is being answered is cancelled."""
        if self._task is not None:
            self._task.cancel()
        self._close()


def _gzip(body: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


class Front:
    """Listens on one address and hands every request to `handler`."""

    def __init__(self, handler: Handler, tls: ssl.SSLContext | None) -> None:
        self._handler = handler
        self._tls = tls
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None

    async def listen(self, host: str, port: int) -> int:
        """Starts listening; the port, for those who asked for any (0)."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._handler, self._connections), host, port, ssl=self._tls, backlog=1024
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.stop()
        await asyncio.sleep(0)
