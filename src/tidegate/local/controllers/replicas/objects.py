"""A ReplicaSet as its controller sees it. A ReplicationController is the same with an older kind of selector."""

from __future__ import annotations

from typing import Any

import msgspec

from tidegate.kube.wire import Resource
from tidegate.local.controllers.objects import Condition, Meta, Struct
from tidegate.local.controllers.selectors import LabelSelector, Requirement


class ReplicaSetSpec(Struct, frozen=True):
    template: dict[str, Any] = msgspec.field(default_factory=dict)
    selector: dict[str, Any] = msgspec.field(default_factory=dict)
    replicas: int = 1
    min_ready_seconds: int = 0


class ReplicaSetStatus(Struct, frozen=True):
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(Struct, frozen=True):
    metadata: Meta
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()

    @property
    def template_labels(self) -> dict[str, str]:
        labels: dict[str, str] = (self.spec.template.get("metadata") or {}).get("labels") or {}
        return labels

    @property
    def selector(self) -> LabelSelector:
        """A ReplicationController's selector is the labels themselves."""
        asked = self.spec.selector
        if not {"matchLabels", "matchExpressions"} >= asked.keys():
            return LabelSelector(asked)
        needs = tuple(
            Requirement(need["key"], need["operator"], tuple(need.get("values") or ()))
            for need in asked.get("matchExpressions") or ()
        )
        return LabelSelector(asked.get("matchLabels") or {}, needs)


REPLICA_SETS = Resource("apps", "v1", "replicasets", "ReplicaSet", type=ReplicaSet)
REPLICATION_CONTROLLERS = Resource("", "v1", "replicationcontrollers", "ReplicationController", type=ReplicaSet)
