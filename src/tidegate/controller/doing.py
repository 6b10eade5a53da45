"""Doing things for Workloads beside the circle: many at a time, for one Workload one after another.

What goes wrong with one is its own trouble: it is tried again, ever more rarely, and whose it is is told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tidegate.controller.kinds import Key
from tidegate.kube.answers import StatusError
from tidegate.kube.patience import RefusedBeforeError
from tidegate.kube.wire import Object

_log = logging.getLogger(__name__)

_UNWELL = 500
_AT_ONCE = 16
"""Applications that are written to at the same time."""
_AGAIN_S = 1.0
_SOON_S = 0.1
"""After a conflict: by then the other's write has been heard of."""
_AGAIN_MOST_S = 60.0
_BACK_MOST_S = 5.0
"""A server that did not answer may be back at any moment."""


@dataclass(frozen=True, slots=True)
class Deed:
    """Something to be done for one Workload, and what to do if it is to be tried again."""

    key: Key
    what: str
    """Of two that wait and are the same, the later is done."""
    work: Callable[[], Coroutine[Any, Any, None]]
    again: Callable[[], None]
    about: Object | None = None
    """The application that is told if it is refused; without it, the Workload's own."""


class Doing:
    """Deeds under way, and those that wait for one of the same Workload."""

    def __init__(self, refused: Callable[[Deed, StatusError], None] = lambda deed, error: None) -> None:
        """`refused` is called with what the server does not take."""
        self._refused = refused
        self._tries: dict[tuple[Key, str], int] = {}
        """How often in a row a deed has failed."""
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
                wait_s = await self._failed(deed)
            if wait_s is not None:
                asyncio.get_running_loop().call_later(wait_s, deed.again)
        del self._waiting[key]

    async def _failed(self, deed: Deed) -> float | None:
        """Do it. None: done; else it failed, and is to be tried again after so long."""
        try:
            await deed.work()
        except OSError as broken:
            _log.info("%s/%s: no answer from the server: %s", *deed.key, str(broken) or type(broken).__name__)
            return self._longer(deed, _AGAIN_S, _BACK_MOST_S)
        except RefusedBeforeError as before:
            return before.retry_after_s
        except StatusError as refused:
            if refused.code == 409:
                return self._longer(deed, _SOON_S)
            _log.warning("%s/%s: the server refused: %s", *deed.key, refused.message)
            if refused.code < _UNWELL:
                self._refused(deed, refused)
            return refused.retry_after_s or self._longer(deed, _AGAIN_S)
        except Exception:
            _log.exception("%s/%s could not be handled", *deed.key)
            return self._longer(deed, _AGAIN_S)
        self._tries.pop((deed.key, deed.what), None)
        return None

    def _longer(self, deed: Deed, first_s: float, most_s: float = _AGAIN_MOST_S) -> float:
        tries = self._tries.get((deed.key, deed.what), 0)
        self._tries[deed.key, deed.what] = tries + 1
        return min(most_s, first_s * 2.0 ** min(tries, 10))
