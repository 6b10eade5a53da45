"""Taken: what a plan takes back, from whom, by which rule and for whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.plan import Rule
from tidegate.scheduler.tree.cells import Need, total


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods of one pod set and flavor that were taken, and how many of them had not been free to start."""

    index: int
    flavor: str
    count: int
    held: int


@dataclass(slots=True, eq=False)
class Taken:
    """Something taken back: from whom, by which rule, for whom."""

    holding: Holding
    pods: tuple[Pods, ...]
    rule: Rule
    evicts: bool
    asked_by: str | None = None
    inherits: tuple[Taken, ...] = ()
    """What others had given for its holder a moment ago: they gave it for whoever takes it now."""
    was_for: dict[Taken, tuple[str | None, Rule]] = field(default_factory=dict)
    """Of what it inherits: for whom that was when this was put back, and by which rule."""
    needed_by: str | None = field(init=False)
    """Who has it in the end: at first who asked for it."""
    asked_by_rule: Rule = field(init=False)

    def __post_init__(self) -> None:
        self.needed_by, self.asked_by_rule = self.asked_by, self.rule


def need_of(holding: Holding, pods: Iterable[Pods]) -> Need:
    """What some of a workload's pods take."""
    assert holding.queue is not None
    axes, pod_sets = holding.queue.axes, holding.workload.pod_sets
    return total(axes.pods(pod_sets[some.index].requests, some.flavor, some.count) for some in pods)


def total_of(taken: Taken) -> Need:
    """All that was taken."""
    return need_of(taken.holding, taken.pods)


def covering(need: Need, given: Iterable[Taken]) -> Iterator[Taken]:
    """The first of these that are as much together."""
    left = dict(need)
    for taken in given:
        gives = [(axis, amount) for axis, amount in total_of(taken) if left.get(axis, 0) > 0]
        if gives:
            yield taken
        for axis, amount in gives:
            left[axis] -= amount
