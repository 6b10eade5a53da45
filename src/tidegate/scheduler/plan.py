"""The Plan: everything a cycle decided, as values. Statuses, events and explanations are made from these alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct, structs

from tidegate.model.flavored import NO_AMOUNTS, Flavored
from tidegate.model.kinds.workload import WaitingReason
from tidegate.scheduler.snapshot import NO_ENTRIES, Instant

PodCounts = Mapping[str, Mapping[str, int]]
"""Pods by pod set and flavor."""


class Rule(StrEnum):
    """By which right something is taken back."""

    FLOOR_BEFORE_SURPLUS = "FloorBeforeSurplus"
    """A floor of the same Queue, of equal or higher priority, waits: everybody starts before anybody grows."""
    FAIR_SHARE = "FairShare"
    """The asker's queue stays at or below what it deserves, and this one held more than it deserves."""
    WITHIN_QUEUE = "WithinQueue"
    """Preemption by priority (or age) within the Queue, as its ClusterQueue allows."""
    LOWER_PRIORITY = "LowerPriority"
    """Preemption across queues by priority, as the asker's ClusterQueue allows."""
    NOT_WANTED = "NotWanted"
    """The application wants fewer pods."""
    INACTIVE = "Inactive"
    """The workload was made inactive."""
    OVER_QUOTA = "OverQuota"
    """A quota, a limit or the capacity is now below what was granted."""
    DRAINED = "Drained"
    """The queue is held and drained."""
    NO_QUEUE = "NoQueue"
    """The queue is gone."""


class Grant(Struct, frozen=True, kw_only=True, gc=False):
    """Pods a workload gets in this cycle."""

    workload: str
    admits: bool
    """Whether it is admitted with this; otherwise it grows."""
    pods: PodCounts
    held: PodCounts
    """The part of them that may not start before others are gone."""


class Cause(Struct, frozen=True, kw_only=True, gc=False):
    """Why pods were taken: by which rule, and who needed the room."""

    rule: Rule
    needed_by: str | None
    """A workload; None where nobody in particular did."""
    pods: int


class Shrink(Struct, frozen=True, kw_only=True, gc=False):
    """Pods a workload loses above its floor."""

    workload: str
    pods: PodCounts
    causes: tuple[Cause, ...]


class Eviction(Struct, frozen=True, kw_only=True, gc=False):
    """A workload that loses everything; it is pending again."""

    workload: str
    pods: PodCounts
    causes: tuple[Cause, ...]
    requeue_at: Instant


class Start(Struct, frozen=True, kw_only=True, gc=False):
    """Granted pods that had to wait for others to go, and may start now."""

    workload: str
    pods: PodCounts


class Waiting(Struct, frozen=True, kw_only=True, gc=False):
    """Why an ask waits, with its numbers."""

    workload: str
    pod_set: str | None
    """Which pod set would grow; None for a floor."""
    reason: WaitingReason
    short_by: Flavored = NO_AMOUNTS
    at: str | None = None
    """The node of the tree where it does not fit."""
    room: Flavored = NO_AMOUNTS
    """What was left there of the resources that lack."""
    behind: str | None = None
    """The workload it may not pass, or for which the room is held."""
    missing_class: str = ""
    """The PriorityClass without which its pods would be refused."""
    ahead: int = 0
    until: Instant | None = None
    """When the reason passes by itself."""

    def told_to(self, workload: str, ahead: int) -> Waiting:
        """The same of another in its row."""
        return structs.replace(self, workload=workload, ahead=ahead)


class Standing(Struct, frozen=True, kw_only=True, gc=False):
    """How a node of the tree stands once the plan is carried out."""

    deserved: Flavored
    allocated: Flavored
    used: Flavored
    share: Fraction
    pending: int
    admitted: int
    short_of_guarantees: Flavored = NO_AMOUNTS
    """At a root: by how much the guarantees below it exceed its capacity."""
    wants_more: bool = False
    """Of a Queue: whether anybody of it waits for something."""


class Plan(Struct, frozen=True, kw_only=True, gc=False):
    """What one cycle decided. Everything is ordered by workload name, except that nothing depends on the order."""

    grants: tuple[Grant, ...] = ()
    shrinks: tuple[Shrink, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    starts: tuple[Start, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    """Of everybody who waits, where their reasons were asked for."""
    says_why: bool = False
    """Whether they were."""
    standings: Mapping[str, Standing] = NO_ENTRIES
    """By node: ClusterQueues by name, Queues by namespace/name; where a report was asked for."""
    unknown_policies: tuple[str, ...] = ()
    """ClusterQueues that name a policy nobody registered; they are served by drf."""
    wake_at: Instant | None = None
    """When to plan again even if nothing happens: a back-off or somebody's patience ends."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes hands."""
        return not (self.grants or self.shrinks or self.evictions or self.starts)
