"""Doing many things at a time, each for a Workload of its own: what goes wrong with one is its own trouble."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
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
    work: Callable[[], Coroutine[Any, Any, None]]
    again: Callable[[], None]


async def do_all(deeds: Iterable[Deed]) -> None:
    """Do all of these, some at a time; those that failed are tried again later."""
    limit = asyncio.Semaphore(_AT_ONCE)

    async def one(deed: Deed) -> None:
        async with limit:
            wait_s = await _failed(deed)
        if wait_s is not None:
            asyncio.get_running_loop().call_later(wait_s, deed.again)

    await asyncio.gather(*map(one, deeds))


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
