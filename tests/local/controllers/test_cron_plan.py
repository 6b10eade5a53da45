"""When a CronJob starts Jobs, and when it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from tidegate.local.controllers.cron.objects import CronJob
from tidegate.local.controllers.cron.plan import CronPlan, active_job, plan_cron_job
from tidegate.local.controllers.job.objects import Job

START = datetime(2026, 1, 1, 10, 0, tzinfo=UTC)


def cron(**spec: Any) -> CronJob:
    body = {
        "metadata": {"name": "c", "namespace": "n", "uid": "cron-uid", "creationTimestamp": START.isoformat()},
        "spec": {"schedule": "*/10 * * * *", "timeZone": "UTC", "jobTemplate": {"spec": {"template": {}}}, **spec},
    }
    return msgspec.convert(body, CronJob)


def job(name: str, *, at: datetime = START, ended: str = "") -> Job:
    conditions = [{"type": ended, "status": "True", "lastTransitionTime": at.isoformat()}] if ended else []
    status = {"conditions": conditions, "startTime": at.isoformat()}
    status |= {"completionTime": at.isoformat()} if ended == "Complete" else {}
    return msgspec.convert({"metadata": {"name": name, "namespace": "n", "uid": name}, "status": status}, Job)


def started(plan: CronPlan) -> str | None:
    return plan.create["metadata"]["name"] if plan.create else None


def name_at(moment: datetime) -> str:
    return f"c-{int(moment.timestamp()) // 60}"


def after(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def test_nothing_starts_before_its_time() -> None:
    plan = plan_cron_job(cron(), [], after(9))
    assert started(plan) is None
    assert plan.requeue_after_s == 60


def test_a_start_is_named_after_its_minute_and_remembered() -> None:
    plan = plan_cron_job(cron(), [], after(10.5))
    assert started(plan) == name_at(after(10))
    assert plan.status.last_schedule_time == after(10)
    assert plan.create is not None
    stamp = plan.create["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"]
    assert stamp == "2026-01-01T10:10:00Z"


def test_of_missed_starts_only_the_last_is_made_up_for() -> None:
    plan = plan_cron_job(cron(), [], after(45))
    assert started(plan) == name_at(after(40))


def test_many_missed_starts_are_complained_about() -> None:
    plan = plan_cron_job(cron(schedule="* * * * *"), [], after(200))
    assert started(plan) == name_at(after(200))
    assert [each.reason for each in plan.happenings] == ["TooManyMissedTimes"]


def test_a_start_later_than_its_deadline_is_skipped() -> None:
    assert started(plan_cron_job(cron(startingDeadlineSeconds=60), [], after(15))) is None
    assert started(plan_cron_job(cron(startingDeadlineSeconds=600), [], after(15))) == name_at(after(10))


def test_the_same_start_is_not_made_twice() -> None:
    cron_job = cron()
    done = replace(cron_job, status=replace(cron_job.status, last_schedule_time=after(10)))
    assert started(plan_cron_job(done, [], after(15))) is None


def test_forbid_waits_for_the_running_job() -> None:
    running = job("old")
    cron_job = cron(concurrencyPolicy="Forbid")
    cron_job = replace(cron_job, status=replace(cron_job.status, active=(active_job(running),)))
    plan = plan_cron_job(cron_job, [running], after(10))
    assert started(plan) is None
    assert plan.status.last_schedule_time is None
    ended = plan_cron_job(cron_job, [job("old", ended="Complete")], after(12))
    assert started(ended) == name_at(after(10))


def test_replace_deletes_the_running_job() -> None:
    running = job("old")
    cron_job = cron(concurrencyPolicy="Replace")
    cron_job = replace(cron_job, status=replace(cron_job.status, active=(active_job(running),)))
    plan = plan_cron_job(cron_job, [running], after(10))
    assert started(plan) == name_at(after(10))
    assert [each.metadata.name for each in plan.delete] == ["old"]
    assert plan.status.active == ()


def test_suspended_starts_nothing_but_keeps_its_books() -> None:
    jobs = [job(f"j{at}", at=after(at), ended="Complete") for at in range(5)]
    plan = plan_cron_job(cron(suspend=True), jobs, after(30))
    assert started(plan) is None
    assert [each.metadata.name for each in plan.delete] == ["j0", "j1"]
    assert plan.status.last_successful_time == after(4)


def test_each_history_has_its_own_limit() -> None:
    good = [job(f"good{at}", at=after(at), ended="Complete") for at in range(3)]
    bad = [job(f"bad{at}", at=after(at), ended="Failed") for at in range(3)]
    plan = plan_cron_job(cron(successfulJobsHistoryLimit=1, failedJobsHistoryLimit=0), good + bad, after(5))
    assert {each.metadata.name for each in plan.delete} == {"good0", "good1", "bad0", "bad1", "bad2"}


def test_a_bad_schedule_or_zone_is_told() -> None:
    assert plan_cron_job(cron(schedule="x"), [], after(10)).happenings[0].reason == "UnparseableSchedule"
    assert plan_cron_job(cron(timeZone="Mars/Olympus"), [], after(10)).happenings[0].reason == "UnknownTimeZone"
