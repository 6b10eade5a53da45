"""Ctrl-C as an event: the first is heard and acted on, the second ends everything at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from types import TracebackType
from typing import Any

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """`with` gives the event. What was told to ignore Ctrl-C (a shell does so with what it puts in the background)
    goes on ignoring it."""

    def __init__(self) -> None:
        self._heard = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> asyncio.Event:
        for number in _NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._first)
        return self._heard

    def _first(self) -> None:
        self._heard.set()
        self._let_go()

    def _let_go(self) -> None:
        for number in _NUMBERS:
            self._loop.remove_signal_handler(number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go()


async def first(*waits: Coroutine[Any, Any, Any]) -> None:
    """Until one of them is over; the others are given up."""
    tasks = [asyncio.create_task(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
