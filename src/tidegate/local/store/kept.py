"""`Kept`: something derived from whole collections, made again only when one of them has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from tidegate.local.store.store import Store

T = TypeVar("T")


class Kept(Generic[T]):
    """Called for its value. Reads what is committed, so it is never ahead of what anybody was told."""

    def __init__(self, store: Store, buckets: tuple[str, ...], make: Callable[[], T]) -> None:
        self._store = store
        self._buckets = buckets
        self._make = make
        self._of: tuple[int, ...] | None = None
        self._value: T

    def __call__(self) -> T:
        now = tuple([self._store.changed(bucket) for bucket in self._buckets])
        if self._of != now:
            self._value = self._make()
            self._of = now
        return self._value
