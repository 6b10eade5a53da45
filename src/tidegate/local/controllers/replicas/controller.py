"""Applies the plans of ReplicaSets, and of ReplicationControllers in the same way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from tidegate.kube.client import Client, StatusError
from tidegate.kube.informer import Informer
from tidegate.kube.wire import Object, Resource
from tidegate.kube.workqueue import WorkQueue
from tidegate.local.controllers.caches import Caches, Key, synced
from tidegate.local.controllers.expectations import Expectations
from tidegate.local.controllers.objects import owner_reference, plain
from tidegate.local.controllers.owners import Ownership, claims, former_owner
from tidegate.local.controllers.pod_writes import PODS, create_pods, created, delete_pods, deleted, refused
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.recorder import Recorder, Subject
from tidegate.local.controllers.replicas.objects import (
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    ReplicaSet,
    ReplicaSetStatus,
)
from tidegate.local.controllers.replicas.plan import ReplicaPlan, next_available_s, plan_replicas, replica_status
from tidegate.local.controllers.selectors import matches
from tidegate.local.controllers.status import is_namespace_ending, write_status

_UNSEEN_S = 30.0


class ReplicaController:
    def __init__(
        self,
        client: Client,
        caches: Caches,
        recorder: Recorder,
        clock: Callable[[], datetime],
        *,
        classic: bool = False,
    ) -> None:
        """`classic`: ReplicationControllers instead of ReplicaSets."""
        self._client, self._caches, self._recorder, self._clock = client, caches, recorder, clock
        self._resource: Resource[ReplicaSet] = REPLICATION_CONTROLLERS if classic else REPLICA_SETS
        self._owners: Informer[ReplicaSet] = caches.replication_controllers if classic else caches.replica_sets
        self._pods = Ownership(client, PODS, self._resource)
        self._queue: WorkQueue[Key] = WorkQueue()
        self._expected = Expectations()
        self._owners.on_change(self._owner_changed)
        caches.pods.on_change(self._pod_changed)

    async def run(self) -> None:
        await synced(self._owners, self._caches.pods)
        await self._queue.run(self._look, workers=4)

    def _owner_changed(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        owner = new or old
        assert owner is not None
        if new is None:
            self._expected.forget(owner.metadata.uid)
        self._queue.add(owner.metadata.key)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None
        if lost := former_owner(old, new, self._resource.kind):
            self._queue.add(lost)
        reference = pod.metadata.controller
        if reference is None:
            for owner in self._owners.by("namespace", pod.metadata.namespace):
                if new is not None and matches(owner.selector, pod.metadata.labels):
                    self._queue.add(owner.metadata.key)
            return
        if reference.kind != self._resource.kind:
            return
        if old is None:
            self._expected.creation_seen(reference.uid)
        if new is None or new.metadata.deletion_timestamp:
            self._expected.removal_seen(reference.uid, pod.uid)
        self._queue.add((pod.metadata.namespace, reference.name))

    async def _look(self, key: Key) -> float | None:
        namespace, name = key
        owner = self._owners.get(name, namespace)
        if owner is None:
            return None
        now, uid = self._clock(), owner.metadata.uid
        if not self._expected.settled(uid, owner.metadata.resource_version, now):
            return _UNSEEN_S
        orphans = [pod for pod in self._caches.pods.by("orphans", namespace) if pod.active]
        claimed = claims(owner.metadata, owner.selector, self._caches.pods.by("controller", uid), orphans)
        if await self._pods.settle(owner.metadata, claimed):
            return _UNSEEN_S
        plan = plan_replicas(owner, claimed.kept, self._related(owner), now)
        refusal = await self._apply(owner, plan, now)
        failure = "" if refusal is None else refusal.message
        await self._write_status(owner, replica_status(owner, claimed.kept, now, failure), now)
        if refusal is not None:
            raise refusal
        return next_available_s(owner, claimed.kept, now)

    def _related(self, owner: ReplicaSet) -> list[Pod]:
        """Its own pods and those of its siblings under the same controller."""
        parent = owner.metadata.controller
        family = self._owners.by("controller", parent.uid) if parent else [owner]
        return [pod for each in family for pod in self._caches.pods.by("controller", each.metadata.uid) if pod.active]

    async def _apply(self, owner: ReplicaSet, plan: ReplicaPlan, now: datetime) -> StatusError | None:
        """Why not all could be done; None if it could."""
        uid, subject = owner.metadata.uid, Subject(self._resource.api_version, self._resource.kind, owner.metadata)
        if plan.delete:
            self._expected.expect_removals(uid, {pod.uid for pod in plan.delete}, now)
            try:
                await delete_pods(self._client, plan.delete)
            except StatusError as error:
                self._expected.forget(uid)
                return error
            self._recorder.tell(subject, *deleted(plan.delete))
        if not plan.create:
            return None
        self._expected.expect_creations(uid, plan.create, now)
        made: list[Pod] = []
        try:
            made, refusal = await create_pods(self._client, owner.metadata.namespace, [self._pod(owner)] * plan.create)
        finally:
            for _ in range(plan.create - len(made)):
                self._expected.creation_seen(uid)
        self._recorder.tell(subject, *created(made), *([refused(refusal)] if refusal else ()))
        return None if refusal is None or is_namespace_ending(refusal) else refusal

    def _pod(self, owner: ReplicaSet) -> Object:
        template: dict[str, Any] = owner.spec.template
        asked = template.get("metadata") or {}
        metadata: Object = {
            "generateName": f"{owner.metadata.name}-",
            "labels": asked.get("labels") or {},
            "annotations": asked.get("annotations") or {},
            "finalizers": asked.get("finalizers") or [],
            "ownerReferences": [owner_reference(owner.metadata, self._resource.api_version, self._resource.kind)],
        }
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}

    async def _write_status(self, owner: ReplicaSet, status: ReplicaSetStatus, now: datetime) -> None:
        if self._resource is REPLICATION_CONTROLLERS:
            status = replace(status, terminating_replicas=None)  # it has no place for that number
        if status == owner.status:
            return
        # `replicas` is shown even when it is 0.
        old, new = plain(owner.status), {"replicas": 0} | plain(status)
        if written := await write_status(self._client, self._resource, owner.metadata, old=old, new=new):
            self._expected.expect_version(owner.metadata.uid, written.metadata.resource_version, now)
