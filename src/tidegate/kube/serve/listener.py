"""A small HTTP server: paths and the functions that answer them. Listens until cancelled, and lets go in order."""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from tidegate.kube.serve.reviews import Asked, NotAReviewError, parse
from tidegate.kube.wire import Object

if TYPE_CHECKING:
    from aiohttp import web

_log = logging.getLogger(__name__)

_MOST_BODY = 16 * 1024 * 1024
"""A review has the object twice, and objects of several megabytes can be stored."""
_READ_S = 10.0
_JUDGE_S = 15.0
_GOODBYE_S = 10.0
"""So long requests that are under way may take when the server ends."""

Judge = Callable[[Asked], Awaitable[Object]]
Page = Callable[[], tuple[int, str, bytes]]
"""Status, content type and body."""


@dataclass(frozen=True, slots=True)
class Bind:
    """Where to listen. No host: on every address. Port 0: any that is free."""

    host: str = "127.0.0.1"
    port: int = 0

    @classmethod
    def parse(cls, text: str) -> Bind:
        """`HOST:PORT`, `[::1]:PORT` or `:PORT`. ValueError where it is neither."""
        host, colon, port = text.rpartition(":")
        if not colon or not port.isdecimal() or int(port) > 65535:
            raise ValueError(f"{text!r} is not HOST:PORT")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))


class ListenError(Exception):
    """An address cannot be listened on."""


class Listener:
    """Serves reviews (POST) and pages (GET); `listening` is set, and `port` known, once it does."""

    def __init__(
        self,
        bind: Bind,
        *,
        reviews: Mapping[str, Judge] | None = None,
        pages: Mapping[str, Page] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._bind = bind
        self._reviews = dict(reviews or {})
        self._pages = dict(pages or {})
        self._tls = tls
        self.port = bind.port
        self.listening = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled. ListenError when the address is taken, or not ours."""
        from aiohttp import web

        app = web.Application(client_max_size=_MOST_BODY)
        for path, judge in self._reviews.items():
            app.router.add_post(path, _reviewing(judge))
        for path, page in self._pages.items():
            app.router.add_get(path, _showing(page))
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=_GOODBYE_S)
        await runner.setup()
        try:
            site = web.TCPSite(runner, self._bind.host or None, self._bind.port, ssl_context=self._tls)
            try:
                await site.start()
            except OSError as error:
                why = os.strerror(error.errno) if error.errno else str(error)
                raise ListenError(f"{self._bind.host or '*'}:{self._bind.port} ({why})") from None
            self.port = runner.addresses[0][1]
            self.listening.set()
            _log.info("Listening on %s:%d.", self._bind.host or "*", self.port)
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()


def _reviewing(judge: Judge) -> Callable[[web.Request], Awaitable[web.Response]]:
    from aiohttp import web

    async def handle(request: web.Request) -> web.Response:
        try:
            async with asyncio.timeout(_READ_S):
                body = await request.read()
            asked = parse(body)
        except TimeoutError:
            return web.Response(status=408, text="The body did not come in time.\n")
        except NotAReviewError as error:
            return web.Response(status=400, text=f"This is not a review: {error}.\n")
        try:
            async with asyncio.timeout(_JUDGE_S):
                answered = await judge(asked)
        except TimeoutError:
            return web.Response(status=504, text="It could not be judged in time.\n")
        except Exception:
            _log.exception("A review of %s %s/%s failed", asked.operation, asked.namespace, asked.name)
            return web.Response(status=500, text="It could not be judged; the log of Tidegate says why.\n")
        return web.Response(body=msgspec.json.encode(answered), content_type="application/json")

    return handle


def _showing(page: Page) -> Callable[[web.Request], Awaitable[web.Response]]:
    from aiohttp import web

    async def handle(request: web.Request) -> web.Response:
        status, content_type, body = page()
        return web.Response(status=status, body=body, headers={"content-type": content_type})

    return handle
