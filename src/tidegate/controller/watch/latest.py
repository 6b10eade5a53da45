"""The newest we know of each object: what the informer has, or what we wrote ourselves and it has not heard of yet.

Between a write and its echo a copy is stale; to plan from it would be to grant twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from tidegate.controller.kinds import Key, key_of
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Object

_REMEMBERED = 4096


class Latest:
    """One collection, with our own writes ahead of the watch."""

    def __init__(self, informer: Informer[Object], names: Callable[[Object], Iterable[str]] = lambda obj: ()) -> None:
        """`names`: what objects that we made are found by, as long as nobody else has told of them."""
        self._informer = informer
        self._names = names
        self._written: dict[Key, Object] = {}
        self._made: dict[str, dict[Key, Object]] = {}
        """Of those, by name, what the informer has not heard of at all."""
        self._gone: OrderedDict[str, None] = OrderedDict()
        """Uids of objects that were deleted lately: an answer about one may come after the news of its end."""
        self._on_lost: list[Callable[[Object], None]] = []
        informer.on_change(self._heard)
        informer.on_list(self._listed)

    def on_lost(self, handler: Callable[[Object], None]) -> None:
        """Called with what we wrote and is gone, when no event told of that and none will."""
        self._on_lost.append(handler)

    def get(self, key: Key) -> Object | None:
        return self._written.get(key) or self._informer.get(key[1], key[0])

    def all(self) -> Iterator[Object]:
        for obj in list(self._informer.all()):
            yield self._written.get(key_of(obj), obj)

    def made(self, name: str) -> list[Object]:
        """What we made and the informer has not heard of yet, by one of its names."""
        return list(self._made.get(name, {}).values())

    def wrote(self, obj: Object) -> bool:
        """What the server answered to a write or a read of ours; whether it is ahead of what was heard."""
        if obj["metadata"].get("uid") in self._gone:
            return False
        key = key_of(obj)
        known = self._informer.get(key[1], key[0])
        if known is not None and _revision(known) >= _revision(obj):
            return False
        self._forget(key)
        self._written[key] = obj
        if known is None:
            for name in self._names(obj):
                self._made.setdefault(name, {})[key] = obj
        return True

    def gone(self, key: Key) -> None:
        """The server says that it is not there."""
        self._forget(key)

    def _forget(self, key: Key) -> None:
        self._now_known(key)
        self._written.pop(key, None)

    def _now_known(self, key: Key) -> None:
        """It is found by the informer's own indexes from now on."""
        for name in self._names(self._written[key]) if key in self._written else ():
            made = self._made.get(name, {})
            made.pop(key, None)
            if not made:
                self._made.pop(name, None)

    def _heard(self, old: Object | None, new: Object | None) -> None:
        obj = new if new is not None else old
        if obj is None:
            return
        if new is None:
            self._gone[str(obj["metadata"].get("uid"))] = None
            if len(self._gone) > _REMEMBERED:
                self._gone.popitem(last=False)
        key = key_of(obj)
        written = self._written.get(key)
        if written is None:
            return
        if new is None or _revision(new) >= _revision(written):
            self._forget(key)
        else:
            self._now_known(key)

    def _listed(self, version: str) -> None:
        """What was made before a list and is not in it is gone, and no event will tell."""
        for key, written in list(self._written.items()):
            if self._informer.get(key[1], key[0]) is None and version.isdigit() and _revision(written) <= int(version):
                self._forget(key)
                for handler in self._on_lost:
                    handler(written)


def _revision(obj: Object) -> int:
    """Servers promise nothing of these but that they are numbers that grow; one that is not counts as the newest."""
    text = str(obj["metadata"].get("resourceVersion") or "")
    return int(text) if text.isdigit() else 1 << 63
