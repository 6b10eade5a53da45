"""`Subscription`: what happens to the keys of one prefix, for one reader at its own pace."""

from __future__ import annotations

import asyncio
from collections import deque

from tidegate.local.store.log import Change

MOST_BEHIND = 20_000
"""Events a subscriber may be behind before it is cut off: it must start anew, and memory stays bounded."""


class Subscription:
    """Changes, in order. `closed` once it was too slow or the store went away; `rung` once its alarm went off."""

    def __init__(self, prefix: str, bucket: str) -> None:
        self.prefix = prefix
        self.bucket = bucket
        self.closed = False
        self.rung = False
        self._waiting: deque[Change] = deque()
        self._woken: asyncio.Future[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None

    def take(self) -> list[Change]:
        """Everything that has come since the last call."""
        taken = list(self._waiting)
        self._waiting.clear()
        return taken

    async def wait(self) -> None:
        """Returns when there is something to take, or it is closed, or its alarm has gone off."""
        if self._waiting or self.closed or self.rung:
            return
        self._woken = asyncio.get_running_loop().create_future()
        try:
            await self._woken
        finally:
            self._woken = None

    def ring_in(self, seconds: float) -> None:
        """Sets the alarm: one for many waits, since a timer of its own would cost more than all else a wait does."""
        self._silence()
        self._alarm = asyncio.get_running_loop().call_later(seconds, self._ring)

    def _ring(self) -> None:
        self.rung = True
        self._wake()

    def _silence(self) -> None:
        self.rung = False
        if self._alarm is not None:
            self._alarm.cancel()

    def offer(self, change: Change) -> None:
        if len(self._waiting) >= MOST_BEHIND:
            self.close()
        if not self.closed:
            self._waiting.append(change)
            self._wake()

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    def close(self) -> None:
        self.closed = True
        self._waiting.clear()
        self._silence()
        self._wake()
