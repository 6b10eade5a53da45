"""Measures over a whole run: how long people waited, how fair it was, what was used, and what was lost.

Everything is weighted by time. A queue *wants* while something of it waits. Fairness is Jain's index over the dominant
shares (over the weights) of all queues that want at the same moment: 1 is perfectly even, 1/n is one queue having all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tidegate.model.resources import Resources
from tidegate.sim.results.history import History, Sample
from tidegate.sim.world import Application, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Seconds from submission to first admission."""

    mean: Fraction
    p50: int
    p90: int
    p99: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Of one queue, or of all together."""

    submitted: int
    finished: int
    never_admitted: int
    waits: Waits | None
    """None where nobody was admitted."""
    evictions: int
    shrinks: int
    work_lost: Mapping[str, int]
    """By resource: amount x seconds of pods that ran for nothing."""
    below_deserved: Fraction
    """Of the time in which it wanted, the part in which it held less than it deserved,"""
    below_deserved_seconds: int
    """and how long that was; of all together, added up."""
    used: Mapping[str, Fraction]
    """By resource: the average part of the capacity it held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A run in numbers."""

    seconds: int
    fairness: Fraction | None
    """Jain's index; None where never two queues wanted at once."""
    overall: Measures
    by_queue: Mapping[str, Measures]


def summary(world: World, history: History) -> Summary:
    """All measures of a run."""
    queues = sorted(world.queues)
    by_queue: dict[str, list[Application]] = {queue: [] for queue in queues}
    for application in world.applications.values():
        by_queue.setdefault(application.queue, []).append(application)
    below = {queue: _below_deserved(queue, history) for queue in by_queue}
    overall = (sum(short for short, _ in below.values()), sum(wanted for _, wanted in below.values()))
    total_lost: dict[str, int] = {}
    for lost in world.work_lost.values():
        for resource, amount in lost.items():
            total_lost[resource] = total_lost.get(resource, 0) + amount
    everybody = list(world.applications.values())
    return Summary(
        seconds=history.end,
        fairness=_fairness(history, world),
        overall=_measures(everybody, total_lost, overall, _used(_roots(world, history), history)),
        by_queue={
            queue: _measures(
                members,
                world.work_lost.get(queue, {}),
                below[queue],
                _used([queue], history),
            )
            for queue, members in by_queue.items()
        },
    )


def _measures(
    members: Sequence[Application], lost: Mapping[str, int], below: tuple[int, int], used: Mapping[str, Fraction]
) -> Measures:
    waited = sorted(one.first_admitted_at - one.created for one in members if one.first_admitted_at is not None)
    return Measures(
        submitted=len(members),
        finished=sum(one.finished_at is not None for one in members),
        never_admitted=len(members) - len(waited),
        waits=_waits(waited) if waited else None,
        evictions=sum(one.evictions for one in members),
        shrinks=sum(one.shrinks for one in members),
        work_lost=lost,
        below_deserved=Fraction(*below) if below[1] else Fraction(0),
        below_deserved_seconds=below[0],
        used=used,
    )


def _waits(waited: Sequence[int]) -> Waits:
    return Waits(
        mean=Fraction(sum(waited), len(waited)),
        p50=percentile(waited, 50),
        p90=percentile(waited, 90),
        p99=percentile(waited, 99),
        most=waited[-1],
    )


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest value that at least so many percent do not exceed."""
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def dominant(held: Resources, capacity: Mapping[str, int]) -> Fraction:
    """The largest part of any resource's capacity."""
    return max((Fraction(held.of(name), there) for name, there in capacity.items() if there), default=Fraction(0))


def _below_deserved(queue: str, history: History) -> tuple[int, int]:
    """Seconds below what it deserved while it wanted, and seconds it wanted."""
    short = wanted = 0
    for sample, seconds in history.spans():
        standing = sample.standings.get(queue)
        if standing is not None and standing.wants_more:
            wanted += seconds
            held, due = (dominant(one.total(), sample.capacity) for one in (standing.allocated, standing.deserved))
            short += seconds if held < due else 0
    return short, wanted


def _fairness(history: History, world: World) -> Fraction | None:
    total, time = Fraction(0), 0
    for sample, seconds in history.spans():
        wanting = (queue for queue, standing in sample.standings.items() if standing.wants_more)
        index = _jain([_weighted_share(queue, sample, world) for queue in wanting])
        if index is not None:
            total += index * seconds
            time += seconds
    # Sums of thousands of fractions have endless denominators; a billionth is exact enough for a measure.
    return Fraction(round(total / time * 10**9), 10**9) if time else None


def _weighted_share(queue: str, sample: Sample, world: World) -> Fraction:
    standing, spec = sample.standings.get(queue), world.queues.get(queue)
    if standing is None or spec is None:
        return Fraction(0)
    return dominant(standing.allocated.total(), sample.capacity) / spec.weight


def _jain(shares: Sequence[Fraction]) -> Fraction | None:
    squares = sum(share * share for share in shares)
    if len(shares) < 2 or not squares:
        return None
    rounded = Fraction(sum(shares) ** 2, len(shares) * squares)
    return Fraction(round(rounded * 10**9), 10**9)


def _used(places: Sequence[str], history: History) -> dict[str, Fraction]:
    held: dict[str, int] = {}
    there: dict[str, int] = {}
    for sample, seconds in history.spans():
        for resource, amount in sample.capacity.items():
            there[resource] = there.get(resource, 0) + amount * seconds
            total = sum(
                sample.standings[one].allocated.total().of(resource) for one in places if one in sample.standings
            )
            held[resource] = held.get(resource, 0) + total * seconds
    return {resource: Fraction(held.get(resource, 0), amount) for resource, amount in there.items() if amount}


def _roots(world: World, history: History) -> list[str]:
    known = history.samples[-1].standings if history.samples else {}
    return [
        name
        for name in known
        if name not in world.queues and (name not in world.cluster_queues or world.cluster_queues[name].parent is None)
    ]
