"""A Deployment as its controller sees it."""

from __future__ import annotations

from typing import Any

import msgspec

from tidegate.kube.wire import Resource
from tidegate.local.controllers.objects import Condition, Meta, Struct
from tidegate.local.controllers.selectors import LabelSelector

_UNLIMITED = 2**31 - 1


class RollingUpdate(Struct, frozen=True):
    max_surge: int | str = "25%"
    max_unavailable: int | str = "25%"


class Strategy(Struct, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(Struct, frozen=True):
    template: dict[str, Any] = msgspec.field(default_factory=dict)
    selector: LabelSelector = LabelSelector()
    replicas: int = 1
    strategy: Strategy = Strategy()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = 10
    progress_deadline_seconds: int | None = 600
    paused: bool = False


class DeploymentStatus(Struct, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class Deployment(Struct, frozen=True):
    metadata: Meta
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()

    @property
    def rolling(self) -> bool:
        return self.spec.strategy.type == "RollingUpdate"

    @property
    def deadline_s(self) -> int | None:
        """How long a rollout may stand still; None for as long as it likes."""
        given = self.spec.progress_deadline_seconds
        return None if given == _UNLIMITED else given

    @property
    def fenceposts(self) -> tuple[int, int]:
        """maxSurge and maxUnavailable in pods. Both zero would never move, so then one may be missing."""
        if not self.rolling:
            return 0, 0
        rule = self.spec.strategy.rolling_update or RollingUpdate()
        surge = _pods(rule.max_surge, self.spec.replicas, up=True)
        unavailable = _pods(rule.max_unavailable, self.spec.replicas, up=False)
        return surge, unavailable if surge or unavailable else 1

    @property
    def most_replicas(self) -> int:
        return self.spec.replicas + self.fenceposts[0]

    @property
    def least_available(self) -> int:
        return max(0, self.spec.replicas - self.fenceposts[1]) if self.rolling else self.spec.replicas


DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment", type=Deployment)


def _pods(share: int | str, replicas: int, *, up: bool) -> int:
    """A number of pods, or a percentage of `replicas` rounded up or down."""
    if isinstance(share, int):
        return share
    percent = int(share.removesuffix("%"))
    return -(-replicas * percent // 100) if up else replicas * percent // 100
