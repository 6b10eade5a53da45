"""What is known of a Job at one moment: its pods sorted by what they mean, and the counts that follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidegate.local.controllers.job.backoff import finished_at
from tidegate.local.controllers.job.objects import (
    INDEX_FAILURES,
    INDEX_IGNORED,
    Job,
    Uncounted,
    annotated_count,
    failed,
    index_of,
    tracked,
)
from tidegate.local.controllers.job.policies import Failure, meaning
from tidegate.local.controllers.pods import Pod
from tidegate.model.indexes import parse_indexes


@dataclass(slots=True)
class Survey:
    job: Job
    pods: list[Pod]
    uncounted: Uncounted
    """As the status lists them."""
    open: list[Pod]
    """Pods that still carry the finalizer."""
    active: list[Pod]
    terminating: list[Pod]
    new_succeeded: list[Pod]
    new_failed: list[Pod]
    """Finished, and in no count nor list yet."""
    succeeded_indexes: set[int] = field(default_factory=set)
    failed_indexes: set[int] = field(default_factory=set)
    awaited: dict[int, Pod] = field(default_factory=dict)
    """The last failed pod of each index that waits for its replacement, which inherits its count of failures."""

    @property
    def succeeded(self) -> int:
        if self.job.indexed:
            return len(self.succeeded_indexes)
        return self.job.status.succeeded + len(self.new_succeeded) + len(self.uncounted.succeeded)

    @property
    def failed(self) -> int:
        counted = sum(1 for pod in self.new_failed if self.failure(pod).counts)
        return self.job.status.failed + counted + len(self.uncounted.failed)

    def failure(self, pod: Pod) -> Failure:
        return meaning(self.job.spec.pod_failure_policy, pod)

    def valid_index(self, pod: Pod) -> int | None:
        """Its index, if the Job (as large as it is now) has that."""
        index = index_of(pod)
        return index if index is not None and index < (self.job.spec.completions or 0) else None


def survey(job: Job, pods: Iterable[Pod], released: frozenset[str]) -> Survey:
    """`released`: pods whose finalizer is off although the cache may still show it."""
    everyone = sorted(pods, key=lambda pod: (pod.metadata.created, pod.metadata.name))
    uncounted = job.status.uncounted_terminated_pods or Uncounted()
    seen = Survey(
        job,
        everyone,
        uncounted,
        open=[pod for pod in everyone if tracked(pod) and pod.uid not in released],
        active=[pod for pod in everyone if pod.active],
        terminating=[pod for pod in everyone if pod.terminating],
        new_succeeded=[],
        new_failed=[],
    )
    valid = [pod for pod in seen.open if not job.indexed or seen.valid_index(pod) is not None]
    listed = {*uncounted.succeeded, *uncounted.failed}
    fresh = [pod for pod in valid if pod.uid not in listed]
    seen.new_succeeded = [pod for pod in fresh if pod.status.phase == "Succeeded"]
    seen.new_failed = [pod for pod in fresh if failed(pod, job)]
    if job.indexed:
        _add_indexes(seen, valid)
    return seen


def _add_indexes(seen: Survey, valid: list[Pod]) -> None:
    job, completions = seen.job, seen.job.spec.completions or 0
    fresh = {index_of(pod) for pod in valid if pod.status.phase == "Succeeded"}
    known = parse_indexes(job.status.completed_indexes, completions)
    seen.succeeded_indexes = known | {index for index in fresh if index is not None}
    if not job.per_index:
        return
    seen.failed_indexes = parse_indexes(job.status.failed_indexes or "", completions)
    fallen = [pod for pod in valid if failed(pod, job)]
    seen.failed_indexes |= {index for pod in fallen if (index := index_of(pod)) is not None and _fails_index(seen, pod)}
    settled = seen.succeeded_indexes | seen.failed_indexes | {index_of(pod) for pod in seen.active}
    for pod in sorted(fallen, key=lambda pod: (failures_of(pod), finished_at(pod))):
        index = index_of(pod)
        if index is not None and index not in settled:
            seen.awaited[index] = pod


def _fails_index(seen: Survey, pod: Pod) -> bool:
    failure = seen.failure(pod)
    limit = seen.job.spec.backoff_limit_per_index or 0
    return failure.fails_index or (failure.counts and annotated_count(pod, INDEX_FAILURES) >= limit)


def failures_of(pod: Pod) -> int:
    """How often its index had failed before it, ignored failures too."""
    return annotated_count(pod, INDEX_FAILURES) + annotated_count(pod, INDEX_IGNORED)
