"""Places: where the asks of a row stand, smallest first, with the first always at hand.

Most come in order and leave from the front, and a row may be a million long. So there is a *run* in order, to whose end
is appended and from whose front is taken, and a small heap of those who came *late*, out of order, that is merged into
the run before it grows as long. Who leaves from behind is only noted, and passed over when it would be the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

Place = tuple[Any, ...]
"""Where an ask stands in its row, the smallest first: a floor by age, growth by the workload's own share, then age."""

_FEW = 16


class Places:
    """Places in order; no two are equal."""

    __slots__ = ("_front", "_gone", "_late", "_run", "first")

    def __init__(self) -> None:
        self.first: Place | None = None
        """None when there is nobody."""
        self._run: list[Place] = []
        self._front = 0
        """Where in the run its first is."""
        self._late: list[Place] = []
        self._gone: set[Place] = set()

    def add(self, at: Place) -> bool:
        """Somebody comes; whether they are the first now."""
        if self._gone and at in self._gone:
            self._gone.remove(at)
            return False
        run, late = self._run, self._late
        if not run or at > run[-1]:
            run.append(at)
        else:
            heappush(late, at)
            if len(late) > _FEW + len(run) - self._front:
                self._sort()
        is_first = self.first is None or at < self.first
        if is_first:
            self.first = at
        return is_first

    def remove(self, at: Place) -> None:
        """Somebody behind the first leaves."""
        self._gone.add(at)
        if len(self._gone) > _FEW + (len(self._run) - self._front + len(self._late)) // 2:
            self._sort()

    def remove_first(self) -> None:
        """The first leaves."""
        gone = self._gone
        while True:
            self._drop(self.first)
            run, late, front = self._run, self._late, self._front
            self.first = run[front] if front < len(run) else None
            if late and (self.first is None or late[0] < self.first):
                self.first = late[0]
            if not gone or self.first not in gone:
                return
            gone.remove(self.first)

    def _drop(self, first: Place | None) -> None:
        if self._late and self._late[0] is first:
            heappop(self._late)
            return
        self._front += 1
        if self._front > _FEW + len(self._run) // 2:
            del self._run[: self._front]
            self._front = 0

    def in_order(self) -> Iterator[Place]:
        """All of them."""
        there = sorted((*self._run[self._front :], *self._late))
        return (at for at in there if at not in self._gone)

    def _sort(self) -> None:
        self._run, self._front, self._late = list(self.in_order()), 0, []
        self._gone.clear()
