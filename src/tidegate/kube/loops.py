"""The loop of a process that stays: faster than Python's own, and silent about what does not matter."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, done on such a loop."""

    async def begin() -> T:
        asyncio.get_running_loop().set_exception_handler(tell)
        return await work

    return uvloop.run(begin())


def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """As ever, but for what uvloop meets when bytes come over TLS for a connection that we have just closed: nobody
    waits for them, and a traceback in the log would be all that came of it."""
    error = context.get("exception")
    if not (isinstance(error, RuntimeError) and "the handler is closed" in str(error)):
        loop.default_exception_handler(context)
