"""Decides one step of a Job: which pods to create and delete, what to count, what to say in the status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from tidegate.local.controllers.job.backoff import NO_FAILURES, Backoff
from tidegate.local.controllers.job.conditions import Verdict, standing_verdict, verdict_of_indexes, with_suspension
from tidegate.local.controllers.job.counting import Tally, tally
from tidegate.local.controllers.job.objects import Job, JobStatus, Uncounted
from tidegate.local.controllers.job.sizing import Sizing, size
from tidegate.local.controllers.job.survey import Survey, survey
from tidegate.local.controllers.job.template import NewPod
from tidegate.local.controllers.objects import Condition, stamp, without_condition
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.recorder import Happening

RELEASED_MOST = 500
"""Pods counted in one step, so that the status stays small."""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """To be applied in this order: pods, then the status, then the finalizers."""

    status: JobStatus
    create: list[NewPod] = field(default_factory=list)
    delete: list[Pod] = field(default_factory=list)
    """Deleted as they are: they are counted before they may go."""
    drop: list[Pod] = field(default_factory=list)
    """Not needed any more: their finalizer goes first, so that they are never counted."""
    release: list[Pod] = field(default_factory=list)
    """Their finalizer goes once the status is written."""
    backoff: Backoff = NO_FAILURES
    """To be remembered once the status is written."""
    requeue_after_s: float | None = None
    happenings: list[Happening] = field(default_factory=list)


def plan_job(
    job: Job,
    pods: Iterable[Pod],
    now: datetime,
    *,
    backoff: Backoff = NO_FAILURES,
    released: frozenset[str] = frozenset(),
) -> JobPlan:
    """The next step of a Job that is not finished, given all that was done to it has been seen.

    A Job ends in two steps: first the interim condition (FailureTarget, SuccessCriteriaMet) with the deletion of what
    still runs, then, when every pod is gone and counted, Failed or Complete.
    """
    moment = stamp(now)
    seen = survey(job, pods, released)
    backoff = backoff.after(seen.new_succeeded, seen.new_failed)
    start = job.status.start_time or (None if job.spec.suspend else moment)
    verdict = standing_verdict(seen, start, now) or verdict_of_indexes(seen)
    sizing = Sizing(delete=seen.active)
    if verdict is None:
        sizing = size(seen, now, backoff) if job.metadata.deletion_timestamp is None else Sizing()
        verdict = _completion(seen, len(seen.active) - len(sizing.drop) + len(sizing.create))
    counted = tally(seen, ended=verdict, most=RELEASED_MOST)
    status = _counts(seen, sizing, counted, start)
    happenings: list[Happening] = []
    requeue_after_s = sizing.requeue_after_s
    if verdict is not None:
        status, happenings = _with_verdict(status, verdict, moment, settled=not counted.release and not status.active)
    elif job.metadata.deletion_timestamp is None:
        status, happenings = with_suspension(status, job.spec.suspend, moment)
        requeue_after_s = _sooner(requeue_after_s, _deadline_s(job, status, now))
    return JobPlan(
        status,
        sizing.create,
        sizing.delete,
        sizing.drop,
        [pod for pod in counted.release if pod not in sizing.drop],
        backoff,
        requeue_after_s,
        happenings,
    )


def _completion(seen: Survey, active: int) -> Verdict | None:
    """A Job without `completions` is complete when one pod has succeeded and the others have ended."""
    enough = 1 if seen.job.spec.completions is None else seen.job.spec.completions
    if active == 0 and seen.succeeded >= enough:
        return Verdict("SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods")
    return None


def _counts(seen: Survey, sizing: Sizing, counted: Tally, start: datetime | None) -> JobStatus:
    """The status with every number of it; conditions as they were."""
    gone = {pod.uid for pod in (*sizing.delete, *sizing.drop)}
    left = [pod for pod in seen.active if pod.uid not in gone]
    return replace(
        seen.job.status,
        start_time=start,
        active=len(left) + len(sizing.create),
        ready=sum(1 for pod in left if pod.ready),
        terminating=len(seen.terminating) + len(gone),
        succeeded=counted.succeeded,
        failed=counted.failed,
        completed_indexes=counted.completed_indexes,
        failed_indexes=counted.failed_indexes,
        uncounted_terminated_pods=counted.uncounted,
    )


def _with_verdict(
    status: JobStatus, verdict: Verdict, moment: datetime, *, settled: bool
) -> tuple[JobStatus, list[Happening]]:
    """The interim condition, and the final one once nothing is left to wait for."""
    conditions = status.conditions
    interim = Condition(verdict.type, "True", verdict.reason, verdict.message, moment, None, moment)
    if all(not (each.type == verdict.type and each.true) for each in conditions):
        conditions = (*without_condition(conditions, verdict.type), interim)
    if not settled or status.terminating or not (status.uncounted_terminated_pods or Uncounted()).empty:
        return replace(status, conditions=conditions), []
    final = replace(interim, type=verdict.final)
    status = replace(status, conditions=(*without_condition(conditions, verdict.final), final))
    if verdict.final == "Complete":
        return replace(status, completion_time=moment), [Happening("Normal", "Completed", "Job completed")]
    return status, [Happening("Warning", verdict.reason, verdict.message)]


def _deadline_s(job: Job, status: JobStatus, now: datetime) -> float | None:
    if job.spec.active_deadline_seconds is None or job.spec.suspend or status.start_time is None:
        return None
    ends = status.start_time + timedelta(seconds=job.spec.active_deadline_seconds)
    return max(0.0, (ends - now).total_seconds())


def _sooner(*delays: float | None) -> float | None:
    return min((delay for delay in delays if delay is not None), default=None)
