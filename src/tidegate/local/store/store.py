"""The store as the API server sees it: compare-and-swap writes, group commit, and subscriptions.

All methods run on the event loop. A write is checked against the newest state at once (also against writes whose
commit is still under way), gets its revision, and joins the next batch; a single thread commits batches one after the
other, so while one is being synced to the disk the next one fills up. Readers and subscribers only ever see what is
committed: nobody is told of a write that a crash could take back.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tidegate.local.store.log import Change, CompactedError, Log, Row
from tidegate.local.store.subscription import Subscription

_FEW, _QUICK_S = 4, 0.002
"""So few writes are committed on the spot if the disk is that quick: to wake a thread would take longer."""

_READ_AGAIN = 1_024
"""Rows kept at hand: namespaces, service accounts and the like are read by nearly every write."""

COMPACT_EVERY_S = 300.0
KEEP_REVISIONS = 1_000
"""A compaction always leaves at least so much history."""
MOST_REVISIONS = 200_000
"""More history than this is compacted without waiting for the interval."""


class NotStoredError(Exception):
    """The disk did not take it: it is full, or broken."""


class StaleError(Exception):
    """The key is not at the revision the writer expected."""

    def __init__(self, current: Row | None) -> None:
        super().__init__("the key is at another revision")
        self.current = current


class Store:
    def __init__(self, path: Path) -> None:
        self._log = Log(path)
        self.revision = self._log.revision
        """The newest committed revision."""
        self._next = self.revision
        self._uncommitted: dict[str, Change] = {}
        self._batch: list[tuple[Change, asyncio.Future[Row]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-commit")
        self._subscriptions: dict[str, set[Subscription]] = {}
        self._listeners: list[Callable[[Change], None]] = []
        self._compacting: asyncio.Task[None] | None = None
        self._took_s = 0.0
        """How long the last commit took."""
        self._keys = set(self._log.keys())
        """Of all that is there, so that the disk is not asked whether a new object is new."""
        self._at_hand: dict[str, Row] = {}
        self._changed: dict[str, int] = {}

    @property
    def compacted(self) -> int:
        return self._log.compacted

    def get(self, key: str) -> Row | None:
        """The committed state of `key`."""
        if key not in self._keys:
            return None
        try:
            return self._at_hand[key]
        except KeyError:
            row = self._log.get(key)
            if row is not None and row.revision <= self.revision:  # The log may be ahead of what has been announced.
                self._keep_at_hand(row)
            return row

    def _keep_at_hand(self, row: Row) -> None:
        if len(self._at_hand) >= _READ_AGAIN:
            self._at_hand.clear()
        self._at_hand[row.key] = row

    def changed(self, bucket: str) -> int:
        """The revision at which anything in a bucket ("core/limitranges/") last changed; 0 if not since the start.

        Whoever derives something from a whole collection can keep it for as long as this stays the same.
        """
        return self._changed.get(bucket, 0)

    def newest(self, key: str) -> Row | None:
        """The state of `key` with writes whose commit is under way: what the next write must be checked against."""
        change = self._uncommitted.get(key)
        if change is None:
            return self.get(key)
        return None if change.deleted else change.row

    def range(self, prefix: str, *, after: str = "", limit: int = -1, at: int = 0) -> list[Row]:
        """What there is (at revision `at`), as of exactly `self.revision`: a watch from there repeats nothing."""
        if not at and self._flushing is not None:
            # The commit under way may be on the disk already, and is not announced yet.
            if not self.revision:
                return []
            at = self.revision
        return self._log.range(prefix, after=after, limit=limit, at=at)

    def count(self, prefix: str, *, after: str = "") -> int:
        return self._log.count(prefix, after=after)

    def put(self, key: str, make: Callable[[int], bytes], *, expected: Row | None) -> asyncio.Future[Row]:
        """Writes `make(revision)` if `key` is still at `expected` (None: absent); resolves when it is on the disk.

        Raises StaleError at once if it is not. Check and write are one step: nothing can come between.
        """
        return self._add(key, make, expected, deleted=False)

    def remove(self, key: str, make: Callable[[int], bytes], *, expected: Row) -> asyncio.Future[Row]:
        """Deletes `key`; `make(revision)` is its last state, for those who watch."""
        return self._add(key, make, expected, deleted=True)

    def _add(
        self, key: str, make: Callable[[int], bytes], expected: Row | None, *, deleted: bool
    ) -> asyncio.Future[Row]:
        newest = self.newest(key)
        if (newest.revision if newest else 0) != (expected.revision if expected else 0):
            raise StaleError(newest)
        revision = self._next + 1
        row = Row(revision, key, newest.created if newest else revision, make(revision))
        self._next = revision
        change = Change(row, deleted, newest)
        self._uncommitted[key] = change
        future: asyncio.Future[Row] = asyncio.get_running_loop().create_future()
        self._batch.append((change, future))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return future

    async def _flush(self) -> None:
        try:
            while self._batch:
                batch, self._batch = self._batch, []
                try:
                    await self._write([change for change, _ in batch])
                except sqlite3.OperationalError as error:
                    self._fail(batch, NotStoredError(str(error)))
                    continue
                except Exception as error:
                    self._fail(batch, error)
                    continue
                self._committed(batch)
        finally:
            self._flushing = None

    async def _write(self, changes: list[Change]) -> None:
        """One commit. The writer's connection is never used by two threads at once.

        Rows are written here and only the sync, which waits for the disk, is left to the thread: it would have to
        win the interpreter back for every row.
        """
        loop = asyncio.get_running_loop()
        if self._is_compacting:  # The thread has the connection.
            await loop.run_in_executor(self._thread, self._log.append, changes)
            return
        self._log.write(changes)
        if len(changes) <= _FEW and self._took_s < _QUICK_S:
            self._sync()
        else:
            await loop.run_in_executor(self._thread, self._sync)

    def _sync(self) -> None:
        began = time.perf_counter()
        self._log.commit()
        self._took_s = time.perf_counter() - began

    @property
    def _is_compacting(self) -> bool:
        return self._compacting is not None and not self._compacting.done()

    def _committed(self, batch: list[tuple[Change, asyncio.Future[Row]]]) -> None:
        self.revision = batch[-1][0].row.revision
        for change, future in batch:
            self._take_over(change)
            if not future.done():
                future.set_result(change.row)
        # Who wrote is answered first: those who watch have more to do, and wait for nothing.
        for change, _ in batch:
            self._publish(change)
        if self.revision - self.compacted > MOST_REVISIONS:
            self.compact(self.revision - MOST_REVISIONS // 2)

    def _take_over(self, change: Change) -> None:
        """From now on this is what readers see."""
        key = change.row.key
        if self._uncommitted.get(key) is change:
            del self._uncommitted[key]
        self._changed[bucket_of(key)] = change.row.revision
        if change.deleted:
            self._keys.discard(key)
            self._at_hand.pop(key, None)
        else:
            self._keys.add(key)
            self._keep_at_hand(change.row)

    def _fail(self, batch: list[tuple[Change, asyncio.Future[Row]]], error: Exception) -> None:
        """A failed commit takes everything after it along: it was checked against a state that is not to be."""
        lost, self._batch = batch + self._batch, []
        self._uncommitted.clear()
        self._next = self.revision
        for _, future in lost:
            if not future.done():
                future.set_exception(error)

    def subscribe(self, prefix: str, since: int) -> tuple[list[Change], Subscription]:
        """What happened after revision `since`, and a subscription that goes on from there without a gap.

        `prefix` must contain its bucket: the first two parts of a key, by which subscribers are found.
        """
        past = list(self._log.since(since, prefix)) if since < self.revision else []
        subscription = Subscription(prefix, bucket_of(prefix))
        self._subscriptions.setdefault(subscription.bucket, set()).add(subscription)
        # The log may already hold rows whose commit has not been announced: they come by the subscription.
        return [change for change in past if change.row.revision <= self.revision], subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        subscription.close()
        self._subscriptions.get(subscription.bucket, set()).discard(subscription)

    def listen(self, listener: Callable[[Change], None]) -> None:
        """Calls `listener` with every change from now on, as it is committed; it must be quick and must not fail.

        For those in the server's own process who follow everything: they are never behind, and wake only for what
        concerns them.
        """
        self._listeners.append(listener)

    def _publish(self, change: Change) -> None:
        key = change.row.key
        for listener in self._listeners:
            listener(change)
        for subscription in self._subscriptions.get(bucket_of(key), ()):
            if key.startswith(subscription.prefix):
                subscription.offer(change)

    def compact(self, revision: int) -> asyncio.Task[None]:
        """Forgets history up to `revision` in the background; watches that are further behind must start anew."""
        if self._compacting is None or self._compacting.done():
            self._compacting = asyncio.create_task(self._compact(revision))
        return self._compacting

    async def _compact(self, revision: int) -> None:
        loop = asyncio.get_running_loop()
        done = False
        while not done:  # Chunk by chunk, so that commits get their turn in between.
            done = await loop.run_in_executor(self._thread, self._log.compact, revision)

    async def keep_compacting(self, every_s: float = COMPACT_EVERY_S) -> None:
        """Every interval, forgets what was already history an interval ago."""
        before = self.revision
        while True:
            await asyncio.sleep(every_s)
            horizon = min(before, self.revision - KEEP_REVISIONS)
            before = self.revision
            if horizon > self.compacted:
                await self.compact(horizon)

    async def close(self) -> None:
        """Waits for writes under way, then closes the file."""
        while self._flushing is not None:
            await asyncio.wait([self._flushing])
        if self._compacting is not None:
            await asyncio.wait([self._compacting])
        for subscriptions in self._subscriptions.values():
            for subscription in list(subscriptions):
                subscription.close()
        self._thread.shutdown()
        self._log.close()


def bucket_of(key: str) -> str:
    """The first two parts of a key, e.g. "apps/deployments/"; "" for a prefix that is shorter."""
    parts = key.split("/", 2)
    return f"{parts[0]}/{parts[1]}/" if len(parts) > 2 else ""


__all__ = ["Change", "CompactedError", "Row", "StaleError", "Store", "bucket_of"]
