"""Asks: what is granted at one stroke. A floor is one ask; above it, one step of one pod set is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

from tidegate.scheduler.holding import Holding
from tidegate.scheduler.snapshot import Instant, PodSet
from tidegate.scheduler.tree import TreeNode


@dataclass(frozen=True, slots=True)
class Part:
    """So many pods of one pod set."""

    index: int
    pod_set: PodSet
    count: int
    splits: bool
    """Whether these pods may be of several flavors."""
    flavor: str | None = None
    """The only flavor they may have: where all pods are made from one template, that of those already granted."""


@dataclass(frozen=True)
class Ask:
    """A floor, or one step of growth."""

    holding: Holding
    queue: TreeNode
    parts: tuple[Part, ...]
    is_floor: bool
    impatient: bool = False
    """Whether it has waited longer than its ClusterQueue's patience."""

    @property
    def name(self) -> str:
        return self.holding.workload.name

    @property
    def priority(self) -> int:
        return self.holding.workload.priority

    @property
    def created(self) -> Instant:
        return self.holding.workload.created

    @property
    def pod_set(self) -> str | None:
        """Which pod set grows; None for a floor, which is all of them."""
        return None if self.is_floor else self.parts[0].pod_set.name

    @property
    def pods(self) -> int:
        return sum(part.count for part in self.parts)

    @cached_property
    def shape(self) -> Hashable:
        """Equal for asks of one Queue between which fitting and making room cannot tell a difference. (That an equal
        ask is younger only matters where it may take the floor of one that is younger still.)"""
        pods = tuple(
            (part.count, part.pod_set.requests, frozenset(part.pod_set.node_selector.items()), part.splits, part.flavor)
            for part in self.parts
        )
        return (pods, self.is_floor, self.priority, self.impatient, self.holding.workload.max_run_seconds)


def floor_of(holding: Holding, *, impatient: bool = False) -> Ask:
    """The gang: every pod set's floor."""
    assert holding.queue is not None
    parts = tuple(
        Part(index, pod_set, pod_set.least, pod_set.mixes)
        for index, pod_set in enumerate(holding.workload.pod_sets)
        if pod_set.least
    )
    return Ask(holding, holding.queue, parts, is_floor=True, impatient=impatient)


def growth_of(holding: Holding, index: int) -> Ask | None:
    """The next step of one pod set, if it wants one."""
    assert holding.queue is not None
    pod_set = holding.workload.pod_sets[index]
    granted = holding.count(index)
    # Where the floor was raised while it runs, what is missing of it is as indivisible as the floor.
    step = pod_set.least - granted if granted < pod_set.least else pod_set.step
    if granted + step > pod_set.wanted:
        return None
    held = holding.granted[index]
    flavor = None if pod_set.mixes else next(iter(sorted(name for name, count in held.items() if count)), None)
    return Ask(holding, holding.queue, (Part(index, pod_set, step, False, flavor),), is_floor=False)
