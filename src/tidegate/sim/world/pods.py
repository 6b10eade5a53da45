"""The pods of one pod set, in batches that are alike: granted together, started together.

    granted ─► held ─► starting ─► running ─► ended well
                 │         └────┬─────┘  └──► failed: starts again in its own place
                 └─► (gone)     └─► going ─► gone

Held pods wait for others to go and do not exist yet. Going pods have no grant any more and still take their room.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from tidegate.model.resources import NOTHING, Resources
from tidegate.scheduler import Instant, PodSet


class Phase(Enum):
    """Where pods are on their way."""

    HELD = "held"
    STARTING = "starting"
    RUNNING = "running"
    GOING = "going"


GRANTED = (Phase.HELD, Phase.STARTING, Phase.RUNNING)
PRESENT = (Phase.STARTING, Phase.RUNNING, Phase.GOING)


@dataclass(slots=True, eq=False)
class Batch:
    """Pods of one flavor between which nothing can tell a difference."""

    flavor: str
    count: int
    phase: Phase
    since: Instant
    """When they came into this phase."""


@dataclass(slots=True, eq=False)
class PodGroup:
    """A pod set and its pods."""

    name: str
    count: int
    floor: int
    step: int = 1
    max_count: int | None = None
    requests: Resources = NOTHING
    node_selector: dict[str, str] = field(default_factory=dict)
    mixes: bool = True
    runs: int | None = None
    """How many seconds each pod runs; None: until somebody ends it."""
    ended: int = 0
    batches: list[Batch] = field(default_factory=list)
    """Oldest first."""

    @property
    def desired(self) -> int:
        return self.count if self.max_count is None else min(self.count, self.max_count)

    @property
    def attainable(self) -> int:
        """What can be granted in the end: what is desired, in whole steps above the floor."""
        above = max(0, self.desired - self.floor)
        return self.desired - above % self.step

    def in_phase(self, *phases: Phase) -> Iterator[Batch]:
        return (batch for batch in self.batches if batch.phase in phases)

    def counts(self, *phases: Phase) -> dict[str, int]:
        """Pods by flavor."""
        total: dict[str, int] = {}
        for batch in self.in_phase(*phases):
            total[batch.flavor] = total.get(batch.flavor, 0) + batch.count
        return dict(sorted(total.items()))

    @property
    def granted(self) -> dict[str, int]:
        return self.counts(*GRANTED)

    def enter(self, flavor: str, count: int, phase: Phase, now: Instant) -> Batch:
        batch = Batch(flavor, count, phase, now)
        self.batches.append(batch)
        return batch

    def take(self, batch: Batch, count: int) -> None:
        """Remove pods from a batch."""
        batch.count -= count
        if not batch.count:
            self.batches.remove(batch)

    def newest(self, flavor: str, count: int) -> Iterator[tuple[Batch, int]]:
        """So many granted pods of a flavor: those that had not started, then the newest."""
        held = [batch for batch in self.batches if batch.phase is Phase.HELD and batch.flavor == flavor]
        there = [batch for batch in self.in_phase(Phase.STARTING, Phase.RUNNING) if batch.flavor == flavor]
        yield from _some([*reversed(held), *reversed(there)], count)

    def held(self, flavor: str, count: int) -> Iterator[tuple[Batch, int]]:
        """So many held pods of a flavor, the oldest first."""
        yield from _some([batch for batch in self.in_phase(Phase.HELD) if batch.flavor == flavor], count)

    def oldest(self, count: int) -> Iterator[tuple[Batch, int]]:
        """So many pods that run, or at least exist, the longest first."""
        yield from _some([*self.in_phase(Phase.RUNNING), *self.in_phase(Phase.STARTING)], count)

    def view(self) -> PodSet:
        """As the scheduler sees it."""
        return PodSet(
            name=self.name,
            count=self.desired,
            floor=self.floor,
            step=self.step,
            requests=self.requests,
            node_selector=self.node_selector,
            mixes=self.mixes,
            granted=self.granted,
            held=self.counts(Phase.HELD),
            present=self.counts(*PRESENT),
            ended=self.ended,
        )


def _some(batches: list[Batch], count: int) -> Iterator[tuple[Batch, int]]:
    for batch in batches:
        if not count:
            return
        some = min(count, batch.count)
        count -= some
        yield batch, some
