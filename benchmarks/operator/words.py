"""What the world must know of whom it plays for: how a Workload is written there, and how its state is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from benchmarks.operator.mix import Arrival

Json = Any
Conditions = list[msgspec.Raw]


class Status(msgspec.Struct):
    """As much of a Workload's status as either tells its state by."""

    state: str = ""
    conditions: Conditions = []


@dataclass(frozen=True, slots=True)
class Words:
    """One scheduler's own kinds."""

    path: str
    """Where the Workloads of the mix are."""
    body: Callable[[Arrival], Json]
    state: Callable[[Status], str]
    """`Admitted`, `Evicted` (its quota is wanted back), or anything else."""
    let_go: Callable[[Conditions], Json] | None
    """The status of one that has stopped after it was evicted, where that is for whoever runs it to say."""
    queues: Callable[[int], Iterator[tuple[str, Json]]]
    """The queues of the mix, by the quota of each: where each object is made, and the object."""
