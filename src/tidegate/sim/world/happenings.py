"""What happened, one line of the timeline each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate.scheduler import Instant


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that happened to somebody, with its numbers in words."""

    at: Instant
    what: str
    """A verb: submit, admit, grow, shrink, evict, start, end, fail, finish, resize, apply, delete, wait."""
    who: str
    detail: str = ""


def counted(pods: Mapping[str, Mapping[str, int]]) -> str:
    """Pods for people: "main 3", or by flavor where there are several: "main 2 default + 1 a100"."""
    parts = []
    for pod_set, by_flavor in pods.items():
        some = {flavor: count for flavor, count in by_flavor.items() if count}
        if len(some) > 1 or any(flavor != "default" for flavor in some):
            parts.append(f"{pod_set} " + " + ".join(f"{count} {flavor}" for flavor, count in some.items()))
        elif some:
            parts.append(f"{pod_set} {sum(some.values())}")
    return ", ".join(parts)
