"""What the operator tells whoever counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from tidegate.scheduler import Plan, Snapshot
from tidegate.scheduler import Workload as SeenWorkload

Find = Callable[[str], SeenWorkload | None]
"""A workload by namespace/name."""


class Tally(Protocol):
    """Counts; is called once a cycle, and must be quick."""

    def cycle(self, duration_s: float, *, completed: bool) -> None:
        """A cycle has ended."""

    def told(self, plan: Plan, find: Find, snapshot: Snapshot, now: int) -> None:
        """This of a Plan was written down."""


class _Uncounted:
    def cycle(self, duration_s: float, *, completed: bool) -> None:
        """Nobody wants to know."""

    def told(self, plan: Plan, find: Find, snapshot: Snapshot, now: int) -> None:
        """Nobody wants to know."""


UNCOUNTED: Tally = _Uncounted()
