"""Asks: what is granted at one stroke. A floor is one ask; above it, one step of one pod set is.

Asks of one Queue between which neither fitting nor making room can tell a difference stand in one *row*: what is found
out for its first is known for all of them. That is why the cost of a cycle does not grow with what is waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from tidegate.model.resources import Resources
from tidegate.scheduler.line.holding import Holding
from tidegate.scheduler.line.places import Place, Places
from tidegate.scheduler.snapshot import PodSet, Workload
from tidegate.scheduler.tree.cells import Need, total
from tidegate.scheduler.tree.flavors import Flavors, Hosting
from tidegate.scheduler.tree.node import TreeNode


class Part(NamedTuple):
    """So many pods of one pod set."""

    pod_set: int
    """Its index."""
    pods: int
    requests: Resources
    node_selector: frozenset[tuple[str, str]]
    splits: bool
    """Whether these pods may be of several flavors."""
    flavor: str | None = None
    """The only flavor they may have: where all pods are made from one template, that of those already granted."""


class Kind(NamedTuple):
    """What asks of one row have in common."""

    parts: tuple[Part, ...]
    is_floor: bool
    priority: int
    impatient: bool
    """Whether it has waited longer than its ClusterQueue's patience."""
    max_run_seconds: int | None


@dataclass(frozen=True, slots=True)
class Placement:
    """Pods by pod set and flavor, and what they take."""

    pods: tuple[tuple[int, str, int], ...]
    """Index of the pod set, flavor, count."""
    need: Need


class Row(Places):
    """Asks of one Queue and one kind, in order."""

    __slots__ = ("_ask", "age_at", "failed", "hosts", "kind", "only", "pieces", "pods", "queue", "rank", "whole")

    def __init__(self, queue: TreeNode, kind: Kind, flavors: Flavors) -> None:
        super().__init__()
        self.queue = queue
        self.kind = kind
        self.rank = (-kind.priority, not kind.is_floor)
        """Rows of a Queue: by priority, then floors before growth."""
        self.age_at = 0 if kind.is_floor else 1
        """Where in a place the age of a workload stands, its name behind it."""
        self.pods = sum(part.pods for part in kind.parts)
        self.failed = False
        """Its first was looked at and does not fit: nobody of this row does, for now."""
        self.hosts = tuple(tuple(hosts(part, queue, flavors)) for part in kind.parts)
        """For every part the flavors that could host it, in order, and what its pods take there."""
        self.only: Placement | None = None
        """Where it must stand if it fits at all; None where there is a choice."""
        if all(len(options) == 1 for options in self.hosts):
            self.only = placed(self, [options[0][0] for options in self.hosts])
        self.whole: list[Placement] = []
        """Where a single part could stand in one flavor, in order of preference."""
        if self.only is None and len(kind.parts) == 1:
            self.whole = [placed(self, [flavor]) for flavor, _ in self.hosts[0]]
        self.pieces = [[self.only.need]] if self.only else [*map(self._pieces, kind.parts, self.hosts)]
        """For every part what must fit at once, one of these at least: all of it, or where it can be split one pod."""
        self._ask: Ask | None = None

    def only_ask(self) -> Ask:
        """The ask of its first, where there is no choice of flavors."""
        ask = self._ask
        if ask is None or ask.place is not self.first:
            assert self.only is not None
            assert self.first is not None
            ask = self._ask = Ask(self, self.first, self.only.need)
        return ask

    def let_go(self) -> None:
        """Nobody stands in it any more: it is not kept by what it keeps."""
        self._ask = None

    def _pieces(self, part: Part, options: tuple[tuple[str, Need], ...]) -> list[Need]:
        if not part.splits:
            return [need for _, need in options]
        return [self.queue.axes.pod(part.requests, flavor) for flavor, _ in options]

    @property
    def sizes(self) -> Iterator[tuple[int, int]]:
        """Amounts by axis below which no room is enough."""
        return (size for pieces in self.pieces for need in pieces for size in need)


class Ask:
    """A floor, or one step of growth, of one workload."""

    __slots__ = ("created", "kind", "name", "need", "place", "queue", "row")

    def __init__(self, row: Row, place: Place, need: Need = ()) -> None:
        self.row = row
        self.place = place
        self.need = need
        """What it would take, for weighing it against others."""
        self.queue = row.queue
        self.kind = row.kind
        at = row.age_at
        self.created: int = place[at]
        self.name: str = place[at + 1]
        """Its workload's."""

    @property
    def pod_set(self) -> int | None:
        """Which pod set grows; None for a floor, which is all of them."""
        return None if self.kind.is_floor else self.kind.parts[0].pod_set


def hosts(part: Part, queue: TreeNode, flavors: Flavors) -> Iterator[tuple[str, Need]]:
    """The flavors whose nodes could host the part's pods, in the queue's order."""
    for flavor in queue.flavors if part.flavor is None else (part.flavor,):
        if hosting(part, queue, flavors, flavor) is Hosting.YES:
            yield flavor, queue.axes.pods(part.requests, flavor, part.pods)


def hosting(part: Part, queue: TreeNode, flavors: Flavors, flavor: str) -> Hosting:
    """Whether the pods of a part could stand on nodes of a flavor that this queue's tree has at all."""
    capacity = queue.root.capacities
    if any(not capacity.get((flavor, resource)) for resource in part.requests):
        return Hosting.NOWHERE
    return flavors.hosting(flavor, part.requests, part.node_selector)


def placed(row: Row, flavors: list[str] | tuple[str, ...]) -> Placement:
    """Every part wholly in the flavor given for it."""
    needs = [
        next(need for host, need in options if host == flavor)
        for options, flavor in zip(row.hosts, flavors, strict=True)
    ]
    pods = tuple((part.pod_set, flavor, part.pods) for part, flavor in zip(row.kind.parts, flavors, strict=True))
    return Placement(pods, needs[0] if len(needs) == 1 else total(needs))


def floor_kind(workload: Workload, *, impatient: bool = False) -> Kind:
    """The gang: every pod set's floor."""
    parts = tuple(
        _part(index, pod_set, pod_set.least, splits=pod_set.mixes)
        for index, pod_set in enumerate(workload.pod_sets)
        if pod_set.least
    )
    return Kind(parts, True, workload.priority, impatient, workload.max_run_seconds)


def every_part(workload: Workload) -> Iterator[Part]:
    """A pod of each of its pod sets."""
    return (_part(index, pod_set, 1) for index, pod_set in enumerate(workload.pod_sets))


def floor_rank(workload: Workload) -> tuple[int, bool]:
    """Where the row of a floor stands among those of its Queue."""
    return (-workload.priority, False)


def floor_place(workload: Workload) -> Place:
    return (workload.created, workload.name)


def growth(holding: Holding, index: int) -> tuple[Kind, Place] | None:
    """The next step of one pod set, if it wants one."""
    workload = holding.workload
    pod_set = workload.pod_sets[index]
    granted = holding.count(index)
    # Steps are counted from the floor, with the pods that ended well. Where the floor was raised while it runs, what is
    # missing of it is as indivisible as the floor.
    above = granted + pod_set.ended - min(pod_set.floor, pod_set.count)
    step = pod_set.least - granted if granted < pod_set.least else pod_set.step - above % pod_set.step
    if granted + step > pod_set.wanted:
        return None
    held = holding.granted[index]
    flavor = None if pod_set.mixes else min((name for name, count in held.items() if count), default=None)
    part = _part(index, pod_set, step, flavor=flavor)
    kind = Kind((part,), False, workload.priority, False, workload.max_run_seconds)
    own = _share(holding, index, step)
    # Between pod sets of one workload, the one that has least of what it wants.
    had = Fraction(granted, pod_set.wanted) if len(workload.pod_sets) > 1 else 0
    return kind, (own, workload.created, workload.name, had)


def _part(index: int, pod_set: PodSet, count: int, *, splits: bool = False, flavor: str | None = None) -> Part:
    return Part(index, count, pod_set.requests, frozenset(pod_set.node_selector.items()), splits, flavor)


def _share(holding: Holding, index: int, step: int) -> int:
    """The dominant share of a workload within its Queue, with the step counted."""
    assert holding.queue is not None
    total: dict[str, int] = {}
    for place, pod_set in enumerate(holding.workload.pod_sets):
        pods = holding.count(place) + (step if place == index else 0)
        for resource, amount in pod_set.requests.items():
            total[resource] = total.get(resource, 0) + amount * pods
    measure = holding.queue.measure
    return max((amount * measure.get(resource, 0) for resource, amount in total.items()), default=0)
