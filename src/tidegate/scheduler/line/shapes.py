"""Shapes: what an ask consists of, and where its pods could stand.

A *kind* is what asks have in common between which neither fitting nor making room can tell a difference. In Queues of
one tree that use the same flavors, asks of a kind could stand in the same places: that is its *shape*, found out once
for all of them, and the same object for all, so that thousands of Queues look at few places in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidegate.model.resources import Resources
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


class Shape:
    """A kind, and where its pods could stand in a Queue."""

    __slots__ = ("fills_gaps", "first", "hosts", "kind", "only", "pieces", "pods", "rank", "rows", "whole")

    def __init__(self, kind: Kind, queue: TreeNode, flavors: Flavors) -> None:
        self.kind = kind
        self.rows = 0
        """How many rows are of this shape."""
        self.rank = rank_of(kind.priority, is_floor=kind.is_floor)
        self.pods = sum(part.pods for part in kind.parts)
        self.hosts = tuple(tuple(hosts(part, queue, flavors)) for part in kind.parts)
        """For every part the flavors that could host it, in order, and what its pods take there."""
        self.only: Placement | None = None
        """Where it must stand if it fits at all; None where there is a choice."""
        if all(len(options) == 1 for options in self.hosts):
            self.only = self.placed([options[0][0] for options in self.hosts])
        self.first = self.only
        """Every part in its first flavor, as if there were room everywhere; None if some part has none."""
        if self.only is None and all(self.hosts):
            self.first = self.placed([options[0][0] for options in self.hosts])
        self.whole: list[Placement] = []
        """Where a single part could stand in one flavor, in order of preference."""
        if self.only is None and len(kind.parts) == 1:
            self.whole = [self.placed([flavor]) for flavor, _ in self.hosts[0]]
        self.fills_gaps = self.only is None and (len(kind.parts) > 1 or (kind.parts[0].splits and self.pods > 1))
        """Whether its flavors follow from just how much is left of each, and not only from where all of it fits."""
        parts = zip(kind.parts, self.hosts, strict=True)
        self.pieces = [[self.only.need]] if self.only else [_pieces(*part, queue) for part in parts]
        """For every part what must fit at once, one of these at least: all of it, or where it can be split one pod."""

    def placed(self, flavors: Sequence[str]) -> Placement:
        """Every part wholly in the flavor given for it."""
        needs = [
            next(need for host, need in options if host == flavor)
            for options, flavor in zip(self.hosts, flavors, strict=True)
        ]
        parts = zip(self.kind.parts, flavors, strict=True)
        pods = tuple((part.pod_set, flavor, part.pods) for part, flavor in parts)
        return Placement(pods, needs[0] if len(needs) == 1 else total(needs))

    @property
    def sizes(self) -> Iterator[tuple[int, int]]:
        """Amounts by axis below which no room is enough."""
        return (size for pieces in self.pieces for need in pieces for size in need)

    @property
    def wholes(self) -> Iterator[tuple[int, int]]:
        """Amounts by axis below which there is still room for a part that can be split, but not in one flavor."""
        for part, options in zip(self.kind.parts, self.hosts, strict=True):
            if part.splits and part.pods > 1 and self.only is None:
                yield from (size for _, need in options for size in need)


class Shapes:
    """Those of which there are rows."""

    def __init__(self, flavors: Flavors) -> None:
        self._flavors = flavors
        self._shapes: dict[_Key, Shape] = {}

    def of_row(self, kind: Kind, queue: TreeNode) -> Shape:
        """What asks of this kind look like in a Queue that has a row of them from now on."""
        key = _key(kind, queue)
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = Shape(kind, queue, self._flavors)
        shape.rows += 1
        return shape

    def let_go(self, shape: Shape, queue: TreeNode) -> None:
        """A Queue has no such row any more."""
        shape.rows -= 1
        if not shape.rows:
            del self._shapes[_key(shape.kind, queue)]


_Key = tuple[Kind, TreeNode, tuple[str, ...]]


def _key(kind: Kind, queue: TreeNode) -> _Key:
    return (kind, queue.root, queue.flavors)


def _pieces(part: Part, options: tuple[tuple[str, Need], ...], queue: TreeNode) -> list[Need]:
    if not part.splits:
        return [need for _, need in options]
    return [queue.axes.pod(part.requests, flavor) for flavor, _ in options]


def rank_of(priority: int, *, is_floor: bool) -> int:
    """In which order rows of a Queue come: by priority, then floors before growth."""
    return -2 * priority + (not is_floor)


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


def floor_kind(workload: Workload, *, impatient: bool = False) -> Kind:
    """The gang: every pod set's floor."""
    parts = tuple(
        part_of(index, pod_set, pod_set.least, splits=pod_set.mixes)
        for index, pod_set in enumerate(workload.pod_sets)
        if pod_set.least
    )
    return Kind(parts, True, workload.priority, impatient, workload.max_run_seconds)


def every_part(workload: Workload) -> Iterator[Part]:
    """A pod of each of its pod sets."""
    return (part_of(index, pod_set, 1) for index, pod_set in enumerate(workload.pod_sets))


def part_of(index: int, pod_set: PodSet, count: int, *, splits: bool = False, flavor: str | None = None) -> Part:
    """So many pods of this pod set."""
    return Part(index, count, pod_set.requests, frozenset(pod_set.node_selector.items()), splits, flavor)
