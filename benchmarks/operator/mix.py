"""Queues and Workloads of Kueue's baseline, whoever admits them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

NAMESPACE = "bench"
COHORTS, QUEUES = 5, 6
NOMINAL, BORROWING = 20, 100


@dataclass(frozen=True, slots=True)
class Shape:
    """One class of Workloads: how many a queue gets and how often, what each takes, and how long it runs."""

    name: str
    count: int
    every_s: float
    cpu: int
    runs_s: float
    priority: int


SHAPES = (
    Shape("small", 350, 0.1, 1, 0.2, 50),
    Shape("medium", 100, 0.5, 5, 0.5, 100),
    Shape("large", 50, 1.2, 20, 1.0, 200),
)


@dataclass(frozen=True, slots=True, order=True)
class Arrival:
    """A Workload and when it comes."""

    at_s: float
    name: str
    queue: str
    shape: Shape


def queue_names() -> Iterator[tuple[str, str]]:
    """Cohort and queue."""
    for cohort in range(COHORTS):
        for queue in range(QUEUES):
            yield f"cohort-{cohort}", f"cohort-{cohort}-cq-{queue}"


def arrivals(share: float) -> list[Arrival]:
    """All Workloads of the mix (or a share of each class), in the order in which they come."""
    found = [
        Arrival(turn * shape.every_s, f"{queue}-{shape.name}-{turn}", queue, shape)
        for _, queue in queue_names()
        for shape in SHAPES
        for turn in range(round(shape.count * share))
    ]
    return sorted(found, key=lambda one: (one.at_s, one.name))


def least_seconds(share: float) -> float:
    """How long the mix takes with no overhead at all: all the work there is, over the quota."""
    work = sum(round(shape.count * share) * shape.cpu * shape.runs_s for shape in SHAPES)
    return work / NOMINAL
