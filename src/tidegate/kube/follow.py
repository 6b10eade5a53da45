"""Following a collection: lists and watches that keep a copy true.

A *list* (or the initial events of a WatchList) gives the whole truth at a resource version; a *watch* from there gives
what changed since. Whatever ends a watch, the next one goes on from the last version seen, so nothing is missed. When
the server no longer knows that version (410), or its history is evidently another one (versions run backwards, an
object that we never saw is said to have changed), only a new list is the truth, and what it lacks is gone:

    list ──► watch ──► closed, reset, hung, truncated, not JSON, 429, 5xx ──► probe, watch from the last version
      ▲        └────► 410, another history, any other refusal ──┐
      └─────────────────────────────────────────────────────────┘
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tidegate.kube.answers import Event, Page, StatusError
from tidegate.kube.client import Client
from tidegate.kube.copy import Copy, Key
from tidegate.kube.metadata import Identity, identifier
from tidegate.kube.wire import Resource

T = TypeVar("T")

_PAGE = 500
_NO_WATCH_LIST = frozenset((400, 404, 405, 406, 415, 422, 501))
"""What servers answer that do not know, or do not want, `sendInitialEvents`."""


class OtherHistory(Exception):  # noqa: N818 — not an error: it says what comes next
    """What the server says does not follow from what it said before: only a new list helps."""


@dataclass(frozen=True, slots=True)
class Scope(Generic[T]):
    """Which objects are followed."""

    resource: Resource[T]
    namespace: str | None = None
    labels: str = ""
    fields: str = ""


@dataclass(slots=True)
class Follow(Generic[T]):
    """Keeps `copy` true, one turn at a time. Between turns `version` is where to go on; "" asks for a new list."""

    client: Client
    scope: Scope[T]
    copy: Copy[T]
    on_truth: Callable[[], None]
    """Called after each full list has been taken over."""
    idle_s: float
    initial_idle_s: float
    watch_list: bool
    version: str = ""
    _identity: Callable[[T], Identity] = field(init=False)

    def __post_init__(self) -> None:
        self._identity = identifier(self.scope.resource.type)

    async def turn(self, timeout_s: int) -> None:
        """A list, if there is nothing to go on from, then one watch until it ends. Faults are raised."""
        if self.version:
            await self._probe()
        elif self.watch_list and await self._turn_with_watch_list(timeout_s):
            return
        else:
            await self._list()
        async with aclosing(self._watch(timeout_s, initial=False)) as events:
            async for event in events:
                self._take(event)

    async def _probe(self) -> None:
        """Makes sure that this is still the history we know, by the least that a server can be asked for.

        A server that lost its disk, or another one at the same address, would take our version for one to come and stay
        silent until it gets there; kube-apiserver does. What it lists must be at our version at least, and an object
        that is no newer than our version must be one that we hold, as it is."""
        page = await self._page(limit=1)
        if _older(page.resource_version, self.version):
            raise OtherHistory(f"the server is at {page.resource_version}, we were at {self.version} already")
        for who in map(self._identity, page.items):
            known = self.copy.get(who.key)
            if not _older(self.version, who.resource_version) and (known is None or self._identity(known) != who):
                raise OtherHistory(f"{who.key} has been there, but not as the one we knew")

    async def _turn_with_watch_list(self, timeout_s: int) -> bool:
        """Initial events, their end, and what follows, in one stream; False when it did not come to that end."""
        async with aclosing(self._watch(timeout_s, initial=True)) as events:
            if not await self._initial(events):
                return False
            async for event in events:
                self._take(event)
        return True

    async def _initial(self, events: AsyncGenerator[Event[T], None]) -> bool:
        found: dict[Key, T] = {}
        try:
            while True:
                async with asyncio.timeout(self.initial_idle_s):
                    event = await anext(events)
                if event.initial_end:
                    self._replace(list(found.values()), event.resource_version)
                    return True
                if event.type == "DELETED":
                    found.pop(self._identity(event.object).key, None)
                elif event.type != "BOOKMARK":
                    found[self._identity(event.object).key] = event.object
        except StatusError as refused:
            if refused.code not in _NO_WATCH_LIST:
                raise
            self.watch_list = False
        except TimeoutError:
            # Servers that ignore the wish send no end: waiting for it again would be as vain.
            self.watch_list = False
        except (OSError, StopAsyncIteration):
            pass  # a list may get through where a long stream does not
        return False

    async def _list(self) -> None:
        """The whole truth, page by page; if a later page has expired meanwhile, all at once."""
        try:
            page = await self._page(limit=_PAGE)
            items = page.items
            while page.proceed:
                page = await self._page(limit=_PAGE, proceed=page.proceed)
                items += page.items
        except StatusError as refused:
            if refused.code != 410:
                raise
            page = await self._page(limit=0)
            items = page.items
        self._replace(items, page.resource_version)

    async def _page(self, *, limit: int, proceed: str = "") -> Page[T]:
        scope = self.scope
        return await self.client.list(
            scope.resource, scope.namespace, labels=scope.labels, fields=scope.fields, limit=limit, proceed=proceed
        )

    def _watch(self, timeout_s: int, *, initial: bool) -> AsyncGenerator[Event[T], None]:
        scope = self.scope
        return self.client.watch(
            scope.resource,
            scope.namespace,
            labels=scope.labels,
            fields=scope.fields,
            resource_version=self.version,
            timeout_s=timeout_s,
            initial=initial,
            idle_s=self.idle_s,
        )

    def _replace(self, items: list[T], version: str) -> None:
        self.copy.replace(items)
        self.version = version
        self.on_truth()

    def _take(self, event: Event[T]) -> None:
        if _older(event.resource_version, self.version):
            raise OtherHistory(f"the server is at {event.resource_version}, we were at {self.version} already")
        if event.type != "BOOKMARK":
            self._change(event)
        self.version = event.resource_version or self.version

    def _change(self, event: Event[T]) -> None:
        who = self._identity(event.object)
        known = self.copy.get(who.key)
        if event.type == "DELETED":
            if known is not None and self._identity(known).uid != who.uid:
                raise OtherHistory(f"{who.key} went, but it is not the one we knew")
            self.copy.drop(who.key)
        elif not self.copy.put(event.object):
            raise OtherHistory(f"{who.key} is another one than the one we knew")
        elif known is None and event.type == "MODIFIED":
            raise OtherHistory(f"{who.key} changed, but we never saw it appear")


def _older(version: str, than: str) -> bool:
    """Whether one version is older than another; never, when they are not the numbers that they should be."""
    return version.isdecimal() and than.isdecimal() and int(version) < int(than)
