"""The kinds of `tidegate.dev/v1alpha1` as frozen types, one file each. No behaviour beyond what a field's own values
say; reading and writing manifests is the codec's."""

from __future__ import annotations

from tidegate.model.kinds.cluster_queue import ClusterQueue
from tidegate.model.kinds.flavor import ResourceFlavor
from tidegate.model.kinds.queue import Queue
from tidegate.model.kinds.queue_job import QueueJob
from tidegate.model.kinds.scenario import Scenario
from tidegate.model.kinds.shape import API_VERSION, GROUP, VERSION, Kind
from tidegate.model.kinds.task import Task
from tidegate.model.kinds.task_cluster import TaskCluster
from tidegate.model.kinds.task_object import TaskObject
from tidegate.model.kinds.workload import Workload

SERVED: tuple[type[Kind], ...] = (
    ResourceFlavor,
    ClusterQueue,
    Queue,
    Workload,
    QueueJob,
    TaskCluster,
    TaskObject,
    Task,
)
"""Kinds the API server keeps. A Scenario is a file, and no API server knows it."""

KINDS: dict[str, type[Kind]] = {kind.__name__: kind for kind in SERVED} | {"Scenario": Scenario}

__all__ = [
    "API_VERSION",
    "GROUP",
    "KINDS",
    "SERVED",
    "VERSION",
    "ClusterQueue",
    "Kind",
    "Queue",
    "QueueJob",
    "ResourceFlavor",
    "Scenario",
    "Task",
    "TaskCluster",
    "TaskObject",
    "Workload",
]
