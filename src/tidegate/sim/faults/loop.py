"""An event loop that never waits: when nothing is ready, its time jumps to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import Any

EPOCH = 1_900_000_000
"""When every history begins, in seconds of Unix time."""


class ForeverError(RuntimeError):
    """Nothing is ready and no timer is set: everything waits for ever."""


class _Jump(selectors.DefaultSelector):
    """Never waits for a socket: what it was to wait passes on the loop's own clock."""

    jump: Callable[[float], None]

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise ForeverError("Everything waits for ever: nothing is ready, and no timer is set.")
        if timeout > 0:
            self.jump(timeout)
        return list(super().select(0))


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time begins at 0. Threads are not used: what would run in one runs at once."""

    def __init__(self) -> None:
        selector = _Jump()
        super().__init__(selector)
        self._now = 0.0
        selector.jump = self._pass

    def _pass(self, seconds: float) -> None:
        # A timer is due at its moment, not a rounding error before it.
        self._now += seconds + 1e-9

    def time(self) -> float:
        return self._now

    def unix(self) -> float:
        """The time as the clocks on the wall of this world show it."""
        return EPOCH + self._now

    def moment(self) -> datetime:
        return datetime.fromtimestamp(int(self.unix()), UTC)

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        done: asyncio.Future[Any] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done


def run(main: Callable[[VirtualLoop], Any]) -> Any:
    """Run `main(loop)` to its end, and everything it left behind after it."""
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(main(loop))
    finally:
        _cancel_all(loop)
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def _cancel_all(loop: VirtualLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
