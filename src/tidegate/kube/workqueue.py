"""A work queue of keys: each at most once in line, never handled twice at the same time, retried with back-off."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from tidegate.kube.answers import StatusError

K = TypeVar("K", bound=Hashable)

_log = logging.getLogger(__name__)


class WorkQueue(Generic[K]):
    """Lives in one event loop. A key is waiting (in line), in hand (a worker has it), or neither; `_again` holds those
    that were added while in hand, `_later` those whose time has not come."""

    def __init__(self, *, base_s: float = 0.005, most_s: float = 60.0) -> None:
        self._base_s = base_s
        self._most_s = most_s
        self._line: deque[K] = deque()
        self._waiting: set[K] = set()
        self._in_hand: set[K] = set()
        self._again: set[K] = set()
        self._later: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, int] = {}
        self._idle: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        """Keys in line now; those that wait for their time or are in hand are not counted."""
        return len(self._line)

    def add(self, key: K) -> None:
        """Puts `key` in line; while it is being handled it is put in line again afterwards."""
        if key in self._in_hand:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._line.append(key)
            self._wake()

    def add_after(self, key: K, delay_s: float) -> None:
        """Adds `key` once `delay_s` have passed; of several such wishes for one key the earliest counts."""
        if delay_s <= 0:
            self.add(key)
            return
        loop = asyncio.get_running_loop()
        due = loop.time() + delay_s
        planned = self._later.get(key)
        if planned is not None:
            if planned.when() <= due:
                return
            planned.cancel()
        self._later[key] = loop.call_at(due, self._ripen, key)

    async def run(self, handle: Callable[[K], Awaitable[float | None]], *, workers: int = 1) -> None:
        """Handles keys until cancelled. A returned number asks for another look after so many seconds; an exception
        is logged and retried with exponential back-off, forgotten after the next success."""
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(self._work(handle))
        finally:
            for timer in self._later.values():
                timer.cancel()
            self._later.clear()

    async def _work(self, handle: Callable[[K], Awaitable[float | None]]) -> None:
        while True:
            key = await self._take()
            try:
                again_s = await handle(key)
            except Exception as error:
                self._put_back(key)
                self._retry(key, error)
            except BaseException:
                self._again.add(key)  # cancelled in the middle: whoever runs this queue next starts with it
                self._put_back(key)
                raise
            else:
                self._put_back(key)
                self._failures.pop(key, None)
                if again_s is not None:
                    self.add_after(key, again_s)

    async def _take(self) -> K:
        while not self._line:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._idle.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                # The wake-up meant for this worker must not die with it.
                if turn.done() and not turn.cancelled() and self._line:
                    self._wake()
                raise
        key = self._line.popleft()
        self._waiting.discard(key)
        self._in_hand.add(key)
        return key

    def _put_back(self, key: K) -> None:
        self._in_hand.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _retry(self, key: K, error: Exception) -> None:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        delay_s = min(self._most_s, self._base_s * 2.0 ** min(failures, 60))
        # A refusal of the server explains itself; anything else is a mistake in the handler and needs its traceback.
        trace = None if isinstance(error, StatusError) else error
        _log.warning("Handling %s failed (%s); trying again in %.3f s.", key, error, delay_s, exc_info=trace)
        self.add_after(key, delay_s)

    def _ripen(self, key: K) -> None:
        del self._later[key]
        self.add(key)

    def _wake(self) -> None:
        while self._idle:
            turn = self._idle.popleft()
            if not turn.done():
                turn.set_result(None)
                return
