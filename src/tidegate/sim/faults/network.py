"""The wire between one operator and the server, and everything that can go wrong on it.

A request once sent is the network's: it may arrive though its sender heard of a failure, or is dead. What arrives, does
so within `LATEST_S` of when it is due; whoever starts anew after a kill starts later than that, as processes do.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from random import Random

import msgspec

from tidegate.kube.wire import Object, Request, Response, Transport
from tidegate.local.apiserver.deadline import MOST_S, asked_s

LATEST_S = 0.4
SLOWEST_S = 0.2
"""So long a request takes to arrive at most, where it does not arrive late."""
_SLOW_S = 0.02
_INVALID = 422
_WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Fault(StrEnum):
    """What happens to a request."""

    LOST = "lost before it arrived"
    UNANSWERED = "took effect, and its answer was lost"
    LATE = "took effect after its sender was told of a failure"
    CONFLICT = "somebody else wrote the object just before"
    REFUSED = "refused by a server that is unwell"
    HANGS = "hangs in the server for as long as that lets it"


@dataclass(frozen=True, slots=True)
class Weather:
    """How bad it is: of so many requests one goes wrong, of so many events of a watch one is cut off, late, doubled."""

    requests: int = 12
    events: int = 12
    latency_s: float = _SLOW_S
    hangs: bool = False
    """Whether writes hang, too. Nobody may start anew before that is over: that is what leases are for."""


class Network:
    """A Transport that sometimes fails. `calm` ends all faults, `down` lets nothing through, `dead` answers nobody."""

    def __init__(
        self, server: Transport, chance: Random, weather: Weather, seen: Counter[str], *, calm: bool = False
    ) -> None:
        self._server = server
        self._chance = chance
        self._weather = weather
        self._seen = seen
        self.calm = calm
        self.down = False
        self._left: int | None = None
        self.invalid: list[str] = []
        """What the server said of writes that no server takes."""
        self.hanging: dict[str, float] = {}
        """By path: when a write was sent that hangs in the server."""
        self.dead = asyncio.Event()

    def die(self) -> None:
        """Whoever used it is gone: what is under way may arrive, and nothing new is sent."""
        self.dead.set()

    def die_after(self, writes: int) -> None:
        """Whoever uses it is gone as soon as it has sent so many writes more."""
        self._left = writes

    def _is_last(self, request: Request) -> bool:
        if self._left is None or request.method not in _WRITES:
            return False
        self._left -= 1
        return self._left <= 0

    async def close(self) -> None:
        """Nothing to close."""

    async def send(self, request: Request) -> Response:
        if self.dead.is_set():
            await asyncio.Event().wait()
        if self.down:
            await asyncio.sleep(1.0)
            raise ConnectionResetError("the network is down")
        if request.query.get("watch") == "true":
            return await self._watch(request)
        carried = asyncio.ensure_future(self._carry(request, self._fault(request)))
        carried.add_done_callback(_forget)
        if self._is_last(request):
            self.die()
            await asyncio.Event().wait()
        return await asyncio.shield(carried)

    def _fault(self, request: Request) -> Fault | None:
        if self.calm or self._chance.randrange(self._weather.requests):
            return None
        if request.method not in _WRITES:
            return self._chance.choice((Fault.LOST, Fault.REFUSED))
        faults = tuple(fault for fault in Fault if self._weather.hangs or fault is not Fault.HANGS)
        fault = self._chance.choice(faults)
        self._seen[f"{request.method} {fault.name}"] += 1
        return fault

    async def _carry(self, request: Request, fault: Fault | None) -> Response:
        await self._takes_time()
        if fault is Fault.LOST:
            raise ConnectionResetError("lost on its way")
        if fault is Fault.REFUSED:
            return self._unwell()
        if fault is Fault.LATE:
            asyncio.get_running_loop().call_later(self._chance.random() * LATEST_S, self._arrive, request)
            raise TimeoutError("no answer in time")
        if fault is Fault.CONFLICT:
            await self._somebody_else(request)
        response = await (self._hang(request) if fault is Fault.HANGS else self._server.send(request))
        if response.status == _INVALID and isinstance(response.body, bytes):
            self.invalid.append(str(msgspec.json.decode(response.body)["message"]))
        await self._takes_time()
        if fault is Fault.UNANSWERED:
            raise ConnectionResetError("the answer was lost")
        return response

    async def _hang(self, request: Request) -> Response:
        sent_at = self.hanging.setdefault(request.path, asyncio.get_running_loop().time())
        await asyncio.sleep(self._chance.random() * (asked_s(request) or MOST_S))
        try:
            return await self._server.send(request)
        finally:
            if self.hanging.get(request.path) == sent_at:
                del self.hanging[request.path]

    def _arrive(self, request: Request) -> None:
        asyncio.ensure_future(self._server.send(request))  # noqa: RUF006 - nobody waits for it; that is the fault

    async def _takes_time(self) -> None:
        await asyncio.sleep(self._chance.random() * self._weather.latency_s)

    def _unwell(self) -> Response:
        code, reason = self._chance.choice(((500, "InternalError"), (429, "TooManyRequests"), (503, "Unavailable")))
        status: Object = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
        return Response(code, msgspec.json.encode({**status, "message": "made up"}))

    async def _somebody_else(self, request: Request) -> None:
        """A write of another that does not matter, but for the version it leaves."""
        path = request.path.removesuffix("/status")
        if request.method == "POST" or "/leases/" in path:
            return
        note = {"metadata": {"annotations": {"example.com/seen": str(self._chance.random())}}}
        headers = {**request.headers, "content-type": "application/merge-patch+json"}
        await self._server.send(Request("PATCH", path, {}, headers, msgspec.json.encode(note)))

    async def _watch(self, request: Request) -> Response:
        await self._takes_time()
        if not self.calm and not self._chance.randrange(self._weather.requests):
            if "resourceVersion" in request.query and self._chance.random() < 0.5:
                self._seen["watch EXPIRED"] += 1
                status = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired", "message": "made up"}
                return Response(410, msgspec.json.encode(status))
            return self._unwell()
        response = await self._server.send(request)
        if isinstance(response.body, bytes):
            return response
        return Response(response.status, self._pieces(response.body), response.headers)

    async def _pieces(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        try:
            async for piece in body:
                fate = self._chance.randrange(self._weather.events) if not self.calm else 3
                if self.down or fate == 0:
                    self._seen["event CUT"] += 1
                    raise ConnectionResetError("the watch was cut")
                if fate == 1:
                    self._seen["event LATE"] += 1
                    await asyncio.sleep(self._chance.random() * 3)
                yield piece
                if fate == 2:
                    self._seen["event DOUBLED"] += 1
                    yield piece
        finally:
            close = getattr(body, "aclose", None)
            if close is not None:
                await close()


def _forget(carried: asyncio.Future[Response]) -> None:
    """Whoever sent it may be gone: then nobody minds how it ended."""
    if not carried.cancelled():
        carried.exception()
