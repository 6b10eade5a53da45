"""Queues and workloads as rows of text. Pure: `now` comes in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tidegate.cli.views.tree import full_name, tree

Json = dict[str, Any]
Row = tuple[str, ...]

QUEUE_HEADING: Row = ("QUEUE", "DESERVED", "ALLOCATED", "USED", "SHARE", "PENDING", "ADMITTED", "NOTE")
WORKLOAD_HEADING: Row = ("WORKLOAD", "KIND", "QUEUE", "STATE", "GRANTED", "RUNNING", "AGE", "WHY")
_RANK = {"Admitted": 0, "Pending": 1, "Evicted": 1, "Inactive": 2}


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read of a server."""

    cluster_queues: list[Json] = field(default_factory=list)
    queues: list[Json] = field(default_factory=list)
    workloads: list[Json] = field(default_factory=list)


def queue_rows(seen: Seen) -> list[Row]:
    """The tree, each place with its numbers."""
    return [_queue(depth, node) for depth, node in tree(seen.cluster_queues, seen.queues)]


def workload_rows(workloads: Sequence[Json], now: datetime) -> list[Row]:
    """Those that run, those that wait in their order, and those that have ended, the newest first."""
    ended = sorted(filter(is_over, workloads), key=lambda each: str(each["metadata"].get("creationTimestamp")))
    others = sorted((each for each in workloads if not is_over(each)), key=_order)
    return [_workload(each, now) for each in [*others, *reversed(ended)]]


def is_over(workload: Json) -> bool:
    return state(workload) == "Finished"


def state(workload: Json) -> str:
    """In one word."""
    return str((workload.get("status") or {}).get("state") or "Pending")


def _order(workload: Json) -> tuple[Any, ...]:
    waiting = (workload.get("status") or {}).get("waiting") or {}
    made = str(workload["metadata"].get("creationTimestamp"))
    return _RANK.get(state(workload), 2), int(waiting.get("ahead") or 0), made, workload["metadata"]["name"]


def _queue(depth: int, node: Json) -> Row:
    from tidegate.cli.queued.tables import amounts

    status = node.get("status") or {}
    notes = [
        str(each.get("message") or each["reason"])
        for each in status.get("conditions") or ()
        if each["status"] == "False" or each["reason"].startswith("Unknown")
    ]
    if (stop := (node.get("spec") or {}).get("stop", "None")) != "None" and not notes:
        notes.append(f"stopped ({stop})")
    return (
        "  " * depth + full_name(node),
        amounts(status.get("deserved")),
        amounts(status.get("allocated")),
        amounts(status.get("used")),
        str(status.get("share", "-")),
        str(status.get("pendingWorkloads", "-")),
        str(status.get("admittedWorkloads", "-")),
        "; ".join(notes),
    )


def _workload(workload: Json, now: datetime) -> Row:
    from tidegate.cli.jobs.found import short_name

    spec, status, meta = workload["spec"], workload.get("status") or {}, workload["metadata"]
    has = status.get("podSets") or ()
    asked = sum(int(each["count"]) for each in spec["podSets"])
    ended = sum(int(each["count"]) for each in status.get("reclaimedPodSetPods") or ())
    return (
        f"{meta['namespace']}/{short_name(workload)}",
        str((spec.get("owner") or {}).get("kind") or "-"),
        str(spec.get("queue")),
        state(workload),
        f"{sum(int(each.get('granted') or 0) for each in has)} of {asked - ended}",
        str(sum(int(each.get("running") or 0) for each in has)),
        age(meta.get("creationTimestamp"), now),
        _why(status),
    )


def _why(status: Json) -> str:
    """Why it waits; what became of one that has ended; why it has less than before."""
    if waiting := status.get("waiting"):
        ahead = f" ({waiting['ahead']} before it)" if waiting.get("ahead") else ""
        return f"{waiting['reason']}{ahead}: {waiting.get('message', '')}"
    for kind in ("Finished", "Shrunk"):
        for condition in status.get("conditions") or ():
            if condition["type"] == kind and condition["status"] == "True":
                return condition["reason"] if kind == "Finished" else f"Shrunk: {condition.get('message', '')}"
    return ""


def age(made: str | None, now: datetime) -> str:
    """How long ago, in the largest unit or two."""
    if not made:
        return "-"
    seconds = max(0, int((now - datetime.fromisoformat(made)).total_seconds()))
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
