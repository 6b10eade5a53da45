"""The controllers at work: on a real API server that has none of its own, and in the embedded control plane."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.harness import Cluster, RealKube, missing_programs
from tests.local.controllers.stage import Stage, client_of, close
from tidegate.local.controllers.run import run_controllers


@pytest.fixture(scope="session")
def bare_cluster() -> Iterator[Cluster]:
    """etcd and kube-apiserver, nothing else."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    with RealKube(controllers=False) as cluster:
        yield cluster


@pytest.fixture(
    params=[pytest.param("bare_cluster", marks=pytest.mark.kube), "embedded_cluster"], ids=["real", "embedded"]
)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """The server the controllers work for."""
    server: Cluster = request.getfixturevalue(request.param)
    return server


@pytest.fixture
async def stage(cluster: Cluster) -> AsyncIterator[Stage]:
    """A namespace with the controllers at work; the embedded control plane brings its own."""
    client = client_of(cluster)
    stage = Stage(client, root_ca=cluster.ca_file.read_text())
    controllers = asyncio.create_task(_controllers(cluster, stage))
    try:
        await stage.open()
        yield stage
        assert not controllers.done(), "a controller ended by itself"
    finally:
        controllers.cancel()
        await asyncio.gather(controllers, return_exceptions=True)
        await stage.close()
        await close(client)


async def _controllers(cluster: Cluster, stage: Stage) -> None:
    if cluster.name == "embedded":
        await asyncio.Event().wait()
    await run_controllers(stage.client, root_ca=stage.root_ca)
