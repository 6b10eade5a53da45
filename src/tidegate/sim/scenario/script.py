"""What a Scenario file means once every name in it is known: a world, and moments at which things happen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.model.kinds.scenario import Expectation, Scenario
from tidegate.model.problems import Path as Field
from tidegate.scheduler import Instant
from tidegate.sim.live.adopting import Live
from tidegate.sim.load.synthetic import enter_synthetic
from tidegate.sim.load.trace import Job, enter_trace
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
    moments: tuple[Moment, ...] = ()
    jobs: tuple[Job, ...] = ()
    """Of the trace, if there is one."""
    live: Live | None = None
    """A cluster it begins with, if there is one."""

    @property
    def is_open_ended(self) -> bool:
        """Whether it goes on after its last step until everything has come to its end."""
        return self.scenario.spec.synthetic is not None or bool(self.jobs) or self.live is not None

    @property
    def last_at(self) -> Instant:
        """When the last step happens or the last workload arrives."""
        spec = self.scenario.spec
        ends = [moment.at for moment in self.moments[-1:]] + [job.at for job in self.jobs[-1:]]
        return max([*ends, spec.synthetic.until.seconds if spec.synthetic else 0])

    def world(self, seed: int = 0) -> World:
        """The world at the beginning, with all that is to come by itself."""
        spec = self.scenario.spec
        world = World(Delays(spec.delays.start.seconds, spec.delays.stop.seconds))
        if self.live is not None:
            self.live.enter(world)
        for one in self.things:
            one.apply(world)
        if spec.synthetic is not None:
            enter_synthetic(spec.synthetic, world, seed)
        if spec.trace is not None:
            enter_trace(spec.trace, list(self.jobs), world)
        return world
