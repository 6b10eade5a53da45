"""Doing things for Workloads beside the circle: many at a time, for one Workload one after another.

What goes wrong with one is its own trouble.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tidegate.controller.kinds import Key
from tidegate.kube.answers import StatusError

_log = logging.getLogger(__name__)

_AT_ONCE = 16
"""Applications that are written to at the same time."""
_RETRY_S = 1.0
_SOON_S = 0.1
"""After a conflict: by then the other's write has been heard of."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to be done for one Workload, and what to do if it is to be tried again."""

    key: Key
    what: str
    """Of two that wait and are the same, the later is done."""
    work: Callable[[], Coroutine[Any, Any, None]]
    again: Callable[[], None]


class Doing:
    """Deeds under way, and those that wait for one of the same Workload."""

    def __init__(self) -> None:
        self._group: asyncio.TaskGroup | None = None
        self._limit = asyncio.Semaphore(_AT_ONCE)
        self._waiting: dict[Key, dict[str, Deed]] = {}
        """Of every Workload for which something is done now."""

    def open(self, group: asyncio.TaskGroup) -> None:
        """Where deeds are done."""
        self._group = group

    def do(self, deed: Deed) -> None:
        """Do this, as soon as may be."""
        assert self._group is not None
        busy = deed.key in self._waiting
        self._waiting.setdefault(deed.key, {})[deed.what] = deed
        if not busy:
            self._group.create_task(self._all_of(deed.key))

    async def _all_of(self, key: Key) -> None:
        waiting = self._waiting[key]
        while waiting:
            async with self._limit:
                deed = waiting.pop(next(iter(waiting)))
                wait_s = await _failed(deed)
            if wait_s is not None:
                asyncio.get_running_loop().call_later(wait_s, deed.again)
        del self._waiting[key]


async def _failed(deed: Deed) -> float | None:
    """Do it. None: done; else it failed, and is to be tried again after so long."""
    try:
        await deed.work()
    except OSError as broken:
        _log.info("%s/%s: no answer from the server: %s", *deed.key, str(broken) or type(broken).__name__)
    except StatusError as refused:
        if refused.code == 409:
            return _SOON_S
        _log.warning("%s/%s: the server refused: %s", *deed.key, refused.message)
    except Exception:
        _log.exception("%s/%s could not be handled", *deed.key)
    else:
        return None
    return _RETRY_S
