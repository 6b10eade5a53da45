"""A CronJob as its controller sees it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tidegate.kube.wire import Resource
from tidegate.local.controllers.objects import Meta, Struct


class CronJobSpec(Struct, frozen=True):
    schedule: str = ""
    job_template: dict[str, Any] = msgspec.field(default_factory=dict)
    time_zone: str | None = None
    concurrency_policy: str = "Allow"
    starting_deadline_seconds: int | None = None
    suspend: bool = False
    successful_jobs_history_limit: int | None = 3
    failed_jobs_history_limit: int | None = 1


class ActiveJob(Struct, frozen=True):
    name: str
    uid: str
    namespace: str = ""
    kind: str = ""
    api_version: str = ""
    resource_version: str = ""


class CronJobStatus(Struct, frozen=True):
    active: tuple[ActiveJob, ...] = ()
    last_schedule_time: datetime | None = None
    last_successful_time: datetime | None = None


class CronJob(Struct, frozen=True):
    metadata: Meta
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()


CRON_JOBS = Resource("batch", "v1", "cronjobs", "CronJob", type=CronJob)
