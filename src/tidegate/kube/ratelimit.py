"""A limit on requests per second, for guests on other people's clusters. Off unless asked for: servers have their own
fairness, and a client that waits in front of it only adds delay."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tidegate.kube.wire import Request, Response, Transport


@dataclass(frozen=True, slots=True)
class Rate:
    """So many requests a second in the long run, and so many at once after a rest."""

    per_s: float
    burst: int = 1

    def __post_init__(self) -> None:
        if self.per_s <= 0 or self.burst < 1:
            raise ValueError("A rate must let requests through. Give a positive rate and a burst of at least one.")


class RateLimited:
    """A transport that lets requests through at a rate, in the order they came."""

    def __init__(self, transport: Transport, rate: Rate) -> None:
        self._transport = transport
        self._rate = rate
        self._full_at = float("-inf")
        """When the bucket would be full again. Each request takes it 1/rate further away; a request must wait as long
        as that lies more than a full bucket ahead."""

    async def send(self, request: Request) -> Response:
        wait_s = self._reserve(asyncio.get_running_loop().time())
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        return await self._transport.send(request)

    async def close(self) -> None:
        await self._transport.close()

    def _reserve(self, now: float) -> float:
        self._full_at = max(now, self._full_at) + 1 / self._rate.per_s
        return self._full_at - now - self._rate.burst / self._rate.per_s
