"""What applications may still make that were let go with more a moment ago.

Whoever makes an application's pods may have read the larger size and not yet the smaller: it is about to make pods that
nobody asks for any more, and takes them away when it has heard of that. They would be seen when they are there, and by
then their room would be somebody else's. So what was let go and had not come when less was written counts on: until
the application's controller has said something of it since, which it can do only from what it read after that, or
until so much time has gone by that it must have heard. Controllers that had heard of neither have nothing to say.

This is known to who wrote it. Whoever takes over begins when a lease has run out, which is as long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidegate.controller.kinds import Key
from tidegate.kube.wire import Object
from tidegate.workloads import LetGo

_UNHEARD_S = 10.0
_PODS_HEARD_S = 1.0
"""After its controller has spoken: by then the news of pods that it made before have arrived."""


@dataclass(frozen=True, slots=True)
class _Less:
    """An application that was given less."""

    was: Mapping[str, LetGo]
    """By pod set: what it had been let go with."""
    said: Any
    """Its status when that was written."""
    until: float


class Lowered:
    """By Workload."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._of: dict[Key, _Less] = {}

    def lowered(self, key: Key, obj: Object, was: Mapping[str, LetGo], there: Mapping[str, int]) -> None:
        """It may make less than it was let go with, and so many of its pods have come."""
        known = self._of.get(key)
        missing = {name: each for name, each in was.items() if each.count > there.get(name, 0)}
        if known is not None:
            earlier = known.was
            more = {name: each for name, each in earlier.items() if each.count > missing.get(name, LetGo(0)).count}
            missing |= more
        if missing:
            self._of[key] = _Less(missing, obj.get("status"), self._clock() + _UNHEARD_S)

    def heard(self, key: Key, obj: Object) -> None:
        """News of an application whose pods are made by who writes its status."""
        known = self._of.get(key)
        if known is not None and known.said != obj.get("status"):
            soon = self._clock() + _PODS_HEARD_S
            self._of[key] = replace(known, said=obj.get("status"), until=min(known.until, soon))

    def forget(self, key: Key) -> None:
        self._of.pop(key, None)

    def until(self, key: Key) -> int | None:
        """When that is over; None where nothing is to come."""
        known = self._of.get(key)
        if known is not None and known.until <= self._clock():
            del self._of[key]
            return None
        return None if known is None else math.ceil(known.until)

    def beside(self, key: Key, active: Mapping[str, LetGo]) -> Mapping[str, LetGo]:
        """What there is by the words of its controller, with what that may make before it hears of less."""
        if self.until(key) is None:
            return active
        was = self._of[key].was
        more = {name: each for name, each in was.items() if each.count > active.get(name, LetGo(0)).count}
        return {**active, **more}
