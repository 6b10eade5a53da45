"""The local copy of a collection: objects by key, indexes over them, and the handlers that hear of every change."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, ValuesView
from typing import Generic, TypeVar

from tidegate.kube.metadata import identifier

T = TypeVar("T")

Key = tuple[str, str]
Change = Callable[[T | None, T | None], None]
Indexes = dict[str, Callable[[T], Iterable[str]]]

_log = logging.getLogger(__name__)


class Copy(Generic[T]):
    """What the server holds, as far as we know. Handlers hear of each object: appeared, changed any number of times,
    gone; a new object under an old name (another uid) is first the old one gone, then the new one appeared."""

    def __init__(self, kind: type[T], indexes: Indexes[T] | None = None) -> None:
        self._identity = identifier(kind)
        self._objects: dict[Key, T] = {}
        self._indexes = indexes or {}
        self._indexed: dict[str, dict[str, dict[Key, T]]] = {name: {} for name in self._indexes}
        self._handlers: list[Change[T]] = []

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: Key) -> T | None:
        return self._objects.get(key)

    def all(self) -> ValuesView[T]:
        return self._objects.values()

    def by(self, index: str, value: str) -> list[T]:
        return list(self._indexed[index].get(value, {}).values())

    def subscribe(self, handler: Change[T]) -> None:
        """Who comes late first hears of everything there is."""
        self._handlers.append(handler)
        for obj in list(self._objects.values()):
            self._tell(handler, None, obj)

    def put(self, obj: T) -> bool:
        """Takes over an object; False when our copy held another object of that name, so a deletion went unseen."""
        key = self._identity(obj).key
        old = self._objects.get(key)
        replaced = old is not None and self._identity(old).uid != self._identity(obj).uid
        if replaced:
            self.drop(key)
            old = None
        if old is None or self._identity(old).resource_version != self._identity(obj).resource_version:
            self._change(key, old, obj)
        return not replaced

    def drop(self, key: Key) -> None:
        """Forgets an object. Handlers get the state they were told last, so what they added up they can take away."""
        old = self._objects.get(key)
        if old is not None:
            self._change(key, old, None)

    def replace(self, objects: list[T]) -> None:
        """Takes over a whole new list: what it lacks is gone, and handlers hear of that first."""
        uids = {who.key: who.uid for who in map(self._identity, objects)}
        for key, old in list(self._objects.items()):
            if uids.get(key) != self._identity(old).uid:
                self.drop(key)
        for obj in objects:
            self.put(obj)

    def _change(self, key: Key, old: T | None, new: T | None) -> None:
        if old is not None:
            self._unindex(key, old)
        if new is None:
            del self._objects[key]
        else:
            self._objects[key] = new
            self._index(key, new)
        for handler in self._handlers:
            self._tell(handler, old, new)

    def _tell(self, handler: Change[T], old: T | None, new: T | None) -> None:
        # One handler's mistake must neither stop the copy nor rob the other handlers of the change.
        try:
            handler(old, new)
        except Exception:
            _log.exception("A handler failed on a change of %s.", self._identity(new if new is not None else old).key)

    def _index(self, key: Key, obj: T) -> None:
        for name in self._indexes:
            for value in self._values(name, obj):
                self._indexed[name].setdefault(value, {})[key] = obj

    def _unindex(self, key: Key, obj: T) -> None:
        for name, table in self._indexed.items():
            for value in self._values(name, obj):
                if (held := table.get(value)) is not None:
                    held.pop(key, None)
                    if not held:
                        del table[value]

    def _values(self, index: str, obj: T) -> list[str]:
        try:
            return list(self._indexes[index](obj))
        except Exception:
            _log.exception("The index %s failed on %s; it is left out there.", index, self._identity(obj).key)
            return []
