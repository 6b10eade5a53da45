"""What the scheduler sees: the world at one moment, as plain values. Nothing here changes, and nothing here decides.

Queue configuration comes as the specs users write (`tidegate.model.kinds`). Times are whole seconds on any one clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import ResourceFlavorSpec, TaintEffect
from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.resources import NOTHING, Resources

Instant = int
Counts = Mapping[str, int]
"""Pods by flavor."""
NO_ENTRIES: Mapping[str, Any] = MappingProxyType({})
"""One for all: a million workloads that wait have four of these each."""


def _no_entries() -> Mapping[str, Any]:
    return NO_ENTRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """What keeps pods off a node unless their flavor tolerates it."""

    key: str
    value: str = ""
    effect: TaintEffect = TaintEffect.NO_SCHEDULE


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine that is ready to run pods. One that is lost is not in the snapshot."""

    name: str
    allocatable: Resources
    labels: Mapping[str, str] = field(default_factory=_no_entries)
    taints: tuple[Taint, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSet:
    """Pods of one shape: how many are wanted, needed, granted and there."""

    name: str
    count: int
    """Desired, within `maxCount`; pods that ended well included."""
    floor: int
    step: int = 1
    requests: Resources = NOTHING
    node_selector: Mapping[str, str] = field(default_factory=_no_entries)
    mixes: bool = True
    """Whether its pods may be of several flavors. Not where all are made from one template, as a Job's are."""
    granted: Counts = field(default_factory=_no_entries)
    held: Counts = field(default_factory=_no_entries)
    """The part of `granted` whose pods may not start yet, since the pods that give way for them are still there."""
    present: Counts = field(default_factory=_no_entries)
    """Pods that exist on nodes; more than granted where pods are on their way out."""
    coming: Counts = field(default_factory=_no_entries)
    """The part of `present` that was let go and is not there yet: its room is taken, and it does not run."""
    ended: int = 0
    """Pods that ended well. They ask for nothing any more."""

    @property
    def wanted(self) -> int:
        """How many may still run."""
        return max(0, self.count - self.ended)

    @property
    def least(self) -> int:
        """What is left of the floor."""
        return max(0, min(self.floor, self.count) - self.ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What one application asks for and holds."""

    name: str
    """namespace/name."""
    queue: str
    """namespace/name of its Queue."""
    created: Instant
    pod_sets: tuple[PodSet, ...]
    priority: int = 0
    active: bool = True
    user: str = ""
    groups: tuple[str, ...] = ()
    max_run_seconds: int | None = None
    admitted_at: Instant | None = None
    waiting_since: Instant | None = None
    """Since when its floor waits, or waited until it was admitted: its eviction, or else (None) its creation."""
    evictions: int = 0
    requeue_at: Instant | None = None

    @property
    def namespace(self) -> str:
        return self.name.partition("/")[0]

    @property
    def waits_since(self) -> Instant:
        return self.created if self.waiting_since is None else self.waiting_since

    @property
    def ends_by(self) -> Instant | None:
        """When it has surely ended, if that can be told."""
        if self.admitted_at is None or self.max_run_seconds is None:
            return None
        return self.admitted_at + self.max_run_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything a cycle may know."""

    nodes: tuple[Node, ...] = ()
    flavors: Mapping[str, ResourceFlavorSpec] = field(default_factory=_no_entries)
    cluster_queues: Mapping[str, ClusterQueueSpec] = field(default_factory=_no_entries)
    queues: Mapping[str, QueueSpec] = field(default_factory=_no_entries)
    """By namespace/name."""
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=_no_entries)
    """Labels by namespace."""
    workloads: tuple[Workload, ...] = ()
    """Those that have not finished."""
