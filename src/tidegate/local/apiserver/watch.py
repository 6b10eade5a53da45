"""Watching: what happens to a collection, as it happens, over a chunked answer or a WebSocket.

Each change is rendered once per shape and shared by all who watch. A watcher that asks for history we no longer keep is
told so inside the stream (410), which every client handles; over HTTP some do not.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import decode, encode, partial, table_of, warned
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.choice import Choice, choice_of
from tidegate.local.apiserver.list_options import ListOptions, list_options
from tidegate.local.apiserver.negotiate import Shape, shape_of
from tidegate.local.errors import ApiError, expired, invalid
from tidegate.local.store import Change, CompactedError, Row, Subscription

BOOKMARK_EVERY_S = 55.0
"""Some clients take a minute without news for a dead connection."""
_EARLY_S = 0.01
"""A timer may go off that much too soon."""
_END = {"k8s.io/initial-events-end": "true"}


async def watch(api: Api, call: Call) -> Response:
    watcher = Watcher(api, call)
    if "websocket" in call.request.headers.get("upgrade", "").lower():
        from tidegate.local.apiserver.sockets import stream_over_websocket

        return stream_over_websocket(call.request, watcher.events())
    shape = watcher.shape
    content = shape.content_type if shape.transform else "application/json"
    headers = {"content-type": content, "cache-control": "no-cache, private"}
    if call.warnings:
        headers["warning"] = warned(call.warnings)
    return Response(200, watcher.lines(), headers)


@dataclass(slots=True)
class _Start:
    """Where a watch begins: after `revision`, preceded by the present state if `initial`."""

    revision: int
    initial: bool
    marked: bool
    """Whether a bookmark tells where the initial events end (WatchList)."""


def _start_of(options: ListOptions) -> _Start:
    text = options.version
    if text and not (text.isascii() and text.isdigit()):
        error = invalid("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": invalid syntax')
        raise ApiError(500, "", error.message)
    revision = int(text or "0")
    # A watch from nowhere begins with what is there, and may be told where that ends, asked or not.
    initial = options.initial if options.initial is not None else revision == 0
    return _Start(revision, initial, marked=initial and options.bookmarks)


class Watcher:
    """One watch request, from its parameters to its events as bytes."""

    def __init__(self, api: Api, call: Call) -> None:
        self._api = api
        self._call = call
        self._served = call.served
        self.shape: Shape = shape_of(call.request.headers.get("accept", ""))
        options = list_options(call)
        self._choice: Choice = choice_of(call, options)
        self._bookmarks = options.bookmarks
        self._start = _start_of(options)
        self._until = time.monotonic() + (options.timeout_s or random.uniform(1800, 3600))  # noqa: S311
        self._over = False
        self._headed = False

    async def lines(self) -> AsyncIterator[bytes]:
        """The stream of a chunked answer: one JSON document a line; what comes together goes out together."""
        async for events in self.events():
            yield b"".join([event + b"\n" for event in events])

    async def events(self) -> AsyncIterator[list[bytes]]:
        """Encoded watch events, in order, in as few pieces as they come."""
        if self.shape.transform == "PartialObjectMetadataList" or self._until < time.monotonic():
            return  # No event is a list, and a time that is over before it begins has none.
        store, start = self._api.store, self._start
        prefix = self._served.collection(self._call.namespace)
        since = store.revision if start.initial or not start.revision else start.revision
        try:
            past, subscription = store.subscribe(prefix, since)
        except CompactedError:
            yield [self._error(f"too old resource version: {since} ({store.compacted})")]
            return
        try:
            reached = store.revision
            if start.initial:
                rows = store.range(prefix)
                first = [self._event("ADDED", self._served.shown(row)) for row in rows if self._choice.takes(row.value)]
                if start.marked:
                    first.append(self._bookmark(reached, _END))
                if first:
                    yield first
            floor = max(since, start.revision if not start.initial else 0)
            if gone_by := self._render(past, floor):
                yield gone_by
            subscription.ring_in(self._quiet_s())
            while (events := await self._next(subscription, floor)) is not None:
                yield events
        finally:
            store.unsubscribe(subscription)

    async def _next(self, subscription: Subscription, floor: int) -> list[bytes] | None:
        """What happens next, as events; None when the watch is over."""
        while not subscription.closed and not self._over:
            await subscription.wait()
            events = self._render(subscription.take(), floor)
            if subscription.rung:
                self._over = self._quiet_s() <= _EARLY_S
                subscription.ring_in(self._quiet_s())
                if self._bookmarks:
                    events.append(self._bookmark(self._api.store.revision))
            if events:
                return events
        return None

    def _quiet_s(self) -> float:
        """How long nothing may be said: until the next bookmark, or the end."""
        return max(0.0, min(BOOKMARK_EVERY_S, self._until - time.monotonic()))

    def _render(self, changes: list[Change], floor: int) -> list[bytes]:
        made = (self._change(change) for change in changes if change.row.revision > floor)
        return [event for event in made if event]

    def _change(self, change: Change) -> bytes | None:
        """A change as this watcher sees it: what enters its choice is added, what leaves it deleted."""
        choice = self._choice
        if choice.everything:
            known, wanted = change.before is not None, not change.deleted
        else:
            known = change.before is not None and choice.takes_object(_read_once(change, change.before))
            wanted = not change.deleted and choice.takes_object(_read_once(change, change.row))
        if not known and not wanted:
            return None
        type_ = "DELETED" if not wanted else "MODIFIED" if known else "ADDED"
        if self.shape.transform:
            return self._event(type_, self._last(change) if type_ == "DELETED" else change.row.value)
        memo = (type_, self._served.head)
        if (made := change.memo.get(memo)) is None:
            value = self._last(change) if type_ == "DELETED" else change.row.value
            made = change.memo[memo] = self._event(type_, value)
        return made

    def _last(self, change: Change) -> bytes:
        """The object as it was last chosen, with the revision at which it left."""
        if change.deleted or change.before is None:
            return change.row.value
        obj = decode(change.before.value)
        obj["metadata"]["resourceVersion"] = str(change.row.revision)
        return encode(obj)

    def _event(self, type_: str, value: bytes) -> bytes:
        return b'{"type":"%b","object":%b}' % (type_.encode(), self._object(value))

    def _object(self, value: bytes) -> bytes:
        if not self.shape.transform:
            return self._served.rendered(value)
        obj = decode(value)
        if self.shape.transform == "Table":
            heading, self._headed = not self._headed, True
            meta = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            return encode(table_of(self._call, [obj], meta, self.shape, heading=heading))
        return encode(partial(obj, self.shape))

    def _bookmark(self, revision: int, annotations: Object | None = None) -> bytes:
        meta: Object = {"resourceVersion": str(revision)}
        if annotations:
            meta["annotations"] = annotations
        kind, version = self._served.kind, self._served.api_version
        if self.shape.transform == "Table":
            body: Object = {"kind": "Table", "apiVersion": f"meta.k8s.io/{self.shape.version}", "metadata": meta}
            body |= {"columnDefinitions": [], "rows": []}
        elif self.shape.transform:
            body = partial({"metadata": meta}, self.shape)
        else:
            body = {"kind": kind, "apiVersion": version, "metadata": meta}
        return encode({"type": "BOOKMARK", "object": body})

    def _error(self, message: str) -> bytes:
        error: ApiError = expired(message)
        return encode({"type": "ERROR", "object": error.status()})


def _read_once(change: Change, row: Row) -> Object:
    """The object of a row, decoded for the first watcher that has to look into it, and kept for the others."""
    obj: Object | None = change.memo.get(row.revision)
    if obj is None:
        obj = change.memo[row.revision] = decode(row.value)
    return obj
