"""When a Job has failed or succeeded, and whether it is suspended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec.structs import replace

from tidegate.local.controllers.job.objects import JobStatus, failed, template_policy
from tidegate.local.controllers.job.policies import success_rule_met
from tidegate.local.controllers.job.survey import Survey
from tidegate.local.controllers.objects import Condition, condition_of
from tidegate.local.controllers.recorder import Happening


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a Job ends. `type` is the interim condition."""

    type: str
    reason: str
    message: str

    @property
    def final(self) -> str:
        return "Complete" if self.type == "SuccessCriteriaMet" else "Failed"


def standing_verdict(seen: Survey, start: datetime | None, now: datetime) -> Verdict | None:
    """What was decided before stands; else a failure that does not depend on indexes."""
    for kind in ("SuccessCriteriaMet", "FailureTarget"):
        decided = condition_of(seen.job.status.conditions, kind)
        if decided is not None and decided.true:
            return Verdict(kind, decided.reason, decided.message)
    for pod in seen.pods:
        if failed(pod, seen.job) and (message := seen.failure(pod).fails_job):
            return Verdict("FailureTarget", "PodFailurePolicy", message)
    if seen.failed > seen.job.spec.backoff_limit or _restarted_too_often(seen):
        return Verdict("FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    if _past_deadline(seen, start, now):
        return Verdict("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
    return None


def verdict_of_indexes(seen: Survey) -> Verdict | None:
    """A failure by failed indexes, then a success by the success policy."""
    spec = seen.job.spec
    if not seen.job.indexed:
        return None
    fallen, done = len(seen.failed_indexes), len(seen.succeeded_indexes)
    if spec.max_failed_indexes is not None and fallen > spec.max_failed_indexes:
        message = "Job has exceeded the specified maximal number of failed indexes"
        return Verdict("FailureTarget", "MaxFailedIndexesExceeded", message)
    if fallen and fallen + done >= (spec.completions or 0):
        return Verdict("FailureTarget", "FailedIndexes", "Job has failed indexes")
    if message := success_rule_met(seen.job, seen.succeeded_indexes):
        return Verdict("SuccessCriteriaMet", "SuccessPolicy", message)
    return None


def with_suspension(status: JobStatus, suspend: bool, moment: datetime) -> tuple[JobStatus, list[Happening]]:
    """Suspending and resuming both reset startTime: the deadline counts continuous activity."""
    before = condition_of(status.conditions, "Suspended")
    if suspend == (before is not None and before.true):
        return status, []
    word = "suspended" if suspend else "resumed"
    state, reason = ("True", "JobSuspended") if suspend else ("False", "JobResumed")
    now = Condition("Suspended", state, reason, f"Job {word}", moment, None, moment)
    others = tuple(now if each is before else each for each in status.conditions)
    conditions = others if before else (*others, now)
    status = replace(status, conditions=conditions, start_time=None if suspend else moment)
    return status, [Happening("Normal", word.capitalize(), f"Job {word}")]


def _restarted_too_often(seen: Survey) -> bool:
    """With restartPolicy OnFailure, restarts in place count against the limit."""
    if template_policy(seen.job) != "OnFailure":
        return False
    running = [pod for pod in seen.pods if pod.status.phase in {"Running", "Pending"}]
    return sum(pod.restarts for pod in running) >= max(1, seen.job.spec.backoff_limit)


def _past_deadline(seen: Survey, start: datetime | None, now: datetime) -> bool:
    allowed_s = seen.job.spec.active_deadline_seconds
    if allowed_s is None or start is None or seen.job.spec.suspend:
        return False
    return now >= start + timedelta(seconds=allowed_s)
