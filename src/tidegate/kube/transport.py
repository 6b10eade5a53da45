"""HTTP: the transport for API servers that are elsewhere.

Whole answers share a bounded pool of connections; each stream has one of its own, since it may hold it for ever.
Streams have no limit in total, only for connecting and for silence.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import aiohttp
from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict
from yarl import URL

from tidegate.kube.access import Access, Certificate, tls_context
from tidegate.kube.wire import Request, Response

_SAFE = "/:@!$&'()*+,;=~"
_READ_BUFFER = 1 << 20
"""Large lists come in large pieces; aiohttp's own 64 KiB would pause and resume the socket all the time."""

_KEEP_S = 30.0
"""How long an idle connection is kept: shorter than servers do, so that no request meets one that just closed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait, and how many connections to hold for whole answers."""

    connect_s: float = 10.0
    idle_s: float = 60.0
    """Silence while a whole answer is owed; servers give up on their own requests after as long."""
    stream_idle_s: float = 600.0
    connections: int = 64


@dataclass(frozen=True, slots=True)
class _Sessions:
    """The connections made with one client certificate."""

    shown: Certificate | None
    whole: aiohttp.ClientSession
    streams: aiohttp.ClientSession

    async def close(self) -> None:
        await self.whole.close()
        await self.streams.close()


class HttpTransport:
    """Carries requests to one API server over HTTP. Environment variables for proxies are not looked at."""

    def __init__(self, access: Access, *, limits: Limits | None = None) -> None:
        self._access = access
        self._limits = limits or Limits()
        self._base = access.server.rstrip("/")
        self._sessions: _Sessions | None = None
        self._former: list[_Sessions] = []
        # Compressing for a socket that never leaves the machine is work for nothing.
        self._encoding = "gzip" if access.compress and not access.is_loopback else "identity"
        # A token sent in the clear is a token given away.
        self._may_authorize = access.server.startswith("https:") or access.is_loopback

    async def send(self, request: Request) -> Response:
        """The answer; a connection that fails raises OSError (TimeoutError is one)."""
        authorization = await self._authorization()
        response = await self._attempt(request, authorization)
        if response.status == 401 and await self._access.credentials.renew(authorization):
            return await self._attempt(request, await self._authorization())
        return response

    async def close(self) -> None:
        for sessions in [*self._former, *([self._sessions] if self._sessions else [])]:
            await sessions.close()
        self._former.clear()
        self._sessions = None

    async def _authorization(self) -> str | None:
        return await self._access.credentials.authorization() if self._may_authorize else None

    async def _attempt(self, request: Request, authorization: str | None) -> Response:
        streaming = "true" in (request.query.get("watch"), request.query.get("follow"))
        sessions = await self._current_sessions()
        try:
            answer = await (sessions.streams if streaming else sessions.whole).request(
                request.method,
                self._url(request),
                data=_Guarded(request.body, request.still) if request.body and request.still else request.body or None,
                headers=self._headers(request, authorization),
                allow_redirects=False,
                proxy=self._access.proxy,
                server_hostname=self._access.trust.server_name,
            )
            if streaming and answer.status < 400:
                return Response(answer.status, _pieces(answer), answer.headers)
            return Response(answer.status, await answer.read(), answer.headers)
        except TimeoutError:
            raise TimeoutError(f"{self._base} did not answer in time.") from None
        except aiohttp.ClientError as error:
            raise ConnectionError(
                f"The connection to {self._base} failed: {str(error) or type(error).__name__}"
            ) from error

    def _headers(self, request: Request, authorization: str | None) -> Mapping[str, str]:
        headers = {**request.headers, "accept-encoding": self._encoding}
        if authorization is not None:
            headers["authorization"] = authorization
        if not self._access.impersonate:
            return headers
        return CIMultiDict([*headers.items(), *self._access.impersonate])

    def _url(self, request: Request) -> URL:
        url = self._base + quote(request.path, safe=_SAFE)
        if request.query:
            url = f"{url}?{urlencode(request.query)}"
        return URL(url, encoded=True)

    async def _current_sessions(self) -> _Sessions:
        shown = await self._access.credentials.certificate()
        if self._sessions is None or self._sessions.shown is not shown:
            if self._sessions is not None:
                # Requests under way keep the old connections; no new one is made on them.
                self._former.append(self._sessions)
            self._sessions = self._open(shown)
        return self._sessions

    def _open(self, shown: Certificate | None) -> _Sessions:
        secure = self._base.startswith("https:")
        tls = tls_context(self._access.trust, shown) if secure else True

        def session(idle_s: float, connections: int) -> aiohttp.ClientSession:
            return aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=tls, limit=connections, keepalive_timeout=_KEEP_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(sock_connect=self._limits.connect_s, sock_read=idle_s),
                read_bufsize=_READ_BUFFER,
                trust_env=False,
            )

        whole = session(self._limits.idle_s, self._limits.connections)
        return _Sessions(shown, whole, session(self._limits.stream_idle_s, 0))


class _Guarded(aiohttp.BytesPayload):
    """A body that is sent only if it still may be. What has no body cannot be held back."""

    def __init__(self, body: bytes, still: Callable[[], bool]) -> None:
        super().__init__(body)
        self._still = still

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        if not self._still():
            raise ConnectionAbortedError("it may not be sent any more")
        await super().write_with_length(writer, content_length)


async def _pieces(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    try:
        async for piece in answer.content.iter_any():
            yield piece
    except TimeoutError:
        raise TimeoutError("The server has been silent for too long.") from None
    except aiohttp.ClientError as error:
        raise ConnectionError(f"The stream broke: {str(error) or type(error).__name__}") from error
    finally:
        answer.close()
