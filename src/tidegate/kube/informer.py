"""Informers: a local copy of a collection that follows the server and never loses a deletion.

How the copy is kept true is told in `follow`; here is when to try again after each way it can fail.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import msgspec

from tidegate.kube.answers import StatusError
from tidegate.kube.backoff import Backoff
from tidegate.kube.client import Client
from tidegate.kube.copy import Change, Copy
from tidegate.kube.follow import Follow, OtherHistory, Scope
from tidegate.kube.wire import Resource

__all__ = ["Change", "Informer"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

_STEADY_S = 5.0
"""A turn that lasted so long was a good one: the next failure waits the shortest delay again."""
_WATCH_S = 300
"""Watches end after one to two times as long, so that a restarted server is not met by everybody at once."""
_RETRY_AFTER_MOST_S = 60.0


class Informer(Generic[T]):
    """List, then watch, for ever. Objects are shared and read-only; keys are (namespace, name), "" if cluster-wide."""

    def __init__(
        self,
        client: Client,
        resource: Resource[T],
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
        indexes: dict[str, Callable[[T], Iterable[str]]] | None = None,
        backoff: Backoff | None = None,
        idle_s: float = 150.0,
        initial_idle_s: float = 10.0,
        watch_list: bool = True,
    ) -> None:
        """`idle_s`: a watch silent for so long is taken for dead (servers send bookmarks every minute).
        `initial_idle_s`: the same for a WatchList that owes its end. `watch_list=False` always lists."""
        self._copy = Copy(resource.type, indexes)
        self._synced = asyncio.Event()
        self._on_list: list[Callable[[str], None]] = []
        self._backoff = backoff or Backoff()
        self._plural = resource.plural
        self._follow = Follow(
            client,
            Scope(resource, namespace, labels, fields),
            self._copy,
            self._listed,
            idle_s=idle_s,
            initial_idle_s=initial_idle_s,
            watch_list=watch_list,
        )

    def on_change(self, handler: Change[T]) -> None:
        """Handlers run in the order events came, in the loop, and must not block. One that comes late first hears of
        every object there is, as having appeared."""
        self._copy.subscribe(handler)

    def on_list(self, handler: Callable[[str], None]) -> None:
        """Called with its version after each full list. What came and went between two lists is never heard of."""
        self._on_list.append(handler)

    def _listed(self) -> None:
        self._synced.set()
        for handler in self._on_list:
            handler(self._follow.version)

    def get(self, name: str, namespace: str = "") -> T | None:
        return self._copy.get((namespace, name))

    def all(self) -> Iterable[T]:
        return self._copy.all()

    def by(self, index: str, key: str) -> list[T]:
        """Objects whose index function gave `key`, in no particular order."""
        return self._copy.by(index, key)

    @property
    def is_synced(self) -> bool:
        return self._synced.is_set()

    async def synced(self) -> None:
        """Returns once the first full list has been delivered to the handlers."""
        await self._synced.wait()

    async def run(self) -> None:
        """Follows the server until cancelled; survives every fault of the network and of the watch protocol."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            wait_s = await self._turn()
            if loop.time() - began >= _STEADY_S:
                self._backoff.reset()
                if wait_s is None:
                    continue
            # Even a watch that closed in order waits if it was short: some server might close every one at once.
            await asyncio.sleep(max(self._backoff.next_s(), wait_s or 0.0))

    async def _turn(self) -> float | None:
        """One turn of following. None: it ended in the ordinary way; else it failed, and so long at least is to be
        waited."""
        follow = self._follow
        try:
            await follow.turn(int(_WATCH_S * (1 + self._backoff.uniform())))
        except StatusError as refused:
            _log.info("The server refused to let %s be followed: %s", self._plural, refused.message)
            if not _passing(refused):
                follow.version = ""
            return min(refused.retry_after_s or 0.0, _RETRY_AFTER_MOST_S)
        except OtherHistory as why:
            _log.info("Listing %s again: %s.", self._plural, why)
            follow.version = ""
        except OSError as broken:
            _log.info(
                "The watch of %s broke (%s); going on from there.", self._plural, str(broken) or type(broken).__name__
            )
        except msgspec.ValidationError as unfit:
            _log.error("An object of %s cannot be read (%s); it blocks those behind it.", self._plural, unfit)
        except Exception:
            _log.exception("Following %s failed; listing again.", self._plural)
            follow.version = ""
        else:
            return None
        return 0.0


def _passing(refused: StatusError) -> bool:
    """Whether the server is merely busy or unwell: then our version is as good as before. One kind of 504 says that
    our version lies in the server's future, so its history is another one."""
    causes = (refused.status.get("details") or {}).get("causes") or []
    from_the_future = any(cause.get("reason") == "ResourceVersionTooLarge" for cause in causes)
    return (refused.code == 429 or refused.code >= 500) and not from_the_future
