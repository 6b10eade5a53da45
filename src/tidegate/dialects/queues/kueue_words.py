"""Kueue's names for what both trees have, and marks that let a tree come back as it was."""

from __future__ import annotations

from tidegate.model.kinds.cluster_queue import AcrossQueues, Ordering

GROUP = "kueue.x-k8s.io"
API_VERSION = f"{GROUP}/v1beta2"

STRATEGY = {Ordering.BEST_EFFORT: "BestEffortFIFO", Ordering.STRICT: "StrictFIFO"}
RECLAIM = {
    AcrossQueues.NEVER: "Never",
    AcrossQueues.LOWER_PRIORITY: "LowerPriority",
    AcrossQueues.FAIR_SHARE: "Any",
}

NOT_STATED = "tidegate.dev/not-stated"
"""Quotas that are written only because Kueue wants every flavor to have every resource, as flavor/resource."""
DOORS_OF = "tidegate.dev/doors-of"
"""A ClusterQueue that exists only because Kueue's Cohorts have no LocalQueues of their own."""
