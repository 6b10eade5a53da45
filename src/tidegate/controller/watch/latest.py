"""The newest we know of each object: what the informer has, or what we wrote ourselves and it has not heard of yet.

Between a write and its echo a copy is stale; to plan from it would be to grant twice.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from tidegate.controller.kinds import Key, key_of
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Object

_REMEMBERED = 4096


class Latest:
    """One collection, with our own writes ahead of the watch."""

    def __init__(self, informer: Informer[Object]) -> None:
        self._informer = informer
        self._written: dict[Key, Object] = {}
        self._gone: OrderedDict[str, None] = OrderedDict()
        """Uids of objects that were deleted lately: an answer about one may come after the news of its end."""
        informer.on_change(self._heard)

    def get(self, key: Key) -> Object | None:
        return self._written.get(key) or self._informer.get(key[1], key[0])

    def all(self) -> Iterator[Object]:
        for obj in list(self._informer.all()):
            yield self._written.get(key_of(obj), obj)

    def wrote(self, obj: Object) -> bool:
        """What the server answered to a write or a read of ours; whether it is ahead of what was heard."""
        if obj["metadata"].get("uid") in self._gone:
            return False
        known = self._informer.get(str(obj["metadata"]["name"]), str(obj["metadata"].get("namespace") or ""))
        if known is not None and _revision(known) >= _revision(obj):
            return False
        self._written[key_of(obj)] = obj
        return True

    def gone(self, key: Key) -> None:
        """The server says that it is not there."""
        self._written.pop(key, None)

    def _heard(self, old: Object | None, new: Object | None) -> None:
        obj = new if new is not None else old
        if obj is None:
            return
        if new is None:
            self._gone[str(obj["metadata"].get("uid"))] = None
            if len(self._gone) > _REMEMBERED:
                self._gone.popitem(last=False)
        written = self._written.get(key_of(obj))
        if written is not None and (new is None or _revision(new) >= _revision(written)):
            del self._written[key_of(obj)]


def _revision(obj: Object) -> int:
    """Servers promise nothing of these but that they are numbers that grow; one that is not counts as the newest."""
    text = str(obj["metadata"].get("resourceVersion") or "")
    return int(text) if text.isdigit() else 1 << 63
