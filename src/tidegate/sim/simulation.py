"""The circle: let happen what is due, plan, judge the Plan, carry it out, until nothing changes any more.

    ┌──────────── what is due now (pods start, end, are gone; somebody's patience or back-off ends)
    ▼
snapshot ─► plan ─► laws ─► carried out ─► anything new? ── yes ─► again, at the same moment
    ▲                                          │ no: settled
    └────────────── the next moment ◄──────────┘
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from tidegate.scheduler import BUILT_IN, Instant, Plan, Policies, Snapshot, plan
from tidegate.sim.laws import Breach, LawChecker
from tidegate.sim.world import World, carry_out

Settled = Callable[[World, Plan], None]

_MOST_ROUNDS = 100
"""Plans in a row at one moment without anything happening but that they are carried out."""
_TOLD_A_PLAN = 64
"""To so many, on the average, every plan says why they wait: to all of them costs more than deciding, where many do."""


class Planning(Protocol):
    """Decides; and says (`reasons`) for everybody who waits why."""

    def __call__(self, snapshot: Snapshot, now: Instant, *, reasons: bool = True) -> Plan: ...


class NeverSettlesError(Exception):
    """The planner goes on deciding though nothing happens: a broken law 4, and no way to go on."""


class Simulation:
    """A world under a planner. Broken laws are kept, with the moment; `on_settled` hears of every settled moment."""

    def __init__(self, world: World, *, policies: Policies = BUILT_IN, planner: Planning | None = None) -> None:
        self.world = world
        self.planner: Planning = planner or partial(plan, policies=policies)
        self.on_settled: list[Settled] = []
        self.breaches: list[tuple[Instant, Breach]] = []
        self.plans = 0
        self.plan: Plan | None = None
        """The last one; once all is settled it changes nothing, and its reasons and standings are how things are."""
        self._laws = LawChecker()
        self._untold = 0
        """Plans since one last said why everybody waits."""

    @property
    def next_at(self) -> Instant | None:
        """When something happens by itself."""
        wake = self.plan.wake_at if self.plan is not None else None
        due = self.world.agenda.next_at
        return min((at for at in (wake, due) if at is not None), default=None)

    def go_to(self, moment: Instant) -> None:
        """Let time pass up to just before a moment, settling whenever something happens, and stand at that moment with
        all that is due then done but not yet planned for."""
        while (at := self.next_at) is not None and at < moment:
            self.step(at)
        self.world.now = moment
        self.world.agenda.happen(moment)

    def step(self, at: Instant) -> None:
        """Go to a moment at which something happens, and settle."""
        self.world.now = max(at, self.world.now)
        self.world.agenda.happen(at)
        self.settle()

    def settle(self) -> Plan:
        """Plan until a Plan changes nothing."""
        world, rounds = self.world, 0
        self.happened()
        while rounds < _MOST_ROUNDS:
            decided = self.cycle()
            rounds += 1
            if world.agenda.happen(world.now):
                self.happened()
                rounds = 0
            elif decided.is_empty:
                for listener in self.on_settled:
                    listener(world, decided)
                return decided
        raise NeverSettlesError(
            f"after {_MOST_ROUNDS} plans at {world.now}s the scheduler still moves pods though nothing happens; "
            "please report this scenario"
        )

    def happened(self) -> None:
        """The world moved, not only because a Plan was carried out: what is settled may be decided anew."""
        self._laws.something_happened()

    def cycle(self) -> Plan:
        """Plan once, judge the Plan, and carry it out."""
        snapshot, now = self.world.snapshot(), self.world.now
        self._untold += 1
        reasons = self._untold * _TOLD_A_PLAN >= len(snapshot.workloads)
        if reasons:
            self._untold = 0
        decided = self.plan = self.planner(snapshot, now, reasons=reasons)
        self.plans += 1
        self.breaches += [(now, breach) for breach in self._laws.breaches(snapshot, now, decided)]
        carry_out(decided, self.world)
        return decided

    def explained(self) -> Plan | None:
        """The last Plan of a settled world, and why everybody waits who does."""
        if self.plan is not None and not self.plan.says_why:
            self.plan = self.planner(self.world.snapshot(), self.world.now)
        return self.plan
