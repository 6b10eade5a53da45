"""Workload: the unit of admission."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.flavored import NO_AMOUNTS, Flavored
from tidegate.model.kinds.shape import (
    AGE,
    MOST_FLAVORS,
    MOST_POD_SETS,
    Column,
    Conditions,
    Count,
    Definition,
    Kind,
    LabelValue,
    Moment,
    ObjectName,
    PodSetName,
    Priority,
    Rule,
    Seconds,
    Shape,
    Status,
    Text,
    Total,
    keyed,
    names_labels,
    names_resources,
)
from tidegate.model.resources import NOTHING, Resources


class State(StrEnum):
    """How a workload is, in one word."""

    PENDING = "Pending"
    """It waits to be admitted."""
    ADMITTED = "Admitted"
    """It holds at least its floor."""
    EVICTED = "Evicted"
    """All it held was taken back; it waits to be admitted again."""
    FINISHED = "Finished"
    """All its pods have ended; it will not ask again."""
    INACTIVE = "Inactive"
    """`active` is false: it asks for nothing."""


class WaitingReason(StrEnum):
    """Why an ask waits."""

    WAITING_FOR_QUOTA = "WaitingForQuota"
    """Not enough is free now. It comes in when others end, shrink, or lend more."""
    EXCEEDS_QUOTA = "ExceedsQuota"
    """It can never fit, even with everything free. Ask for less, or raise the quota or the limits."""
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    """No flavor has the resources it requests on nodes where its pods may run."""
    BEHIND_IN_QUEUE = "BehindInQueue"
    """Others in line come first, and it may not pass them."""
    WAITING_FOR_PREEMPTED = "WaitingForPreempted"
    """Its room is made; it starts when the pods that give way are gone."""
    QUEUE_STOPPED = "QueueStopped"
    """Its ClusterQueue, or one above, is held. It comes in when `stop` is `None` again."""
    NO_QUEUE = "NoQueue"
    """The Queue it names, or the ClusterQueue behind it, does not exist. Create it or name another."""
    NOT_ALLOWED = "NotAllowed"
    """Its namespace or its submitter may not use this queue, or it names a PriorityClass that does not exist."""
    BACKOFF = "Backoff"
    """It was evicted and is asked for again a little later; `requeue.at` says when."""
    INACTIVE = "Inactive"
    """`active` is false. Set it to true to let it ask."""


class PodSet(Shape, frozen=True, kw_only=True):
    """Pods of one shape. `count` says how many the application wants now, `minCount` with how many it can start."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.minCount) || self.minCount <= self.count",
            "minCount is above count; lower it to count or below, or leave it out to make all of count the floor",
            lambda self: self.min_count is None or self.min_count <= self.count,
            ".minCount",
        ),
        Rule(
            "!has(self.maxCount) || (has(self.minCount) ? self.minCount : self.count) <= self.maxCount",
            "maxCount is below the floor (minCount, or count where minCount is left out); raise it or lower minCount",
            lambda self: self.max_count is None or self.floor <= self.max_count,
            ".maxCount",
        ),
        names_resources("requests", lambda self: self.requests),
        names_labels("nodeSelector", "node", lambda self: self.node_selector),
    )

    name: PodSetName
    """Its name among the workload's pod sets."""
    count: Count
    """How many pods are wanted now."""
    min_count: Count | None = None
    """The floor: this many are granted together or not at all. Without it, `count`: a gang of all."""
    max_count: Count | None = None
    """Never ask for more than this, whatever `count` says. Without it there is no such bound."""
    step: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    """Pods above the floor are granted in multiples of this."""
    requests: Resources = NOTHING
    """What one pod takes, with init containers, sidecars and overhead counted."""
    mixes: bool = True
    """Whether its pods may be of several flavors. Write false for pods that share one template, as a Job's do."""
    node_selector: Annotated[Mapping[str, LabelValue], Meta(max_length=64)] = {}
    """Labels a node must have to run its pods."""

    @property
    def floor(self) -> int:
        return self.count if self.min_count is None else self.min_count

    @property
    def desired(self) -> int:
        """What is asked for in the end: `count`, within `maxCount`."""
        return self.count if self.max_count is None else min(self.count, self.max_count)


class Owner(Shape, frozen=True, kw_only=True):
    """The application a workload stands for."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "self.apiVersion == oldSelf.apiVersion && self.kind == oldSelf.kind && self.name == oldSelf.name"
            " && (!has(oldSelf.uid) || oldSelf.uid == '' || (has(self.uid) && self.uid == oldSelf.uid))",
            "the owner of a workload does not change; create a workload for the other owner instead",
        ),
    )

    api_version: Annotated[str, Meta(min_length=1, max_length=316)]
    """Its API group and version."""
    kind: Annotated[str, Meta(min_length=1, max_length=63)]
    """Its kind."""
    name: ObjectName
    """Its name, in the workload's namespace."""
    uid: Annotated[str, Meta(max_length=128)] = ""
    """Its uid, once it has one."""


class WorkloadSpec(Shape, frozen=True, kw_only=True):
    """What is asked for, by whom, and how urgent it is."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(oldSelf.owner) || has(self.owner)",
            "a workload keeps its owner; delete the workload instead of taking its owner away",
            field=".owner",
        ),
    )

    queue: ObjectName = "default"
    """The Queue in its namespace."""
    priority: Priority = 0
    """Higher goes first. Where `priorityClassName` is set, Tidegate writes that class's value here."""
    priority_class_name: ObjectName | None = None
    """A PriorityClass; its value counts, not what `priority` says."""
    active: bool = True
    """Whether it asks at all. Set to false, it gives back what it holds."""
    owner: Owner | None = None
    """The application it stands for."""
    pod_sets: Annotated[
        tuple[PodSet, ...], Meta(min_length=1, max_length=MOST_POD_SETS, extra_json_schema=keyed("name"))
    ]
    """Its pods, by shape. The floors of all sets together are granted whole or not at all."""
    max_run_seconds: Seconds | None = None
    """It surely ends this long after it was admitted, so it may use room that is held for later."""


class PodSetStatus(Status, frozen=True, kw_only=True):
    """What a pod set was granted, and what is there of it."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.flavors) || self.flavors.map(flavor, self.flavors[flavor]).sum() == self.granted",
            "the counts by flavor do not add up to granted; write the flavor of every granted pod",
            lambda self: not self.flavors or sum(self.flavors.values()) == self.granted,
            ".flavors",
        ),
    )

    name: PodSetName
    """The pod set."""
    granted: Count
    """Pods that may run. Pods that have ended well do not count."""
    flavors: Annotated[Mapping[str, Count], Meta(max_length=MOST_FLAVORS)] = {}
    """The granted pods by flavor."""
    held: Annotated[Mapping[str, Count], Meta(max_length=MOST_FLAVORS)] = {}
    """The part of them that may not start yet, since the pods that give way for them are still there."""
    running: Count = 0
    """Pods that are there. More than `granted`: a shrink is under way."""


class ReclaimedPods(Status, frozen=True, kw_only=True):
    """Pods that ended well, whose quota has come back."""

    name: PodSetName
    """The pod set."""
    count: Count
    """How many so far."""


class Waiting(Status, frozen=True, kw_only=True):
    """Why the workload's next ask waits."""

    reason: WaitingReason
    """The reason, for programs."""
    message: Text = ""
    """The reason with its numbers, for people."""
    short_by: Flavored = NO_AMOUNTS
    """What is lacking, by flavor and resource."""
    ahead: Total = 0
    """How many asks are before it in line."""
    eta: Moment | None = None
    """When it is expected to start, where that can be told."""


class Requeue(Status, frozen=True, kw_only=True):
    """How often it was evicted, and when it asks again."""

    count: Total
    """Evictions so far."""
    at: Moment | None = None
    """It is not considered before this."""


class WorkloadStatus(Status, frozen=True, kw_only=True):
    """What was granted, and why the rest waits. Written by Tidegate."""

    state: State = State.PENDING
    """How it is, in one word."""
    pod_sets: Annotated[tuple[PodSetStatus, ...], Meta(max_length=MOST_POD_SETS, extra_json_schema=keyed("name"))] = ()
    """What each pod set was granted."""
    reclaimed_pod_set_pods: Annotated[
        tuple[ReclaimedPods, ...], Meta(max_length=MOST_POD_SETS, extra_json_schema=keyed("name"))
    ] = ()
    """Pods that ended well and gave their quota back."""
    conditions: Conditions = ()
    """`Admitted`, `Evicted`, `Shrunk`, `Finished`: whether, since when and why."""
    waiting: Waiting | None = None
    """Why its next ask waits; absent when it has all it wants."""
    requeue: Requeue | None = None
    """Evictions so far, and when it asks again."""


class Workload(Kind, frozen=True, kw_only=True):
    """The unit of admission: what one application asks for, its floor, and what it was granted."""

    definition: ClassVar[Definition] = Definition(
        plural="workloads",
        short=("wl", "dynamicworkload"),
        columns=(
            Column("Queue", ".spec.queue"),
            Column("Priority", ".spec.priority", "integer", wide=True),
            Column("State", ".status.state"),
            Column("Reason", ".status.waiting.reason"),
            Column("Ahead", ".status.waiting.ahead", "integer", wide=True),
            Column("Message", ".status.waiting.message", wide=True),
            AGE,
        ),
    )

    spec: WorkloadSpec
    """What is asked for, by whom, and how urgent it is."""
    status: WorkloadStatus = WorkloadStatus()
    """What was granted, and why the rest waits. Written by Tidegate."""
