"""A work queue of keys: each at most once in line, never handled twice at the same time, retried with back-off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class WorkQueue(Generic[K]):
    def __init__(self, *, base_s: float = 0.005, most_s: float = 60.0) -> None:
        raise NotImplementedError

    def add(self, key: K) -> None:
        """Puts `key` in line; while it is being handled it is put in line again afterwards."""
        raise NotImplementedError

    def add_after(self, key: K, delay_s: float) -> None:
        raise NotImplementedError

    async def run(self, handle: Callable[[K], Awaitable[float | None]], *, workers: int = 1) -> None:
        """Handles keys until cancelled. A returned number asks for another look after so many seconds; an exception
        is logged and retried with exponential back-off, forgotten after the next success."""
        raise NotImplementedError
