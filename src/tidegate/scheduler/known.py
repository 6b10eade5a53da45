"""What a cycle is told of workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate.scheduler.plan import Waiting
from tidegate.scheduler.snapshot import Workload


@dataclass(frozen=True, slots=True)
class Known:
    """What a planner knows of workloads besides what they hold."""

    workloads: Mapping[str, Workload]
    kept_out: Mapping[str, Waiting]
    """Those that may not ask, and why."""
    active: Mapping[str, int]
    """How many of a Queue are active, admitted or not."""
