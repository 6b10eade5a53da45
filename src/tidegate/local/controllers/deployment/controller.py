"""Applies the plans of Deployments."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from msgspec.structs import replace

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.deployment.objects import DEPLOYMENTS, Deployment, DeploymentStatus
from tidegate.local.controllers.deployment.plan import Change, DeploymentPlan, plan_deployment
from tidegate.local.controllers.deployment.progress import progressing, with_condition
from tidegate.local.controllers.deployment.revisions import REVISION, new_and_old, same_template
from tidegate.local.controllers.expectations import Expectations
from tidegate.local.controllers.objects import Meta, merge_patch, plain
from tidegate.local.controllers.owners import Ownership, claims, former_owner
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.recorder import Happening, Recorder, Subject
from tidegate.local.controllers.replicas.objects import REPLICA_SETS, ReplicaSet
from tidegate.local.controllers.selectors import matches
from tidegate.local.controllers.status import is_namespace_ending, write_status

_UNSEEN_S = 30.0


class DeploymentController:
    def __init__(self, client: Client, caches: Caches, recorder: Recorder, clock: Callable[[], datetime]) -> None:
        self._client, self._caches, self._recorder, self._clock = client, caches, recorder, clock
        self._deployments = caches.follow(DEPLOYMENTS, namespace=lambda each: [each.metadata.namespace])
        self._sets = Ownership(client, REPLICA_SETS, DEPLOYMENTS)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._expected = Expectations()
        self._deployments.on_change(self._deployment_changed)
        caches.replica_sets.on_change(self._set_changed)
        caches.pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._deployments, self._caches.replica_sets, self._caches.pods)
        await self._queue.run(self._look, workers=2)

    def _deployment_changed(self, old: Deployment | None, new: Deployment | None) -> None:
        deployment = new or old
        assert deployment is not None
        if new is None:
            self._expected.forget(deployment.metadata.uid)
        self._queue.add(deployment.metadata.key)

    def _set_changed(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        each = new or old
        assert each is not None
        if lost := former_owner(old, new, DEPLOYMENTS.kind):
            self._queue.add(lost)
        owner = each.metadata.controller
        if old is None and owner is not None:
            self._expected.creation_seen(owner.uid)
        if new is None:
            self._expected.forget(each.metadata.uid)
        if owner is not None:
            self._queue.add((each.metadata.namespace, owner.name))
            return
        for deployment in self._deployments.by("namespace", each.metadata.namespace):
            if matches(deployment.spec.selector, each.metadata.labels):
                self._queue.add(deployment.metadata.key)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Only the end of a pod matters, to a Recreate that waits for it; the rest comes by the ReplicaSet's status."""
        pod = new or old
        assert pod is not None
        owner = pod.metadata.controller
        if (new is not None and not new.finished) or owner is None or owner.kind != REPLICA_SETS.kind:
            return
        each = self._caches.replica_sets.get(owner.name, pod.metadata.namespace)
        if each is not None and (parent := each.metadata.controller):
            self._queue.add((pod.metadata.namespace, parent.name))

    async def _look(self, key: Key) -> float | None:
        namespace, name = key
        deployment = self._deployments.get(name, namespace)
        if deployment is None or deployment.spec.selector.empty:
            return None
        now, metadata = self._clock(), deployment.metadata
        sets = self._caches.replica_sets.by("controller", metadata.uid)
        if not all(self._seen(each, now) for each in (metadata, *(each.metadata for each in sets))):
            return _UNSEEN_S
        orphans = self._caches.replica_sets.by("orphans", namespace)
        claimed = claims(metadata, deployment.spec.selector, sets, orphans)
        if await self._sets.settle(metadata, claimed):
            return _UNSEEN_S
        running = self._old_pods_run(deployment, claimed.kept)
        plan = plan_deployment(deployment, claimed.kept, now, old_pods_run=running)
        return await self._apply(deployment, plan, now)

    def _seen(self, metadata: Meta, now: datetime) -> bool:
        return self._expected.settled(metadata.uid, metadata.resource_version, now)

    def _old_pods_run(self, deployment: Deployment, sets: list[ReplicaSet]) -> bool:
        _, old = new_and_old(deployment, sets)
        pods = (pod for each in old for pod in self._caches.pods.by("controller", each.metadata.uid))
        return any(not pod.finished for pod in pods)

    async def _apply(self, deployment: Deployment, plan: DeploymentPlan, now: datetime) -> float | None:
        status = plan.status
        if plan.create is not None:
            status, refusal = await self._create(deployment, plan.create, status, now)
            if refusal is not None:
                await self._write_status(deployment, status, "", now)
                raise refusal
        if not all([await self._change(change, now) for change in plan.change]):
            return _UNSEEN_S
        for each in plan.delete:
            await self._delete(each)
        self._recorder.tell(_subject(deployment), *plan.happenings)
        await self._write_status(deployment, status, plan.revision, now)
        return plan.requeue_after_s

    async def _create(
        self, deployment: Deployment, body: Object, status: DeploymentStatus, now: datetime
    ) -> tuple[DeploymentStatus, StatusError | None]:
        """The status that tells of it, and why it failed if it did."""
        metadata = deployment.metadata
        self._expected.expect_creations(metadata.uid, 1, now)
        try:
            await self._client.create(REPLICA_SETS, body, metadata.namespace)
        except StatusError as error:
            self._expected.creation_seen(metadata.uid)
            if error.reason == "AlreadyExists":
                if await self._is_ours(deployment, body["metadata"]["name"]):
                    return status, None
                # Another template has the same hash: the next look makes another one.
                return replace(deployment.status, collision_count=(status.collision_count or 0) + 1), None
            if is_namespace_ending(error):
                return deployment.status, None
            message = f'Failed to create new replica set "{body["metadata"]["name"]}": {error.message}'
            self._recorder.tell(_subject(deployment), Happening("Warning", "ReplicaSetCreateError", message))
            if deployment.deadline_s is not None:
                status = with_condition(status, progressing("False", "ReplicaSetCreateError", message), now)
            return status, error
        except BaseException:
            self._expected.creation_seen(metadata.uid)
            raise
        return status, None

    async def _is_ours(self, deployment: Deployment, name: str) -> bool:
        there = await self._client.get(REPLICA_SETS, name, deployment.metadata.namespace)
        owner = there.metadata.controller
        return owner is not None and owner.uid == deployment.metadata.uid and same_template(deployment, there)

    async def _change(self, change: Change, now: datetime) -> bool:
        """False if the ReplicaSet has changed since it was read."""
        metadata = change.target.metadata
        patch = {
            "metadata": {
                "resourceVersion": metadata.resource_version,
                "annotations": merge_patch(metadata.annotations, change.annotations),
            },
            "spec": {"replicas": change.replicas, "minReadySeconds": change.min_ready_s},
        }
        try:
            written = await self._client.patch(REPLICA_SETS, metadata.name, patch, metadata.namespace)
        except StatusError as error:
            if error.code in {404, 409}:
                return False
            raise
        self._expected.expect_version(metadata.uid, written.metadata.resource_version, now)
        return True

    async def _delete(self, each: ReplicaSet) -> None:
        try:
            await self._client.delete(REPLICA_SETS, each.metadata.name, each.metadata.namespace, uid=each.metadata.uid)
        except StatusError as error:
            if error.code not in {404, 409}:
                raise

    async def _write_status(
        self, deployment: Deployment, status: DeploymentStatus, revision: str, now: datetime
    ) -> None:
        """The revision goes along: annotating the Deployment by itself would count as a change of its spec."""
        if status == deployment.status and not revision:
            return
        old, new = plain(deployment.status), plain(status)
        more = {"annotations": {REVISION: revision}} if revision else None
        written = await write_status(self._client, DEPLOYMENTS, deployment.metadata, old=old, new=new, more=more)
        if written is None:
            return
        if revision and written.metadata.annotations.get(REVISION) != revision:
            # A server may keep metadata out of status writes.
            patch = {"metadata": {"annotations": {REVISION: revision}}}
            written = await self._client.patch(DEPLOYMENTS, written.metadata.name, patch, written.metadata.namespace)
        self._expected.expect_version(deployment.metadata.uid, written.metadata.resource_version, now)


def _subject(deployment: Deployment) -> Subject:
    return Subject(DEPLOYMENTS.api_version, DEPLOYMENTS.kind, deployment.metadata)
