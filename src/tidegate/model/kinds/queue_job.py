"""QueueJob: a gang of pods of several shapes, run by Tidegate itself."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.kinds.shape import (
    AGE,
    MOST_POD_SETS,
    Column,
    Conditions,
    Count,
    Definition,
    Kind,
    ObjectName,
    PodSetName,
    PodTemplate,
    Priority,
    Rule,
    Shape,
    Status,
    Text,
    keyed,
)


class QueueJobPhase(StrEnum):
    """How a QueueJob is, in one word."""

    PENDING = "Pending"
    """Its floor is not granted yet."""
    RUNNING = "Running"
    """It has pods."""
    SUCCEEDED = "Succeeded"
    """All its pods ended well."""
    FAILED = "Failed"
    """Its pods failed more often than `backoffLimit` allows."""


class SchedulingSpec(Shape, frozen=True, kw_only=True):
    """What the job needs before it starts."""

    min_available: Count | None = None
    """Start with at least this many pods over all task specs. Without it, the `minReplicas` of each are enough."""


class JobTask(Shape, frozen=True, kw_only=True):
    """Pods of one shape."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.minReplicas) || self.minReplicas <= self.replicas",
            "minReplicas is above replicas; lower it, or leave it out to need all replicas",
            lambda self: self.min_replicas is None or self.min_replicas <= self.replicas,
            ".minReplicas",
        ),
    )

    name: PodSetName
    """Its name among the job's task specs."""
    replicas: Count = 1
    """How many pods are wanted."""
    min_replicas: Count | None = None
    """With how many the job can start. Without it, all `replicas`."""
    template: PodTemplate
    """The pod template."""


class QueueJobSpec(Shape, frozen=True, kw_only=True):
    """What is to run."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.schedulingSpec) || !has(self.schedulingSpec.minAvailable)"
            " || self.schedulingSpec.minAvailable <= self.taskSpecs.map(task, task.replicas).sum()",
            "minAvailable is above the sum of all replicas; lower it or raise replicas",
            lambda self: (self.scheduling_spec.min_available or 0) <= sum(task.replicas for task in self.task_specs),
            ".schedulingSpec.minAvailable",
        ),
    )

    queue: ObjectName = "default"
    """The Queue in its namespace."""
    priority: Priority = 0
    """Higher goes first. Where `priorityClassName` is set, that class's value counts."""
    priority_class_name: ObjectName | None = None
    """A PriorityClass."""
    scheduling_spec: SchedulingSpec = SchedulingSpec()
    """What the job needs before it starts."""
    task_specs: Annotated[
        tuple[JobTask, ...], Meta(min_length=1, max_length=MOST_POD_SETS, extra_json_schema=keyed("name"))
    ]
    """Its pods, by shape."""
    backoff_limit: Count = 6
    """How many failed pods are replaced before the job counts as failed."""


class JobTaskStatus(Status, frozen=True, kw_only=True):
    """The pods of one task spec."""

    name: PodSetName
    """The task spec."""
    pending: Count = 0
    """Pods that wait."""
    running: Count = 0
    """Pods that run."""
    succeeded: Count = 0
    """Pods that ended well."""
    failed: Count = 0
    """Pods that failed."""
    completed_indexes: str = ""
    """Which of its pods ended well, by number: `0,2-5`. They are not run again, also when somebody deletes them."""


class QueueJobStatus(Status, frozen=True, kw_only=True):
    """How far the job is. Written by Tidegate."""

    phase: QueueJobPhase = QueueJobPhase.PENDING
    """How it is, in one word."""
    workload: str = ""
    """Its Workload."""
    running: Count = 0
    """Pods that run, over all task specs."""
    succeeded: Count = 0
    """Pods that ended well, over all task specs."""
    failed: Count = 0
    """Pods that failed, over all task specs."""
    task_specs: Annotated[
        tuple[JobTaskStatus, ...], Meta(max_length=MOST_POD_SETS, extra_json_schema=keyed("name"))
    ] = ()
    """The same by task spec."""
    message: Text = ""
    """Why it is so, for people."""
    conditions: Conditions = ()
    """What else is true of it, and why."""


class QueueJob(Kind, frozen=True, kw_only=True):
    """A job whose pods of several shapes start together, run by Tidegate itself."""

    definition: ClassVar[Definition] = Definition(
        plural="queuejobs",
        short=("qj",),
        columns=(
            Column("Queue", ".spec.queue"),
            Column("Phase", ".status.phase"),
            Column("Running", ".status.running", "integer"),
            Column("Succeeded", ".status.succeeded", "integer"),
            Column("Failed", ".status.failed", "integer", wide=True),
            AGE,
        ),
    )

    spec: QueueJobSpec
    """What is to run."""
    status: QueueJobStatus = QueueJobStatus()
    """How far the job is. Written by Tidegate."""
