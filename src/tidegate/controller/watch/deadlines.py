"""When Workloads that may not run for ever must have ended, soonest first."""

from __future__ import annotations

from heapq import heappop, heappush

from tidegate.controller.kinds import Key


class Deadlines:
    """Moments at which a Workload is to be looked at. One too many does no harm: whoever looks decides."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, Key]] = []
        self._known: dict[Key, int] = {}

    def expect(self, key: Key, at: int | None) -> None:
        """Look at it then; None: there is no such moment, or no longer."""
        if at is None:
            self._known.pop(key, None)
        elif self._known.get(key) != at:
            self._known[key] = at
            heappush(self._heap, (at, key))

    def due(self, now: int) -> set[Key]:
        """Whose moment has come."""
        found = set()
        while self._heap and self._heap[0][0] <= now:
            at, key = heappop(self._heap)
            if self._known.get(key) == at:
                del self._known[key]
                found.add(key)
        return found

    def next(self) -> int | None:
        """The next moment."""
        while self._heap and self._known.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else None
