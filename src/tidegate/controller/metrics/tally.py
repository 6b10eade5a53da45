"""What the operator tells whoever counts."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Protocol

from tidegate.controller.kinds import Key
from tidegate.scheduler import Plan, Snapshot
from tidegate.scheduler import Workload as SeenWorkload

Find = Callable[[str], SeenWorkload | None]
"""A workload by namespace/name."""


class Tally(Protocol):
    """Counts; is called once a cycle, and must be quick."""

    def cycle(self, duration_s: float, *, completed: bool) -> None:
        """A cycle has ended."""

    def told(self, plan: Plan, failed: Container[Key], find: Find, snapshot: Snapshot, now: int) -> None:
        """A Plan was written down, but for those whose write failed."""


class _Uncounted:
    def cycle(self, duration_s: float, *, completed: bool) -> None:
        """Nobody wants to know."""

    def told(self, plan: Plan, failed: Container[Key], find: Find, snapshot: Snapshot, now: int) -> None:
        """Nobody wants to know."""


UNCOUNTED: Tally = _Uncounted()
