"""ClusterQueue: a node of the quota tree."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from msgspec import Meta

from tidegate.model.duration import Duration
from tidegate.model.flavored import NO_AMOUNTS, Flavored
from tidegate.model.kinds.selector import LabelSelector
from tidegate.model.kinds.shape import (
    AGE,
    MOST_FLAVORS,
    UNIQUE,
    Column,
    Conditions,
    Definition,
    Kind,
    ObjectName,
    Rule,
    Shape,
    Status,
    Total,
    Weight,
    keyed,
    names_resources,
)
from tidegate.model.quantity import Quantity
from tidegate.model.ratio import Ratio


class Ordering(StrEnum):
    """Whether an ask that does not fit lets others pass."""

    BEST_EFFORT = "BestEffort"
    """Those behind it may pass, until it has waited longer than `patience`."""
    STRICT = "Strict"
    """The first in line blocks the rest of its ClusterQueue."""


class WithinQueue(StrEnum):
    """Whose floor may be taken for an ask of the same Queue."""

    NEVER = "Never"
    """Nobody's."""
    LOWER_PRIORITY = "LowerPriority"
    """That of a workload of lower priority."""
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"
    """That of a workload of lower priority, or of equal priority and younger."""


class AcrossQueues(StrEnum):
    """Whose floor may be taken for an ask of another Queue."""

    NEVER = "Never"
    """Nobody's."""
    LOWER_PRIORITY = "LowerPriority"
    """That of a workload of lower priority."""
    FAIR_SHARE = "FairShare"
    """That of a workload whose queue holds more than it deserves."""


class Stop(StrEnum):
    """Whether a ClusterQueue is open."""

    NONE = "None"
    """It is open."""
    HOLD = "Hold"
    """Nothing new is admitted and nothing grows; what runs goes on."""
    HOLD_AND_DRAIN = "HoldAndDrain"
    """Nothing is admitted, and everything it holds is taken back at once."""


class ResourceQuota(Shape, frozen=True, kw_only=True):
    """The quota of one resource of one flavor."""

    nominal_quota: Quantity
    """The guarantee: this much is there for this node whenever it asks. A part of the parent's, not on top of it."""
    borrowing_limit: Quantity | None = None
    """How far use may go above the guarantee when others leave room. Without it, as far as there is room."""
    lending_limit: Quantity | None = None
    """How much of the idle guarantee others may use. Without it, all; the rest stays free for its owner."""


class FlavorQuotas(Shape, frozen=True, kw_only=True):
    """The quotas of one flavor."""

    rules: ClassVar[tuple[Rule, ...]] = (names_resources("resources", lambda self: self.resources),)

    flavor: ObjectName
    """The ResourceFlavor."""
    resources: Annotated[Mapping[str, ResourceQuota], Meta(min_length=1, max_length=64)]
    """Quotas by resource."""


class Preemption(Shape, frozen=True, kw_only=True):
    """Whose floors may be taken to make room. What a workload holds above its floor is never protected by this."""

    within_queue: WithinQueue = WithinQueue.NEVER
    """For an ask of the same Queue."""
    across_queues: AcrossQueues = AcrossQueues.FAIR_SHARE
    """For an ask of another Queue."""


Names = Annotated[tuple[str, ...], Meta(max_length=256, extra_json_schema=UNIQUE)]


class Submitters(Shape, frozen=True, kw_only=True):
    """Who may submit to the Queues below a ClusterQueue. With both lists empty, everyone who may create the objects."""

    users: Names = ()
    """User names as the API server knows them."""
    groups: Names = ()
    """Groups, of which a submitter has to be in one."""


class ClusterQueueSpec(Shape, frozen=True, kw_only=True):
    """A node's place in the tree, what it is guaranteed, and how it decides."""

    parent: ObjectName | None = None
    """The ClusterQueue above. Without it this is a root."""
    weight: Weight = 1
    """Its part among its siblings: with weight 2 it deserves twice what one with weight 1 does."""
    quotas: Annotated[tuple[FlavorQuotas, ...], Meta(max_length=MOST_FLAVORS, extra_json_schema=keyed("flavor"))] = ()
    """Guarantees, flavors in order of preference. A root without any takes its capacity from the nodes."""
    ordering: Ordering = Ordering.BEST_EFFORT
    """Whether an ask that does not fit lets others pass."""
    patience: Duration = Duration(3600)
    """With ordering `BestEffort`: room is held for an ask that has waited longer than this."""
    preemption: Preemption = Preemption()
    """Whose floors may be taken to make room."""
    policy: Annotated[str, Meta(min_length=1, max_length=63)] = "drf"
    """In which order its children are served: `drf`, `fifo`, `priority`, or the name of a registered Python policy."""
    namespace_selector: LabelSelector = LabelSelector()
    """Namespaces whose Queues may point here, by their labels. Empty: every namespace."""
    submitters: Submitters = Submitters()
    """Who may submit here. Inherited down the tree."""
    stop: Stop = Stop.NONE
    """Whether it is open."""


class QueueStatus(Status, frozen=True, kw_only=True):
    """What a node of the tree deserves, holds and uses, by flavor and resource."""

    deserved: Flavored = NO_AMOUNTS
    """What it would hold if the whole capacity were handed out afresh to everyone who asks."""
    allocated: Flavored = NO_AMOUNTS
    """What is granted to its workloads."""
    used: Flavored = NO_AMOUNTS
    """What its running pods request."""
    share: Ratio = Ratio(0)
    """Use above the guarantee as a part of the parent's capacity, over its weight, where that is most."""
    pending_workloads: Total = 0
    """Workloads that wait to be admitted, evicted ones included."""
    admitted_workloads: Total = 0
    """Workloads that hold at least their floor."""
    conditions: Conditions = ()
    """What else is true of it, and why."""


QUEUE_COLUMNS = (
    Column("Share", ".status.share"),
    Column("Pending", ".status.pendingWorkloads", "integer"),
    Column("Admitted", ".status.admittedWorkloads", "integer"),
)


class ClusterQueue(Kind, frozen=True, kw_only=True):
    """A node of the quota tree: what a part of the organisation is guaranteed, may borrow, and lends."""

    definition: ClassVar[Definition] = Definition(
        plural="clusterqueues",
        short=("cq",),
        columns=(
            Column("Parent", ".spec.parent"),
            Column("Weight", ".spec.weight", "integer"),
            *QUEUE_COLUMNS,
            Column("Stop", ".spec.stop", wide=True),
            Column("Policy", ".spec.policy", wide=True),
            AGE,
        ),
        namespaced=False,
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!has(self.spec) || !has(self.spec.parent) || self.spec.parent != self.metadata.name",
            "a ClusterQueue cannot be its own parent; name another one, or leave parent out to make a root",
            lambda self: self.spec.parent is None or self.spec.parent != self.metadata.name,
            ".spec.parent",
        ),
    )

    spec: ClusterQueueSpec = ClusterQueueSpec()
    """Its place in the tree, what it is guaranteed, and how it decides."""
    status: QueueStatus = QueueStatus()
    """What it deserves, holds and uses. Written by Tidegate."""
