"""Applies the plans of CronJobs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.cron.objects import CRON_JOBS, CronJob, CronJobStatus
from tidegate.local.controllers.cron.plan import active_job, plan_cron_job
from tidegate.local.controllers.expectations import Expectations
from tidegate.local.controllers.job.objects import JOBS, Job
from tidegate.local.controllers.objects import plain
from tidegate.local.controllers.recorder import Happening, Recorder, Subject
from tidegate.local.controllers.status import is_namespace_ending, write_status

_UNSEEN_S = 30.0


class CronJobController:
    def __init__(self, client: Client, caches: Caches, recorder: Recorder, clock: Callable[[], datetime]) -> None:
        self._client, self._caches, self._recorder, self._clock = client, caches, recorder, clock
        self._cron_jobs = caches.follow(CRON_JOBS)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._expected = Expectations()
        self._cron_jobs.on_change(self._cron_job_changed)
        caches.jobs.on_change(self._job_changed)

    async def run(self) -> None:
        await synced(self._cron_jobs, self._caches.jobs)
        await self._queue.run(self._look, workers=2)

    def _cron_job_changed(self, old: CronJob | None, new: CronJob | None) -> None:
        cron_job = new or old
        assert cron_job is not None
        if new is None:
            self._expected.forget(cron_job.metadata.uid)
        self._queue.add(cron_job.metadata.key)

    def _job_changed(self, old: Job | None, new: Job | None) -> None:
        job = new or old
        assert job is not None
        owner = job.metadata.controller
        if owner is None or owner.kind != CRON_JOBS.kind:
            return
        if old is None:
            self._expected.creation_seen(owner.uid)
        if new is None or new.metadata.deletion_timestamp:
            self._expected.removal_seen(owner.uid, job.metadata.uid)
        self._queue.add((job.metadata.namespace, owner.name))

    async def _look(self, key: Key) -> float | None:
        namespace, name = key
        cron_job = self._cron_jobs.get(name, namespace)
        if cron_job is None:
            return None
        now, uid = self._clock(), cron_job.metadata.uid
        if not self._expected.settled(uid, cron_job.metadata.resource_version, now):
            return _UNSEEN_S
        plan = plan_cron_job(cron_job, self._caches.jobs.by("controller", uid), now)
        await self._delete(cron_job, plan.delete, now)
        status = plan.status
        if plan.create is not None:
            started = await self._create(cron_job, plan.create, now)
            if started is None:
                return plan.requeue_after_s
            status = replace(status, active=(*status.active, active_job(started)))
        await self._write_status(cron_job, status, now)
        self._recorder.tell(_subject(cron_job), *plan.happenings)
        return plan.requeue_after_s

    async def _delete(self, cron_job: CronJob, jobs: list[Job], now: datetime) -> None:
        self._expected.expect_removals(cron_job.metadata.uid, {job.metadata.uid for job in jobs}, now)
        for job in jobs:
            try:
                await self._client.delete(JOBS, job.metadata.name, job.metadata.namespace, uid=job.metadata.uid)
            except StatusError as error:
                self._expected.removal_seen(cron_job.metadata.uid, job.metadata.uid)
                if error.code not in {404, 409}:
                    raise

    async def _create(self, cron_job: CronJob, body: Object, now: datetime) -> Job | None:
        """The Job of this start, made now or by an earlier look that did not come to say so; None if there is none."""
        metadata = cron_job.metadata
        self._expected.expect_creations(metadata.uid, 1, now)
        try:
            started = await self._client.create(JOBS, body)
        except StatusError as error:
            self._expected.creation_seen(metadata.uid)
            if error.reason == "AlreadyExists":
                there = await self._client.get(JOBS, body["metadata"]["name"], metadata.namespace)
                owner = there.metadata.controller
                return there if owner is not None and owner.uid == metadata.uid else None
            if is_namespace_ending(error):
                return None
            words = f"Error creating job: {error.message}"
            self._recorder.tell(_subject(cron_job), Happening("Warning", "FailedCreate", words))
            raise
        except BaseException:
            self._expected.creation_seen(metadata.uid)
            raise
        told = Happening("Normal", "SuccessfulCreate", f"Created job {started.metadata.name}")
        self._recorder.tell(_subject(cron_job), told)
        return started

    async def _write_status(self, cron_job: CronJob, status: CronJobStatus, now: datetime) -> None:
        if status == cron_job.status:
            return
        old, new = plain(cron_job.status), plain(status)
        if written := await write_status(self._client, CRON_JOBS, cron_job.metadata, old=old, new=new):
            self._expected.expect_version(cron_job.metadata.uid, written.metadata.resource_version, now)


def _subject(cron_job: CronJob) -> Subject:
    return Subject(CRON_JOBS.api_version, CRON_JOBS.kind, cron_job.metadata)
