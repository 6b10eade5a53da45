"""Scenario: a test for a queue configuration, as a file. The simulator runs it; this says what may stand in it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tidegate.model.duration import Duration
from tidegate.model.kinds.bounds import AmountBound, CountBound, GrantedBound, RatioBound, TimeBound
from tidegate.model.kinds.chance import CountSpread, DurationSpread, Rate
from tidegate.model.kinds.shape import (
    AGE,
    OPEN,
    Count,
    Definition,
    Kind,
    PodSetName,
    Priority,
    Seconds,
    Shape,
    Weight,
    keyed,
)
from tidegate.model.kinds.workload import PodSet, State, WaitingReason
from tidegate.model.quantity import NANO
from tidegate.model.resources import NOTHING, Resources

Manifest = Annotated[Mapping[str, Any], Meta(extra_json_schema=OPEN)]
"""Any Kubernetes object, as it would be given to `kubectl apply`."""


class ScenarioNode(Shape, frozen=True, kw_only=True):
    """Nodes that are alike."""

    name: str
    """The node's name; with `count`, the beginning of their names."""
    count: Count = 1
    """How many."""
    labels: Mapping[str, str] = {}
    """Their labels."""
    taints: tuple[Manifest, ...] = ()
    """Their taints, as in a Node."""
    allocatable: Resources = NOTHING
    """What pods may take of each."""


class SubmittedPodSet(PodSet, frozen=True, kw_only=True):
    """A pod set, and how long its pods run."""

    runs: Duration | None = None
    """How long each pod runs once it is granted. Without it, until a later step ends it."""


class Submit(Shape, frozen=True, kw_only=True):
    """A Workload in short form."""

    name: Annotated[str, Meta(min_length=1, max_length=253)]
    """Its name, by which later steps speak of it."""
    queue: str = "default/default"
    """Its Queue, as namespace/name."""
    priority: Priority = 0
    """Higher goes first."""
    priority_class_name: str | None = None
    """A PriorityClass among the objects; its value counts, not what `priority` says."""
    active: bool = True
    """Whether it asks at all."""
    user: str = ""
    """Who submits it."""
    groups: tuple[str, ...] = ()
    """Groups the submitter is in."""
    max_run_seconds: Seconds | None = None
    """It surely ends this long after it was admitted."""
    pod_sets: Annotated[tuple[SubmittedPodSet, ...], Meta(min_length=1, extra_json_schema=keyed("name"))]
    """Its pods, by shape."""


class Resize(Shape, frozen=True, kw_only=True):
    """The application now wants another number of pods."""

    name: str
    """The workload."""
    pod_set: str | None = None
    """The pod set; may be left out where there is only one."""
    count: Count
    """How many it wants now."""


class EndPods(Shape, frozen=True, kw_only=True):
    """Pods end."""

    name: str
    """The workload."""
    pod_set: str | None = None
    """The pod set; may be left out where there is only one."""
    pods: Count = 1
    """How many."""


class Delete(Shape, frozen=True, kw_only=True):
    """An object goes."""

    kind: str = "Workload"
    """Its kind."""
    namespace: str = ""
    """Its namespace, where the kind has one."""
    name: str
    """Its name."""


class Expectation(Shape, frozen=True, kw_only=True):
    """What must be so. A thing not named is not checked; an amount that is absent is 0."""

    state: State | None = None
    """Of a workload: its state."""
    granted: Mapping[str, GrantedBound] = {}
    """Of a workload: pods granted, by pod set."""
    reason: WaitingReason | None = None
    """Of a workload: why it waits."""
    evictions: CountBound | None = None
    """Of a workload: how often it was evicted so far."""
    shrinks: CountBound | None = None
    """Of a workload: how often it was shrunk so far."""
    admitted_at: TimeBound | None = None
    """Of a workload: when it was admitted."""
    deserved: Mapping[str, AmountBound] = {}
    """Of a queue: what it deserves, summed over flavors."""
    allocated: Mapping[str, AmountBound] = {}
    """Of a queue: what its workloads hold, summed over flavors."""
    share: RatioBound | None = None
    """Of a queue: its share."""
    pending: CountBound | None = None
    """Of a queue: workloads that wait, evicted ones included."""


class Step(Shape, frozen=True, kw_only=True):
    """A moment, what happens then, and what must be so once it has settled. Every verb takes one item or a list."""

    at: Duration
    """When, from the beginning."""
    submit: Submit | tuple[Submit, ...] = ()
    """Workloads that arrive."""
    resize: Resize | tuple[Resize, ...] = ()
    """Applications that want more or fewer pods."""
    succeed: EndPods | tuple[EndPods, ...] = ()
    """Pods that end well."""
    fail: EndPods | tuple[EndPods, ...] = ()
    """Pods that fail."""
    apply: Annotated[Mapping[str, Any] | tuple[Mapping[str, Any], ...], Meta(extra_json_schema=OPEN)] = ()
    """Manifests that are applied."""
    delete: Delete | tuple[Delete, ...] = ()
    """Objects that go."""
    expect: Mapping[str, Expectation] = {}
    """By workload name, `queue NAMESPACE/NAME` or `clusterqueue NAME`: what must be so."""


class Delays(Shape, frozen=True, kw_only=True):
    """How long pods take to come and to go."""

    start: Duration = Duration(0)
    """From grant to running."""
    stop: Duration = Duration(0)
    """From being taken back to being gone."""


class SyntheticPodSet(Shape, frozen=True, kw_only=True):
    """Pods of one shape, in numbers left to chance."""

    name: PodSetName = "main"
    """Its name among the workload's pod sets."""
    count: CountSpread = CountSpread(1, 1)
    """How many pods are wanted."""
    min_count: Count | None = None
    """The floor, where `count` is not below it. Without it, all of `count`."""
    step: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    """Pods above the floor are granted in multiples of this."""
    requests: Resources
    """What one pod takes."""
    runs: DurationSpread
    """How long each pod runs once it is granted."""


class Mix(Shape, frozen=True, kw_only=True):
    """One sort of workload among those that arrive."""

    queue: str
    """Its Queue, as namespace/name."""
    weight: Weight = 1
    """How frequent it is among the sorts."""
    priority: Priority = 0
    """Higher goes first."""
    max_run_seconds: Seconds | None = None
    """It surely ends this long after it was admitted."""
    pod_sets: Annotated[tuple[SyntheticPodSet, ...], Meta(min_length=1, extra_json_schema=keyed("name"))]
    """Its pods, by shape."""


class Synthetic(Shape, frozen=True, kw_only=True):
    """Workloads that arrive by chance, and mishaps. The seed decides; the same seed gives the same run."""

    arrivals: Rate
    """How many workloads arrive, on average."""
    until: Duration
    """When the last may arrive. What has arrived is then run to its end."""
    mix: Annotated[tuple[Mix, ...], Meta(min_length=1)]
    """The sorts of workloads."""
    resizes: Rate | None = None
    """How often some elastic application wants another number of pods."""
    pod_failures: Rate | None = None
    """How often some pod fails."""
    node_losses: Rate | None = None
    """How often some node is lost."""
    node_returns: Duration = Duration(600)
    """How long a lost node stays away."""


class TraceColumns(Shape, frozen=True, kw_only=True):
    """How the columns of a trace are called in its first line; capitals and blanks make no difference. Or, where that
    line is a job, which they are: write all as numbers, from "1" on."""

    submit: str = "submit"
    """When the job came."""
    duration: str = "duration"
    """How long it ran. May be absent from a file that says when the job ended."""
    end: str = "end"
    """When it ended, for files that have no duration. The time from `submit` on then counts as its run."""
    cpu: str = "cpu"
    """What a pod took. Empty: none, if it took memory."""
    memory: str = "memory"
    """What a pod took. Empty: none, if it took cpu."""
    user: str = "user"
    """Whose it was."""
    pods: str = "pods"
    """How many pods it had, all needed together. May be absent from the file: one."""
    priority: str = "priority"
    """Its priority. May be absent from the file: 0."""


class TimeUnit(StrEnum):
    """In what a trace counts time."""

    S = "s"
    """Seconds."""
    MS = "ms"
    """Thousandths of a second."""
    US = "us"
    """Millionths of a second."""


class Trace(Shape, frozen=True, kw_only=True):
    """Jobs that were recorded elsewhere, as a CSV file: one line each, the first with the names of the columns. Where
    it is a job as well, the columns are submit, duration, cpu, memory, user, pods and priority, as far as they go."""

    file: str
    """The file, relative to this one."""
    columns: TraceColumns = TraceColumns()
    """How the columns are called."""
    time_unit: TimeUnit = TimeUnit.S
    """In what `submit` and `duration` are counted."""
    units: Resources = Resources({"cpu": NANO, "memory": NANO})
    """What a 1 in the columns cpu and memory means, e.g. `{cpu: 10m, memory: 1Gi}`. Text like 4Gi means itself."""
    queues: Mapping[str, str] = {}
    """Users' Queues, as namespace/name. Who is not named has one of their own, USER/default, below the root."""
    most: Annotated[int, Meta(ge=1)] | None = None
    """Only the first so many jobs."""


class ScenarioSpec(Shape, frozen=True, kw_only=True):
    """The world at the beginning, and what happens in it."""

    nodes: Annotated[tuple[ScenarioNode, ...], Meta(extra_json_schema=keyed("name"))] = ()
    """Nodes there are."""
    include: tuple[str, ...] = ()
    """Files with further manifests, relative to this one."""
    objects: tuple[Manifest, ...] = ()
    """Manifests. `apiVersion` may be left out for kinds of tidegate.dev."""
    delays: Delays = Delays()
    """How long pods take to come and to go."""
    steps: tuple[Step, ...] = ()
    """What happens, in order of time."""
    synthetic: Synthetic | None = None
    """Workloads that arrive by chance."""
    trace: Trace | None = None
    """Workloads that were recorded elsewhere."""


class Scenario(Kind, frozen=True, kw_only=True):
    """A test for a queue configuration: what happens when, and what must then be so."""

    definition: ClassVar[Definition] = Definition(plural="scenarios", short=(), columns=(AGE,))

    spec: ScenarioSpec
    """The world at the beginning, and what happens in it."""
