"""Applies the plans of Jobs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from tidegate.kube.client import Client, StatusError
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.expectations import Expectations
from tidegate.local.controllers.job.backoff import Backoff
from tidegate.local.controllers.job.objects import JOBS, TRACKING, Job, JobStatus, tracked
from tidegate.local.controllers.job.plan import JobPlan, plan_job
from tidegate.local.controllers.job.template import NewPod, pod_for
from tidegate.local.controllers.objects import plain
from tidegate.local.controllers.owners import Ownership, claims, former_owner
from tidegate.local.controllers.pod_writes import (
    PODS,
    create_pods,
    created,
    delete_pods,
    deleted,
    refused,
    strip_finalizer,
)
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.recorder import Recorder, Subject
from tidegate.local.controllers.selectors import LabelSelector, matches
from tidegate.local.controllers.status import is_namespace_ending, write_status

_UNSEEN_S = 30.0
"""How long at most until an unfinished look is taken up again; the awaited event usually comes in milliseconds."""


class JobController:
    def __init__(self, client: Client, caches: Caches, recorder: Recorder, clock: Callable[[], datetime]) -> None:
        self._client, self._caches, self._recorder, self._clock = client, caches, recorder, clock
        self._queue: WorkQueue[Key] = WorkQueue()
        self._pods = Ownership(client, PODS, JOBS, TRACKING)
        self._expected = Expectations()
        self._released = Expectations()
        self._backoffs: dict[str, Backoff] = {}
        caches.jobs.on_change(self._job_changed)
        caches.pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._caches.jobs, self._caches.pods)
        await self._queue.run(self._look, workers=4)

    def _job_changed(self, old: Job | None, new: Job | None) -> None:
        job = new or old
        assert job is not None
        if new is None or new.finished:
            for forgettable in (self._expected, self._released):
                forgettable.forget(job.metadata.uid)
            self._backoffs.pop(job.metadata.uid, None)
        self._queue.add(job.metadata.key)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None
        if lost := former_owner(old, new, JOBS.kind):
            self._queue.add(lost)
        owner = pod.metadata.controller
        if owner is None:
            for job in self._caches.jobs.by("namespace", pod.metadata.namespace):
                if new is not None and matches(job.spec.selector or LabelSelector(), pod.metadata.labels):
                    self._queue.add(job.metadata.key)
            return
        if owner.kind != "Job":
            return
        if old is None:
            self._expected.creation_seen(owner.uid)
        if new is None or new.metadata.deletion_timestamp:
            self._expected.removal_seen(owner.uid, pod.uid)
        if new is None or not tracked(new):
            self._released.removal_seen(owner.uid, pod.uid)
        self._queue.add((pod.metadata.namespace, owner.name))

    async def _look(self, key: Key) -> float | None:
        namespace, name = key
        job = self._caches.jobs.get(name, namespace)
        if job is None or job.finished or not job.ours:
            return None
        now, uid = self._clock(), job.metadata.uid
        if not self._expected.settled(uid, job.metadata.resource_version, now):
            return _UNSEEN_S
        pods, orphans = self._caches.pods.by("controller", uid), self._caches.pods.by("orphans", namespace)
        claimed = claims(job.metadata, job.spec.selector or LabelSelector(), pods, orphans)
        if await self._pods.settle(job.metadata, claimed):
            return _UNSEEN_S
        backoff = self._backoffs.get(uid, Backoff())
        plan = plan_job(job, claimed.kept, now, backoff=backoff, released=self._released.removals(uid))
        return await self._apply(job, plan, now)

    async def _apply(self, job: Job, plan: JobPlan, now: datetime) -> float | None:
        await self._delete_pods(job, plan, now)
        missing, refusal = await self._create_pods(job, plan.create, now)
        if not await self._write_status(job, replace(plan.status, active=plan.status.active - missing), now):
            return _UNSEEN_S
        self._backoffs[job.metadata.uid] = plan.backoff
        self._recorder.tell(_subject(job), *plan.happenings)
        await self._release(job, plan.release, now)
        if refusal is not None and not is_namespace_ending(refusal):
            raise refusal
        return plan.requeue_after_s

    async def _delete_pods(self, job: Job, plan: JobPlan, now: datetime) -> None:
        uid = job.metadata.uid
        going = [*plan.delete, *plan.drop]
        if not going:
            return
        self._expected.expect_removals(uid, {pod.uid for pod in going}, now)
        try:
            await strip_finalizer(self._client, plan.drop, TRACKING)
            await delete_pods(self._client, going)
        except BaseException:
            self._expected.forget(uid)
            raise
        self._recorder.tell(_subject(job), *deleted(going))

    async def _create_pods(self, job: Job, wanted: list[NewPod], now: datetime) -> tuple[int, StatusError | None]:
        """How many could not be made, and why."""
        if not wanted:
            return 0, None
        uid = job.metadata.uid
        self._expected.expect_creations(uid, len(wanted), now)
        made: list[Pod] = []
        try:
            bodies = [pod_for(job, new) for new in wanted]
            made, refusal = await create_pods(self._client, job.metadata.namespace, bodies)
        finally:
            for _ in range(len(wanted) - len(made)):
                self._expected.creation_seen(uid)
        self._recorder.tell(_subject(job), *created(made), *([refused(refusal)] if refusal else ()))
        return len(wanted) - len(made), refusal

    async def _write_status(self, job: Job, status: JobStatus, now: datetime) -> bool:
        """Whether the status stands; if not, the Job has changed meanwhile."""
        if status == job.status:
            return True
        written = await write_status(self._client, JOBS, job.metadata, old=plain(job.status), new=plain(status))
        if written is None:
            return False
        self._expected.expect_version(job.metadata.uid, written.metadata.resource_version, now)
        return True

    async def _release(self, job: Job, pods: list[Pod], now: datetime) -> None:
        if not pods:
            return
        self._released.expect_removals(job.metadata.uid, {pod.uid for pod in pods}, now)
        try:
            await strip_finalizer(self._client, pods, TRACKING)
        except BaseException:
            self._released.forget(job.metadata.uid)
            raise


def _subject(job: Job) -> Subject:
    return Subject(JOBS.api_version, JOBS.kind, job.metadata)
