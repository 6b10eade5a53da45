"""What a Deployment's status says: counts, whether enough is available, and whether the rollout moves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from tidegate.local.controllers.deployment.objects import Deployment, DeploymentStatus
from tidegate.local.controllers.objects import Condition, condition_of, stamp, without_condition
from tidegate.local.controllers.replicas.objects import ReplicaSet


def counted(
    deployment: Deployment, sets: Sequence[ReplicaSet], new: ReplicaSet | None, now: datetime
) -> DeploymentStatus:
    """The status with fresh counts and the condition Available."""
    available = sum(each.status.available_replicas for each in sets)
    terminating = [each.status.terminating_replicas for each in sets if each.status.observed_generation]
    status = replace(
        deployment.status,
        observed_generation=deployment.metadata.generation,
        replicas=sum(each.status.replicas for each in sets),
        updated_replicas=new.status.replicas if new else 0,
        ready_replicas=sum(each.status.ready_replicas for each in sets),
        available_replicas=available,
        unavailable_replicas=max(0, sum(each.spec.replicas for each in sets) - available),
        terminating_replicas=sum(count or 0 for count in terminating) if None not in terminating else None,
    )
    if available >= deployment.least_available:
        said = Condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        said = Condition(
            "Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
        )
    return with_condition(status, said, now)


def with_condition(
    status: DeploymentStatus, said: Condition, now: datetime, *, again: bool = False
) -> DeploymentStatus:
    """Sets a condition unless it says the same already; `again` renews its lastUpdateTime all the same."""
    before = condition_of(status.conditions, said.type)
    if before and (before.status, before.reason) == (said.status, said.reason) and not again:
        return status
    moment = stamp(now)
    since = before.last_transition_time if before and before.status == said.status else moment
    said = replace(said, last_update_time=moment, last_transition_time=since)
    return replace(status, conditions=(*without_condition(status.conditions, said.type), said))


def progressing(state: str, reason: str, message: str) -> Condition:
    return Condition("Progressing", state, reason, message)


def with_progress(
    deployment: Deployment, status: DeploymentStatus, new: ReplicaSet | None, now: datetime
) -> DeploymentStatus:
    """Adds how the rollout goes: done, moving, or standing still for longer than it may."""
    before = condition_of(deployment.status.conditions, "Progressing")
    if deployment.deadline_s is None:
        return replace(status, conditions=without_condition(status.conditions, "Progressing"))
    if status.replicas == status.updated_replicas and before and before.reason == "NewReplicaSetAvailable":
        return status
    name = f'ReplicaSet "{new.metadata.name}"' if new else f'Deployment "{deployment.metadata.name}"'
    if complete(deployment, status):
        message = f"{name} has successfully progressed."
        return with_condition(status, progressing("True", "NewReplicaSetAvailable", message), now)
    if _moved(deployment.status, status):
        message = f"{name} is progressing."
        return with_condition(status, progressing("True", "ReplicaSetUpdated", message), now, again=True)
    if stalls_in_s(deployment, status, now) == 0:
        message = f"{name} has timed out progressing."
        return with_condition(status, progressing("False", "ProgressDeadlineExceeded", message), now)
    return status


def with_failures(
    status: DeploymentStatus, sets: Sequence[ReplicaSet], new: ReplicaSet | None, now: datetime
) -> DeploymentStatus:
    """Passes on that a ReplicaSet cannot make its pods, the newest's word first."""
    for each in (*([new] if new else ()), *sets):
        if failure := condition_of(each.status.conditions, "ReplicaFailure"):
            return with_condition(status, failure, now)
    return replace(status, conditions=without_condition(status.conditions, "ReplicaFailure"))


def complete(deployment: Deployment, status: DeploymentStatus) -> bool:
    wanted = deployment.spec.replicas
    enough = status.updated_replicas == status.replicas == status.available_replicas == wanted
    return enough and status.observed_generation >= deployment.metadata.generation


def stalls_in_s(deployment: Deployment, status: DeploymentStatus, now: datetime) -> float | None:
    """When the deadline passes if nothing moves until then; None if none runs."""
    said = condition_of(status.conditions, "Progressing")
    if deployment.deadline_s is None or said is None or deployment.spec.paused:
        return None
    if said.reason in {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"} or complete(deployment, status):
        return None
    since = said.last_update_time or now
    return max(0.0, (since + timedelta(seconds=deployment.deadline_s) - now).total_seconds())


def _moved(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    return (
        after.updated_replicas > before.updated_replicas
        or after.replicas - after.updated_replicas < before.replicas - before.updated_replicas
        or after.ready_replicas > before.ready_replicas
        or after.available_replicas > before.available_replicas
    )
