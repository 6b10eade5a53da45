"""What is due when: the virtual clock's only gear."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from tidegate.scheduler import Instant

Event = Callable[[], None]


class Agenda:
    """Events in order of time; those of one moment in the order in which they were entered."""

    def __init__(self) -> None:
        self._due: list[tuple[Instant, int, Event]] = []
        self._entered = 0

    def enter(self, at: Instant, event: Event) -> None:
        heappush(self._due, (at, self._entered, event))
        self._entered += 1

    @property
    def next_at(self) -> Instant | None:
        """When something is due next."""
        return self._due[0][0] if self._due else None

    def happen(self, now: Instant) -> int:
        """Let everything happen that is due by now, also what that brings about at once. Returns how much it was."""
        count = 0
        while self._due and self._due[0][0] <= now:
            _, _, event = heappop(self._due)
            event()
            count += 1
        return count
