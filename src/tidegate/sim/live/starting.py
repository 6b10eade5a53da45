"""When everybody who waits would start, by what a simulation came to."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler import Instant, Plan, Waiting
from tidegate.sim.live.adopting import Live
from tidegate.sim.world import World

_CURED_BY_TIME = {
    WaitingReason.WAITING_FOR_QUOTA,
    WaitingReason.WAITING_FOR_PREEMPTED,
    WaitingReason.BEHIND_IN_QUEUE,
    WaitingReason.BACKOFF,
}


@dataclass(frozen=True, slots=True)
class Start:
    """When one workload starts, counted from now; None where that cannot be told, and then what it waits for."""

    name: str
    queue: str
    at: Instant | None
    waiting: Waiting | None = None

    @property
    def is_hopeless(self) -> bool:
        """Whether it does not start however long one waits, unless somebody changes something."""
        return self.at is None and self.waiting is not None and self.waiting.reason not in _CURED_BY_TIME


def starts(live: Live, world: World, plan: Plan | None) -> list[Start]:
    """Of everybody who waited at the beginning or came since: first those who start, in that order."""
    there = {workload.name for workload in live.snapshot.workloads if workload.admitted_at is not None}
    reasons = {one.workload: one for one in reversed(plan.waiting)} if plan is not None else {}
    found = [
        Start(one.name, one.queue, at, reasons.get(one.name) if at is None else None)
        for one in world.applications.values()
        for at in [one.first_admitted_at]
        if one.name not in there and (one.active or at is not None)
    ]
    return sorted(found, key=lambda one: (one.at is None, one.at or 0, one.name))


def endless(live: Live, world: World) -> list[str]:
    """Who holds room and does not say until when: nobody can tell what comes after them."""
    if live.runs is not None:
        return []
    return sorted(
        one.name
        for one in world.waiting_or_running.values()
        if one.admitted_at is not None and one.max_run_seconds is None
    )
