"""Decides one step of a Deployment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.kube.wire import Object
from tidegate.local.controllers.deployment import progress, revisions, rollout
from tidegate.local.controllers.deployment.objects import Deployment, DeploymentStatus
from tidegate.local.controllers.objects import condition_of
from tidegate.local.controllers.recorder import Happening
from tidegate.local.controllers.replicas.objects import ReplicaSet


@dataclass(frozen=True, slots=True)
class Change:
    """What a ReplicaSet is to become."""

    target: ReplicaSet
    replicas: int
    annotations: dict[str, str]
    min_ready_s: int


@dataclass(frozen=True, slots=True)
class DeploymentPlan:
    """To be applied in this order: ReplicaSets, then the status."""

    status: DeploymentStatus
    create: Object | None = None
    change: list[Change] = field(default_factory=list)
    delete: list[ReplicaSet] = field(default_factory=list)
    revision: str = ""
    """The annotation the Deployment is to have; empty to leave it."""
    requeue_after_s: float | None = None
    happenings: list[Happening] = field(default_factory=list)


def plan_deployment(
    deployment: Deployment, sets: Sequence[ReplicaSet], now: datetime, *, old_pods_run: bool = False
) -> DeploymentPlan:
    """The next step, given all that was done has been seen.

    `old_pods_run`: whether pods of other ReplicaSets than the newest still run, for which `Recreate` waits.
    """
    new, old = revisions.new_and_old(deployment, sets)
    draft = _Draft(deployment, new, old, now)
    status = progress.counted(deployment, sets, new, now)
    if deployment.metadata.deletion_timestamp is not None:
        return DeploymentPlan(status)
    status = draft.with_pause(status)
    if deployment.spec.paused or rollout.was_scaled(deployment, sets):
        gone = _outlived(deployment, old) if deployment.spec.paused else []
        return draft.finish(draft.with_found(status), rollout.scale(deployment, new, old), gone)
    if not deployment.rolling and (old_pods_run or any(each.spec.replicas or each.status.replicas for each in old)):
        return draft.finish(draft.rolled(status), {each.metadata.name: 0 for each in old if each.spec.replicas})
    if new is None:
        return draft.introduce(status)
    sizes = rollout.roll(deployment, new, old) if deployment.rolling else {new.metadata.name: deployment.spec.replicas}
    done = progress.complete(deployment, deployment.status)
    return draft.finish(draft.rolled(status), sizes, _outlived(deployment, old) if done else [])


@dataclass(frozen=True, slots=True)
class _Draft:
    """A plan in the making."""

    deployment: Deployment
    new: ReplicaSet | None
    old: list[ReplicaSet]
    now: datetime

    def with_pause(self, status: DeploymentStatus) -> DeploymentStatus:
        """Progressing is unknown while paused; the deadline runs afresh after."""
        before = condition_of(status.conditions, "Progressing")
        was_paused = before is not None and before.reason == "DeploymentPaused"
        timed_out = before is not None and before.reason == "ProgressDeadlineExceeded"
        paused = self.deployment.spec.paused
        if self.deployment.deadline_s is None or timed_out or paused == was_paused:
            return status
        word = "paused" if paused else "resumed"
        reason, message = f"Deployment{word.capitalize()}", f"Deployment is {word}"
        return progress.with_condition(status, progress.progressing("Unknown", reason, message), self.now)

    def with_found(self, status: DeploymentStatus) -> DeploymentStatus:
        if self.new is None or self.deployment.deadline_s is None or condition_of(status.conditions, "Progressing"):
            return status
        message = f'Found new replica set "{self.new.metadata.name}"'
        return progress.with_condition(status, progress.progressing("True", "FoundNewReplicaSet", message), self.now)

    def rolled(self, status: DeploymentStatus) -> DeploymentStatus:
        """With how the rollout goes."""
        status = progress.with_progress(self.deployment, self.with_found(status), self.new, self.now)
        return progress.with_failures(status, self._family(), self.new, self.now)

    def introduce(self, status: DeploymentStatus) -> DeploymentPlan:
        """A ReplicaSet for a template that has none yet."""
        size = rollout.first_size(self.deployment, self.old)
        created = revisions.new_replica_set(self.deployment, self.old, size)
        name, revision = created["metadata"]["name"], created["metadata"]["annotations"][revisions.REVISION]
        if self.deployment.deadline_s is not None:
            message = f'Created new replica set "{name}"'
            status = progress.with_condition(
                status, progress.progressing("True", "NewReplicaSetCreated", message), self.now
            )
        told = [_scaled(name, 0, size)] if size else []
        return DeploymentPlan(status, create=created, revision=revision, happenings=told)

    def finish(
        self, status: DeploymentStatus, sizes: rollout.Sizes, delete: Sequence[ReplicaSet] = ()
    ) -> DeploymentPlan:
        changes = [change for each in self._family() if (change := self._change(each, sizes))]
        told = [
            _scaled(each.target.metadata.name, each.target.spec.replicas, each.replicas)
            for each in changes
            if each.replicas != each.target.spec.replicas
        ]
        requeue_after_s = progress.stalls_in_s(self.deployment, status, self.now)
        return DeploymentPlan(
            status,
            change=changes,
            delete=list(delete),
            revision=self._revision(),
            requeue_after_s=requeue_after_s,
            happenings=told,
        )

    def _revision(self) -> str:
        """That of the newest ReplicaSet, if the Deployment does not say it yet."""
        if self.new is None:
            return ""
        revision = revisions.annotations_for(self.deployment, self.new, self.old)[revisions.REVISION]
        return "" if revision == self.deployment.metadata.annotations.get(revisions.REVISION) else revision

    def _family(self) -> list[ReplicaSet]:
        return [*self.old, *([self.new] if self.new else [])]

    def _change(self, each: ReplicaSet, sizes: rollout.Sizes) -> Change | None:
        replicas, least_s = sizes.get(each.metadata.name, each.spec.replicas), each.spec.min_ready_seconds
        annotations = each.metadata.annotations
        if each is self.new:
            annotations = revisions.annotations_for(self.deployment, each, self.old)
            least_s = self.deployment.spec.min_ready_seconds
        if each.metadata.name in sizes:
            annotations = annotations | revisions.size_annotations(self.deployment)
        now = (each.spec.replicas, each.metadata.annotations, each.spec.min_ready_seconds)
        return None if (replicas, annotations, least_s) == now else Change(each, replicas, annotations, least_s)


def _scaled(name: str, before: int, after: int) -> Happening:
    way = "up" if after > before else "down"
    return Happening("Normal", "ScalingReplicaSet", f"Scaled {way} replica set {name} from {before} to {after}")


def _outlived(deployment: Deployment, old: Sequence[ReplicaSet]) -> list[ReplicaSet]:
    """Old revisions beyond the history limit, oldest first; one that still has pods stays."""
    limit = deployment.spec.revision_history_limit
    alive = sorted((each for each in old if each.metadata.deletion_timestamp is None), key=revisions.revision_of)
    return [
        each
        for each in alive[: max(0, len(alive) - (len(alive) if limit is None else limit))]
        if not each.spec.replicas
        and not each.status.replicas
        and each.metadata.generation <= each.status.observed_generation
    ]
