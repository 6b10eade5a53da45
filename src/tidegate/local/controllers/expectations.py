"""What a controller has done and its cache does not show yet.

A watch is always a little late. A controller that decided again from a cache without its own last writes would create
the same pods twice, so it waits until each write has been seen, or given up after `patience_s` (an event lost for good
must not stop an object for ever).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(slots=True)
class _Pending:
    since: datetime
    creations: int = 0
    removals: set[str] = field(default_factory=set)
    version: int = 0


class Expectations:
    """By the uid of the object that the controller acts for."""

    def __init__(self, patience_s: int = 300) -> None:
        self._patience = timedelta(seconds=patience_s)
        self._pending: dict[str, _Pending] = {}

    def expect_creations(self, uid: str, count: int, now: datetime) -> None:
        self._open(uid, now).creations += count

    def expect_removals(self, uid: str, pods: set[str], now: datetime) -> None:
        """Pods that will be seen gone, going, or without our finalizer."""
        self._open(uid, now).removals |= pods

    def expect_version(self, uid: str, version: str, now: datetime) -> None:
        """The object itself was written; versions of one resource are comparable numbers."""
        self._open(uid, now).version = int(version) if version.isdecimal() else 0

    def creation_seen(self, uid: str) -> None:
        if pending := self._pending.get(uid):
            pending.creations = max(0, pending.creations - 1)

    def removal_seen(self, uid: str, pod: str) -> None:
        if pending := self._pending.get(uid):
            pending.removals.discard(pod)

    def removals(self, uid: str) -> frozenset[str]:
        pending = self._pending.get(uid)
        return frozenset(pending.removals) if pending else frozenset()

    def settled(self, uid: str, version: str, now: datetime) -> bool:
        """Whether the cache, which shows `version` of the object, has caught up with all that was done."""
        pending = self._pending.get(uid)
        if pending is None:
            return True
        seen = pending.version <= (int(version) if version.isdecimal() else pending.version)
        if (seen and not pending.creations and not pending.removals) or now - pending.since > self._patience:
            del self._pending[uid]
            return True
        return False

    def forget(self, uid: str) -> None:
        self._pending.pop(uid, None)

    def _open(self, uid: str, now: datetime) -> _Pending:
        pending = self._pending.setdefault(uid, _Pending(now))
        pending.since = now
        return pending
