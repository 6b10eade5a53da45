"""Counting finished pods exactly once (the way is told in the package's docstring)."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.local.controllers.job.conditions import Verdict
from tidegate.local.controllers.job.objects import Uncounted, failed, index_of
from tidegate.local.controllers.job.survey import Survey
from tidegate.local.controllers.pods import Pod
from tidegate.model.indexes import format_indexes


@dataclass(frozen=True, slots=True)
class Tally:
    succeeded: int
    failed: int
    completed_indexes: str
    failed_indexes: str | None
    uncounted: Uncounted
    release: list[Pod]


def tally(seen: Survey, *, ended: Verdict | None, most: int) -> Tally:
    """Moves uids whose finalizer is off into the counters, lists those newly finished, and names whom to release."""
    job, before = seen.job, seen.uncounted
    held = {pod.uid for pod in seen.open}
    succeeded = [uid for uid in before.succeeded if uid in held]
    failures = [uid for uid in before.failed if uid in held]
    listed = {*succeeded, *failures}
    free = [pod for pod in seen.open if _may_go(seen, pod, ended)]
    # Who is listed already goes first: the list must not grow while its older entries wait.
    release = sorted(free, key=lambda pod: (pod.uid not in listed, index_of(pod) or 0))[:most]
    for pod in release:
        if pod.uid in listed:
            continue
        if pod.status.phase == "Succeeded":
            succeeded += [] if job.indexed else [pod.uid]
        elif _counts_as_failure(seen, pod, ended):
            failures.append(pod.uid)
    counted = job.status.succeeded + len(before.succeeded) - len(set(before.succeeded) & held)
    return Tally(
        len(seen.succeeded_indexes) if job.indexed else counted,
        job.status.failed + len(before.failed) - len(set(before.failed) & held),
        format_indexes(seen.succeeded_indexes),
        format_indexes(seen.failed_indexes) if job.per_index else None,
        Uncounted(tuple(succeeded), tuple(failures)),
        release,
    )


def _counts_as_failure(seen: Survey, pod: Pod, ended: Verdict | None) -> bool:
    """When the Job has failed, whatever still runs has failed with it."""
    if not failed(pod, seen.job) and (ended is None or ended.final != "Failed"):
        return False
    return seen.failure(pod).counts and (not seen.job.indexed or seen.valid_index(pod) is not None)


def _may_go(seen: Survey, pod: Pod, ended: Verdict | None) -> bool:
    """A failed pod whose replacement must inherit its count stays until that exists."""
    if seen.job.metadata.deletion_timestamp or ended or pod.status.phase == "Succeeded":
        return True
    if not failed(pod, seen.job):
        return False
    awaited = seen.awaited.get(index_of(pod) or 0)
    return awaited is None or awaited.uid != pod.uid
