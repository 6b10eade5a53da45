"""When a workload that waits would start: the cluster as it is, played on by the planner that decides there."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.kube.client import Client
    from tidegate.sim.live.adopting import Live

_MOST_WAITING = 2_000
"""Where more wait, playing on takes longer than anybody waits for an answer."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """In how many seconds it starts at the latest, if nobody else comes; else why that cannot be told."""

    in_s: int | None = None
    because: str = ""


async def estimate(client: Client, namespace: str, name: str) -> Estimate:
    """For a Workload. Nothing is guessed: only what says how long it runs at most is taken to end."""
    from tidegate.kube.client import StatusError
    from tidegate.sim.live.adopting import Live
    from tidegate.sim.live.reading import read_cluster

    try:
        snapshot = await read_cluster(client)
    except StatusError as refused:
        if refused.code == 403:
            return Estimate(because="you may not read all that it depends on")
        raise
    if sum(one.admitted_at is None for one in snapshot.workloads) > _MOST_WAITING:
        return Estimate(because="too many wait; ask `tidegate simulate --from-cluster`")
    return played(Live(snapshot, int(time.time())), f"{namespace}/{name}")


def played(live: Live, name: str) -> Estimate:
    """What comes of a cluster, for one of those who wait there."""
    from tidegate.controller.policies import PolicyError, known_policies
    from tidegate.sim.live.starting import endless, starts
    from tidegate.sim.scenario.playing import play
    from tidegate.sim.scenario.reading import script_of_live

    try:
        result = play(script_of_live(live), policies=known_policies())
    except PolicyError as error:
        return Estimate(because=str(error).rstrip("."))
    found = next((one for one in starts(live, result.world, result.plan) if one.name == name), None)
    if found is not None and found.at is not None:
        return Estimate(found.at)
    if found is None or found.is_hopeless:
        return Estimate(because="time alone does not let it in; something has to change")
    holders = [one for one in endless(live, result.world) if one != name]
    if not holders:
        return Estimate(because="nothing that runs is known to end")
    how = "does not say how long it runs" if len(holders) == 1 else "do not say how long they run"
    return Estimate(because=f"{_named(holders)} {how}")


def _named(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} others" if len(names) > 3 else "")
