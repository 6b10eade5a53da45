"""TaskCluster: worker pods that run Tasks."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.kinds.shape import (
    AGE,
    Column,
    Conditions,
    Count,
    Definition,
    Kind,
    ObjectName,
    PodTemplate,
    Rule,
    Shape,
    Status,
    Total,
)


class TaskClusterSpec(Shape, frozen=True, kw_only=True):
    """How many workers, and what they are like."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
            "maxReplicas is below minReplicas; raise the one or lower the other",
            lambda self: self.max_replicas is None or self.min_replicas <= self.max_replicas,
            ".maxReplicas",
        ),
    )

    queue: ObjectName = "default"
    """The Queue in its namespace."""
    replicas: Count = 1
    """Workers wanted to begin with; from then on as many as the Tasks need, between the two bounds below."""
    min_replicas: Count = 0
    """Never fewer workers than this."""
    max_replicas: Count | None = None
    """Never more workers than this. Without it, as many as the Queue grants."""
    slots: Annotated[int, Meta(ge=1, le=1024)] = 1
    """Tasks that one worker runs at a time."""
    template: PodTemplate | None = None
    """The workers' pod template. Without it, a plain Python worker."""


class TaskClusterStatus(Status, frozen=True, kw_only=True):
    """How busy it is. Written by Tidegate."""

    replicas: Count = 0
    """Workers that are there."""
    available_replicas: Count = 0
    """Workers that can take Tasks."""
    busy_slots: Total = 0
    """Slots in which a Task runs."""
    pending_tasks: Total = 0
    """Tasks that wait for a slot."""
    conditions: Conditions = ()
    """What else is true of it, and why."""


class TaskCluster(Kind, frozen=True, kw_only=True):
    """Worker pods that run Tasks, more or fewer as there is work."""

    definition: ClassVar[Definition] = Definition(
        plural="taskclusters",
        short=("tc",),
        columns=(
            Column("Queue", ".spec.queue"),
            Column("Replicas", ".spec.replicas", "integer"),
            Column("Available", ".status.availableReplicas", "integer"),
            Column("Busy", ".status.busySlots", "integer"),
            Column("Pending", ".status.pendingTasks", "integer"),
            AGE,
        ),
        scale=(".spec.replicas", ".status.replicas"),
    )

    spec: TaskClusterSpec = TaskClusterSpec()
    """How many workers, and what they are like."""
    status: TaskClusterStatus = TaskClusterStatus()
    """How busy it is. Written by Tidegate."""
