"""Policies: in which order the children of a ClusterQueue are served.

A policy is any object with `order(candidate)`: the smaller, the sooner. Ties go to the older ask, then to the name,
which the scheduler adds itself. It must answer from the candidate alone, or the same snapshot would give different
plans.

    class SmallestFirst:
        def order(self, candidate):
            return candidate.pods
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

from tidegate.scheduler.snapshot import Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A child of a ClusterQueue, and the ask it would be served for."""

    name: str
    weight: int
    share: Fraction
    """Its share counted with the ask granted; without it, once the ask has lost patience."""
    share_now: Fraction
    workload: str
    priority: int
    created: Instant
    pods: int
    is_floor: bool


class Policy(Protocol):
    """In which order the children of a ClusterQueue are served."""

    def order(self, candidate: Candidate, /) -> Any:
        """A value to compare by, of one type for all candidates; the smallest is served first."""


class Drf:
    """Smallest share first: weighted hierarchical dominant-resource fairness."""

    def order(self, candidate: Candidate) -> Fraction:
        return candidate.share


class Fifo:
    """Oldest ask first, whoever holds how much."""

    def order(self, candidate: Candidate) -> int:
        return candidate.created


class ByPriority:
    """Highest priority first; between equals the smallest share."""

    def order(self, candidate: Candidate) -> tuple[int, Fraction]:
        return (-candidate.priority, candidate.share)


Policies = Mapping[str, Policy]
DRF = "drf"
BUILT_IN: Policies = MappingProxyType({DRF: Drf(), "fifo": Fifo(), "priority": ByPriority()})
"""What is there without registering anything. Whoever calls `plan` adds those it found as entry points."""
