"""What the scheduler sees: the world at one moment, as plain values. Nothing here changes, and nothing here decides.

Queue configuration comes as the specs users write (`tidegate.model.kinds`). Times are whole seconds on any one clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.flavor import ResourceFlavorSpec, TaintEffect
from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.resources import NOTHING, Resources

Instant = int
Counts = Mapping[str, int]
"""Pods by flavor."""
NO_ENTRIES: Mapping[str, Any] = MappingProxyType({})
"""One for all: a million workloads that wait have four of these each."""


class Taint(Struct, frozen=True, kw_only=True, gc=False):
    """What keeps pods off a node unless their flavor tolerates it."""

    key: str
    value: str = ""
    effect: TaintEffect = TaintEffect.NO_SCHEDULE


class Node(Struct, frozen=True, kw_only=True, gc=False):
    """A machine that is ready to run pods. One that is lost is not in the snapshot."""

    name: str
    allocatable: Resources
    labels: Mapping[str, str] = NO_ENTRIES
    taints: tuple[Taint, ...] = ()


class PodSet(Struct, frozen=True, kw_only=True, gc=False):
    """Pods of one shape: how many are wanted, needed, granted and there."""

    name: str
    count: int
    """Desired, within `maxCount`; pods that ended well included."""
    floor: int
    step: int = 1
    requests: Resources = NOTHING
    node_selector: Mapping[str, str] = NO_ENTRIES
    mixes: bool = True
    """Whether its pods may be of several flavors. Not where all are made from one template, as a Job's are."""
    granted: Counts = NO_ENTRIES
    held: Counts = NO_ENTRIES
    """The part of `granted` whose pods may not start yet, since the pods that give way for them are still there."""
    present: Counts = NO_ENTRIES
    """Pods that exist on nodes; more than granted where pods are on their way out."""
    coming: Counts = NO_ENTRIES
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


class Workload(Struct, frozen=True, kw_only=True, gc=False):
    """What one application asks for and holds."""

    name: str
    """namespace/name."""
    queue: str
    """namespace/name of its Queue."""
    created: Instant
    pod_sets: tuple[PodSet, ...]
    priority: int = 0
    missing_class: str = ""
    """The PriorityClass it names, where there is none: pods of it are refused."""
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


class Snapshot(Struct, frozen=True, kw_only=True, gc=False):
    """Everything a cycle may know."""

    nodes: tuple[Node, ...] = ()
    flavors: Mapping[str, ResourceFlavorSpec] = NO_ENTRIES
    cluster_queues: Mapping[str, ClusterQueueSpec] = NO_ENTRIES
    queues: Mapping[str, QueueSpec] = NO_ENTRIES
    """By namespace/name."""
    namespaces: Mapping[str, Mapping[str, str]] = NO_ENTRIES
    """Labels by namespace."""
    workloads: tuple[Workload, ...] = ()
    """Those that have not finished."""
