"""The token bucket: a burst at once, then the rate, in order."""

from __future__ import annotations

import asyncio

import pytest

from tidegate.kube.ratelimit import Rate, RateLimited
from tidegate.kube.wire import Request, Response


class Noting:
    def __init__(self) -> None:
        self.seen: list[tuple[str, float]] = []

    async def send(self, request: Request) -> Response:
        self.seen.append((request.path, asyncio.get_running_loop().time()))
        return Response(200)

    async def close(self) -> None:
        pass


async def test_a_burst_goes_at_once_and_the_rest_at_the_rate_in_order() -> None:
    inner = Noting()
    transport = RateLimited(inner, Rate(per_s=100, burst=5))
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(transport.send(Request("GET", str(n))) for n in range(15)))
    assert [path for path, _ in inner.seen] == [str(n) for n in range(15)]
    for n, (_, at) in enumerate(inner.seen):
        assert at - began >= max(0, n - 4) / 100 - 0.001
    await transport.close()


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="positive rate"):
        Rate(per_s=0)
