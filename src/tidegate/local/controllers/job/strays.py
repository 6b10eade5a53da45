"""Frees pods whose Job is gone or finished: nobody will count them, and the finalizer would keep them for ever."""

from __future__ import annotations

from tidegate.kube.client import Client
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.job.objects import TRACKING, Job, tracked
from tidegate.local.controllers.pod_writes import strip_finalizer
from tidegate.local.controllers.pods import Pod


class StrayPodController:
    def __init__(self, client: Client, caches: Caches) -> None:
        self._client, self._caches = client, caches
        self._queue: WorkQueue[Key] = WorkQueue()
        caches.jobs.on_change(self._job_changed)
        caches.pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._caches.jobs, self._caches.pods)
        await self._queue.run(self._look, workers=4)

    def _job_changed(self, old: Job | None, new: Job | None) -> None:
        job = old if new is None else new
        if job is not None and (new is None or new.finished):
            for pod in self._caches.pods.by("controller", job.metadata.uid):
                self._pod_changed(None, pod)

    def _pod_changed(self, _: Pod | None, new: Pod | None) -> None:
        if new is not None and self._stray(new):
            self._queue.add(new.metadata.key)

    def _stray(self, pod: Pod) -> bool:
        owner = pod.metadata.controller
        if not tracked(pod) or (owner is not None and owner.kind != "Job"):
            return False
        job = self._caches.jobs.get(owner.name, pod.metadata.namespace) if owner else None
        if owner is None or job is None or job.metadata.uid != owner.uid:
            return True
        return job.ours and job.finished

    async def _look(self, key: Key) -> None:
        namespace, name = key
        pod = self._caches.pods.get(name, namespace)
        if pod is not None and self._stray(pod):
            await strip_finalizer(self._client, [pod], TRACKING)
