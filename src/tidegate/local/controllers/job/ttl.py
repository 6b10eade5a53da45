"""Deletes finished Jobs when their ttlSecondsAfterFinished is over."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from tidegate.kube.client import Client, StatusError
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.job.objects import JOBS, Job


def expires(job: Job) -> datetime | None:
    """When a Job may go; None if it has no such time, or not yet."""
    ttl_s = job.spec.ttl_seconds_after_finished
    ends = (each for each in job.status.conditions if each.type in {"Complete", "Failed"} and each.true)
    finished = next((each.last_transition_time for each in ends), None)
    if ttl_s is None or finished is None or job.metadata.deletion_timestamp is not None:
        return None
    return finished + timedelta(seconds=ttl_s)


class TtlController:
    def __init__(self, client: Client, caches: Caches, clock: Callable[[], datetime]) -> None:
        self._client, self._caches, self._clock = client, caches, clock
        self._queue: WorkQueue[Key] = WorkQueue()
        caches.jobs.on_change(self._job_changed)

    async def run(self) -> None:
        await synced(self._caches.jobs)
        await self._queue.run(self._look)

    def _job_changed(self, _: Job | None, new: Job | None) -> None:
        if new is not None and expires(new) is not None:
            self._queue.add(new.metadata.key)

    async def _look(self, key: Key) -> float | None:
        namespace, name = key
        job = self._caches.jobs.get(name, namespace)
        due = expires(job) if job is not None else None
        if job is None or due is None:
            return None
        if (wait_s := (due - self._clock()).total_seconds()) > 0:
            return wait_s
        metadata = job.metadata
        try:
            # With the version read: the time to live may have been prolonged at the last moment.
            await self._client.delete(
                JOBS, name, namespace, uid=metadata.uid, resource_version=metadata.resource_version
            )
        except StatusError as error:
            if error.code not in {404, 409}:
                raise
        return None
