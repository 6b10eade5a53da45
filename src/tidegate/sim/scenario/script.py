"""What a Scenario file means once every name in it is known: a world, and moments at which things happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidegate.model.kinds.scenario import Expectation, Scenario
from tidegate.model.problems import Path as Field
from tidegate.scheduler import Instant
from tidegate.sim.scenario.objects import Thing
from tidegate.sim.scenario.source import Document
from tidegate.sim.world import Delays, World


@dataclass(frozen=True, slots=True)
class Action:
    """Something that happens to the world, and the field that says so."""

    field: Field
    do: Callable[[World], None]


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be so, and of whom: a workload or a place in the tree."""

    field: Field
    expectation: Expectation
    workload: str | None = None
    """namespace/name."""
    place: str | None = None
    """A ClusterQueue's name, or a Queue's namespace/name."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One step: what happens, seen by one plan, and what must then be so."""

    at: Instant
    actions: tuple[Action, ...]
    expected: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A scenario that can be played."""

    name: str
    document: Document
    scenario: Scenario
    things: tuple[Thing, ...]
    moments: tuple[Moment, ...] = field(default=())

    def world(self) -> World:
        """The world at the beginning."""
        delays = self.scenario.spec.delays
        world = World(Delays(delays.start.seconds, delays.stop.seconds))
        for one in self.things:
            one.apply(world)
        return world
