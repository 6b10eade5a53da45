"""Starts the controllers: shared caches, one task per controller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from tidegate.kube.client import Client
from tidegate.local.controllers.caches import Caches
from tidegate.local.controllers.cron.controller import CronJobController
from tidegate.local.controllers.deployment.controller import DeploymentController
from tidegate.local.controllers.endpoints.controller import EndpointController
from tidegate.local.controllers.job.controller import JobController
from tidegate.local.controllers.job.strays import StrayPodController
from tidegate.local.controllers.job.ttl import TtlController
from tidegate.local.controllers.namespaces.controller import NamespaceController
from tidegate.local.controllers.nodes.lifecycle import NodeLifecycleController
from tidegate.local.controllers.nodes.pod_gc import PodGcController
from tidegate.local.controllers.nodes.taints import NodeTaintController
from tidegate.local.controllers.protection.controller import ProtectionController
from tidegate.local.controllers.quota.controller import QuotaController
from tidegate.local.controllers.recorder import Recorder
from tidegate.local.controllers.replicas.controller import ReplicaController


class Controller(Protocol):
    async def run(self) -> None: ...


def utc_now() -> datetime:
    return datetime.now(UTC)


async def run_controllers(client: Client, *, root_ca: str, clock: Callable[[], datetime] = utc_now) -> None:
    """Runs all controllers until cancelled."""
    caches = Caches(client)
    recorder = Recorder(client, "tidegate-controllers", clock)
    running: list[Controller] = [
        caches,
        recorder,
        JobController(client, caches, recorder, clock),
        StrayPodController(client, caches),
        ReplicaController(client, caches, recorder, clock),
        ReplicaController(client, caches, recorder, clock, classic=True),
        DeploymentController(client, caches, recorder, clock),
        CronJobController(client, caches, recorder, clock),
        TtlController(client, caches, clock),
        EndpointController(client, caches),
        NamespaceController(client, caches, root_ca),
        PodGcController(client, caches, clock),
        NodeLifecycleController(client, caches, clock),
        NodeTaintController(client, caches, clock),
        ProtectionController(client, caches),
        QuotaController(client, caches),
    ]
    async with asyncio.TaskGroup() as group:
        for each in running:
            group.create_task(each.run())
