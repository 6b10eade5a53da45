"""A pod as controllers see it, and the questions they ask of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from tidegate.local.controllers.objects import Meta, Struct
from tidegate.local.controllers.sharing import met_before, share


class Terminated(Struct, frozen=True):
    exit_code: int = 0
    finished_at: datetime | None = None


class ContainerState(Struct, frozen=True):
    terminated: Terminated | None = None


class ContainerStatus(Struct, frozen=True):
    name: str
    restart_count: int = 0
    state: ContainerState = ContainerState()


class PodCondition(Struct, frozen=True):
    type: str
    status: str
    last_transition_time: datetime | None = None


def _remembered(condition: PodCondition) -> PodCondition:
    """Only of Ready does anybody ask since when; the others are then alike in all pods."""
    if condition.type != "Ready":
        return met_before(PodCondition(condition.type, condition.status), PodCondition)
    return PodCondition("Ready", met_before(condition.status, str), condition.last_transition_time)


class PodAddress(Struct, frozen=True):
    ip: str


class PodStatus(Struct, frozen=True):
    phase: str = ""
    reason: str = ""
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    pod_ips: tuple[PodAddress, ...] = msgspec.field(default=(), name="podIPs")

    def __post_init__(self) -> None:
        share(self, "phase", "container_statuses")
        force_setattr(self, "conditions", tuple(_remembered(each) for each in self.conditions))


class ContainerPort(Struct, frozen=True):
    container_port: int
    name: str = ""
    protocol: str = "TCP"


class ResourceNeeds(Struct, frozen=True):
    requests: dict[str, str | int] = msgspec.field(default_factory=dict)
    limits: dict[str, str | int] = msgspec.field(default_factory=dict)


class Container(Struct, frozen=True):
    name: str = ""
    restart_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceNeeds | None = None


class PodSpec(Struct, frozen=True):
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    hostname: str = ""
    subdomain: str = ""
    priority_class_name: str = ""
    active_deadline_seconds: int | None = None
    overhead: dict[str, str | int] = msgspec.field(default_factory=dict)
    resources: ResourceNeeds | None = None
    affinity: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        share(self, "containers", "init_containers", "node_name", "priority_class_name")


class Pod(Struct, frozen=True):
    metadata: Meta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def finished(self) -> bool:
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def active(self) -> bool:
        return not self.finished and self.metadata.deletion_timestamp is None

    @property
    def terminating(self) -> bool:
        return not self.finished and self.metadata.deletion_timestamp is not None

    @property
    def ready(self) -> bool:
        return any(each.type == "Ready" and each.status == "True" for each in self.status.conditions)

    @property
    def ready_since(self) -> datetime | None:
        return next(
            (
                each.last_transition_time
                for each in self.status.conditions
                if each.type == "Ready" and each.status == "True"
            ),
            None,
        )

    @property
    def restarts(self) -> int:
        """Of all its containers together."""
        return sum(
            each.restart_count for each in (*self.status.init_container_statuses, *self.status.container_statuses)
        )

    def available_after(self, min_ready_s: int, now: datetime) -> float | None:
        """Seconds until it counts as available: 0 if it does, None if it is not even ready."""
        if not self.ready:
            return None
        since = self.ready_since
        if not min_ready_s:
            return 0.0
        if since is None:
            return None
        return max(0.0, (since + timedelta(seconds=min_ready_s) - now).total_seconds())
