"""Who had which part of the machine when: a column for every moment, a cell for every slot. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tidegate.cli.demo.work import BOTH, SLOTS

COLUMN_S = 0.5
MARKS = {work.tenant: work.tenant[0] for work in BOTH}


@dataclass(frozen=True, slots=True)
class Sample:
    """How many pods of each tenant ran at a moment."""

    at_s: float
    running: Mapping[str, int]


def columns(samples: Sequence[Sample], most: int) -> list[str]:
    """A column for every half second, each the marks of its slots from the bottom: "aaaa bbb"; the latest `most`."""
    if not samples:
        return []
    made = []
    index = 0
    for number in range(int(samples[-1].at_s / COLUMN_S) + 1):
        while index + 1 < len(samples) and samples[index + 1].at_s <= number * COLUMN_S:
            index += 1
        below, above = (mark * samples[index].running.get(tenant, 0) for tenant, mark in MARKS.items())
        made.append((below[:SLOTS].ljust(SLOTS - len(above)) + above)[:SLOTS])
    return made[-most:]


def rows(drawn: Sequence[str]) -> list[str]:
    """The same as lines, the topmost slot first."""
    return ["".join(column[slot] for column in drawn) for slot in reversed(range(SLOTS))]


def used(samples: Sequence[Sample]) -> float:
    """Part of the machine that was in use, over the time from the first pod to the last."""
    busy = [sample for sample in samples if any(sample.running.values())]
    if len(busy) < 2:
        return 0.0
    held = sum(
        min(SLOTS, sum(sample.running.values())) * (after.at_s - sample.at_s) for sample, after in pairwise(busy)
    )
    return held / (SLOTS * (busy[-1].at_s - busy[0].at_s))
