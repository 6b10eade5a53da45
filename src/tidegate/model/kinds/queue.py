"""Queue: the tenant's door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.kinds.cluster_queue import QUEUE_COLUMNS, QueueStatus
from tidegate.model.kinds.shape import (
    AGE,
    Column,
    Definition,
    Kind,
    ObjectName,
    Rule,
    Shape,
    Weight,
    names_resources,
)
from tidegate.model.quantity import Quantity
from tidegate.model.resources import NOTHING, Resources

ROOT = "root"
"""The ClusterQueue made at installation and sized from the nodes."""


class QueueSpec(Shape, frozen=True, kw_only=True):
    """Where the door leads, and how much may pass."""

    rules: ClassVar[tuple[Rule, ...]] = (
        names_resources("limits", lambda self: self.limits),
        names_resources("request", lambda self: self.request),
    )

    cluster_queue: ObjectName = ROOT
    """The ClusterQueue it belongs to. `root` is made at installation and sized from the nodes."""
    weight: Weight = 1
    """Its part among the Queues and ClusterQueues beside it."""
    limits: Annotated[Mapping[str, Quantity], Meta(max_length=64)] = {}
    """Hard cap by resource, over all flavors. A resource not named is not capped; 0 admits none of it."""
    request: Resources = NOTHING
    """Standing demand: counted when shares are computed although no pod asks for it yet."""


class Queue(Kind, frozen=True, kw_only=True):
    """A tenant's door: workloads of its namespace enter here. One with nothing in its spec works."""

    definition: ClassVar[Definition] = Definition(
        plural="queues",
        short=("q",),
        columns=(
            Column("ClusterQueue", ".spec.clusterQueue"),
            *QUEUE_COLUMNS,
            Column("Weight", ".spec.weight", "integer", wide=True),
            AGE,
        ),
    )

    spec: QueueSpec = QueueSpec()
    """Where the door leads, and how much may pass."""
    status: QueueStatus = QueueStatus()
    """What it deserves, holds and uses. Written by Tidegate."""
