"""Who waits, and why: a line of the timeline when somebody begins to, or waits for another reason than before."""

from __future__ import annotations

from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler import Plan, message
from tidegate.sim.world import World

_Ask = tuple[str, str | None]
"""A workload, and which pod set would grow; None for its floor."""


class WaitingLines:
    """Remembers what everybody was told. Numbers change all the time; the reason is what makes a new line."""

    def __init__(self) -> None:
        self._told: dict[_Ask, WaitingReason] = {}

    def record(self, world: World, plan: Plan) -> None:
        if not plan.says_why:
            return
        before, self._told = self._told, {}
        for one in plan.waiting:
            ask = (one.workload, one.pod_set)
            if one.workload not in world.applications:
                continue  # It was deleted, and its pods are on their way out.
            self._told[ask] = one.reason
            if before.get(ask) is not one.reason:
                growth = f" (to grow {one.pod_set})" if one.pod_set else ""
                world.tell("wait", one.workload, f"{one.reason}{growth}: {message(one)}")
