"""QueueJobs: their pods are made here, as many as are granted, and their statuses written."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.controller.applications.deleting import delete_pod
from tidegate.controller.applications.form import Flavors
from tidegate.controller.applications.pods_of_job import OVER, job_status, to_do
from tidegate.controller.applications.reading import read_again
from tidegate.controller.kinds import QUEUE_JOBS
from tidegate.controller.watch.cache import Cache
from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.kube.wire import Object
from tidegate.model.codec import encode, read
from tidegate.model.kinds import QueueJob, Workload
from tidegate.scheduler import Workload as SeenWorkload


class QueueJobs:
    """Runs gangs of pods of several shapes."""

    def __init__(self, client: Client, cache: Cache) -> None:
        self._client = client
        self._cache = cache

    def is_ours(self, workload: Workload) -> bool:
        owner = workload.spec.owner
        return owner is not None and owner.kind == "QueueJob" and owner.api_version == QUEUE_JOBS.api_version

    async def carry_out(
        self, workload: Workload, seen: SeenWorkload, flavors: Flavors, *, stands: Callable[[], bool]
    ) -> None:
        """Make and take pods as granted, and say how far the job is."""
        followed = self._cache.application(QUEUE_JOBS.api_version, "QueueJob")
        owner = workload.spec.owner
        obj = followed.latest.get((workload.metadata.namespace, owner.name)) if followed and owner else None
        if followed is None or owner is None or obj is None or obj["metadata"].get("uid") != owner.uid:
            return
        job = read(QueueJob, obj)
        if job.metadata.deletion_timestamp is not None:
            return
        pods = self._cache.pods_of(seen.name)
        status = job_status(job, seen, pods)
        if status != job.status:
            content = encode(QueueJob(metadata=job.metadata, spec=job.spec, status=status))["status"]
            followed.latest.wrote(
                await self._client.update(QUEUE_JOBS, {**obj, "status": content}, subresource="status")
            )
        if status.phase in OVER:
            await self._delete([pod for pod in pods if _is_live(pod)])
            return
        work = to_do(job, seen, pods, flavors)
        await self._delete(work.delete)
        for pod in work.create:
            if not stands():
                return
            await self._create(pod)

    async def _create(self, pod: Object) -> None:
        try:
            self._cache.pods.wrote(await self._client.create(PODS, pod))
        except StatusError as refused:
            if refused.reason != "AlreadyExists":
                raise
            await read_again(self._client, self._cache, pod)

    async def _delete(self, pods: tuple[Object, ...] | list[Object]) -> None:
        for pod in pods:
            await delete_pod(self._client, pod)


def _is_live(pod: Object) -> bool:
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and not pod["metadata"].get("deletionTimestamp")
