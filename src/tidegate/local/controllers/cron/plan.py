"""Decides what a CronJob does now: start a Job, replace one, forget old ones, or wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec.structs import replace

from tidegate.kube.wire import Object
from tidegate.local.controllers.cron.objects import ActiveJob, CronJob, CronJobStatus
from tidegate.local.controllers.cron.schedule import Schedule, ScheduleError, latest, parse_schedule
from tidegate.local.controllers.job.objects import Job, copied
from tidegate.local.controllers.objects import condition_of, owner_reference
from tidegate.local.controllers.recorder import Happening

MISSED_MANY = 100
_SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


@dataclass(frozen=True, slots=True)
class CronPlan:
    """To be applied in this order: deletions, the new Job (which joins the active ones), the status."""

    status: CronJobStatus
    create: Object | None = None
    delete: list[Job] = field(default_factory=list)
    requeue_after_s: float | None = None
    happenings: list[Happening] = field(default_factory=list)


def plan_cron_job(cron_job: CronJob, jobs: Sequence[Job], now: datetime) -> CronPlan:
    """`jobs` are those it controls, as they are known after all its own writes were seen."""
    status, told = _bookkeeping(cron_job, jobs)
    old = _outlived(cron_job, jobs)
    told += [Happening("Normal", "SuccessfulDelete", f"Deleted job {job.metadata.name}") for job in old]
    if cron_job.metadata.deletion_timestamp is not None:
        return CronPlan(status, happenings=told)
    if cron_job.spec.suspend:
        return CronPlan(status, delete=old, happenings=told)
    try:
        schedule = schedule_of(cron_job)
    except ScheduleError as error:
        reason = "UnknownTimeZone" if "timeZone" in str(error) else "UnparseableSchedule"
        return CronPlan(status, delete=old, happenings=[*told, Happening("Warning", reason, str(error))])
    due, complaints = _due(cron_job, schedule, now)
    wait_s = _next_s(schedule, now)
    told += complaints
    if due is None or _already_started(cron_job, due):
        return CronPlan(status, None, old, wait_s, told)
    if cron_job.spec.concurrency_policy == "Forbid" and status.active:
        words = "Not starting job because prior execution is running and concurrency policy is Forbid"
        return CronPlan(status, None, old, wait_s, [*told, Happening("Normal", "JobAlreadyActive", words)])
    if cron_job.spec.concurrency_policy == "Replace":
        replaced = {each.uid for each in status.active}
        old += [job for job in jobs if job.metadata.uid in replaced]
        status = replace(status, active=())
    status = replace(status, last_schedule_time=due)
    return CronPlan(status, job_at(cron_job, due), old, wait_s, told)


def schedule_of(cron_job: CronJob) -> Schedule:
    zone = cron_job.spec.time_zone
    try:
        return parse_schedule(cron_job.spec.schedule, ZoneInfo(zone) if zone else None)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if isinstance(error, ScheduleError):
            raise ScheduleError(f'unparseable schedule: "{cron_job.spec.schedule}" : {error}') from None
        raise ScheduleError(f'invalid timeZone: "{zone}": unknown time zone {zone}') from None


def job_name(cron_job: CronJob, due: datetime) -> str:
    """The same for the same minute, so that one start can never make two Jobs."""
    return f"{cron_job.metadata.name}-{int(due.timestamp()) // 60}"


def job_at(cron_job: CronJob, due: datetime) -> Object:
    template = copied(cron_job.spec.job_template)
    metadata = template.get("metadata") or {}
    zone = ZoneInfo(cron_job.spec.time_zone) if cron_job.spec.time_zone else UTC
    shown = due.astimezone(zone).isoformat().replace("+00:00", "Z")
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(cron_job, due),
            "namespace": cron_job.metadata.namespace,
            "labels": metadata.get("labels") or {},
            "annotations": {**(metadata.get("annotations") or {}), _SCHEDULED_AT: shown},
            "ownerReferences": [owner_reference(cron_job.metadata, "batch/v1", "CronJob")],
        },
        "spec": template["spec"],
    }


def active_job(job: Job) -> ActiveJob:
    metadata = job.metadata
    return ActiveJob(metadata.name, metadata.uid, metadata.namespace, "Job", "batch/v1", metadata.resource_version)


def _bookkeeping(cron_job: CronJob, jobs: Sequence[Job]) -> tuple[CronJobStatus, list[Happening]]:
    """Active Jobs that finished or vanished leave the list; the last success is remembered."""
    known = {job.metadata.uid: job for job in jobs}
    active: list[ActiveJob] = []
    told: list[Happening] = []
    for each in cron_job.status.active:
        job = known.get(each.uid)
        if job is None:
            told.append(Happening("Normal", "MissingJob", f"Active job went missing: {each.name}"))
        elif job.finished:
            how = "Complete" if _succeeded(job) else "Failed"
            told.append(Happening("Normal", "SawCompletedJob", f"Saw completed job: {each.name}, condition: {how}"))
        else:
            active.append(each)
    ends = [job.status.completion_time for job in jobs if _succeeded(job)]
    last = max((end for end in (*ends, cron_job.status.last_successful_time) if end), default=None)
    return replace(cron_job.status, active=tuple(active), last_successful_time=last), told


def _due(cron_job: CronJob, schedule: Schedule, now: datetime) -> tuple[datetime | None, list[Happening]]:
    """The last start that should have been by now and is not too late."""
    since = cron_job.status.last_schedule_time or cron_job.metadata.created
    if (deadline_s := cron_job.spec.starting_deadline_seconds) is not None:
        since = max(since, now - timedelta(seconds=deadline_s))
    due = latest(schedule, since, now)
    if due is None:
        return None, []
    first = schedule.next(since)
    second = schedule.next(first) if first else None
    if first and second and (now - first) // (second - first) + 1 > MISSED_MANY:
        words = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        return due, [Happening("Warning", "TooManyMissedTimes", words)]
    return due, []


def _already_started(cron_job: CronJob, due: datetime) -> bool:
    name = job_name(cron_job, due)
    return due == cron_job.status.last_schedule_time or any(each.name == name for each in cron_job.status.active)


def _next_s(schedule: Schedule, now: datetime) -> float | None:
    after = schedule.next(now)
    return max(0.0, (after - now).total_seconds()) if after else None


def _outlived(cron_job: CronJob, jobs: Sequence[Job]) -> list[Job]:
    """Finished Jobs beyond the history limits, oldest first."""
    done = [job for job in jobs if job.finished and job.metadata.deletion_timestamp is None]
    limits = ((True, cron_job.spec.successful_jobs_history_limit), (False, cron_job.spec.failed_jobs_history_limit))
    old: list[Job] = []
    for succeeded, limit in limits:
        alike = [job for job in done if _succeeded(job) is succeeded]
        alike.sort(key=lambda job: (job.status.start_time or datetime.max.replace(tzinfo=UTC), job.metadata.name))
        old += alike[: max(0, len(alike) - limit)] if limit is not None else []
    return old


def _succeeded(job: Job) -> bool:
    complete = condition_of(job.status.conditions, "Complete")
    return complete is not None and complete.true
