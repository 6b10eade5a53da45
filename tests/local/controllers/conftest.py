"""The controllers at work: on a real API server that has none of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.harness import Cluster, RealKube, missing_programs
from tests.local.controllers.stage import Stage, client_of, close
from tidegate.local.controllers import run_controllers

ROOT_CA = "the authority"


@pytest.fixture(scope="session")
def bare_cluster() -> Iterator[Cluster]:
    """etcd and kube-apiserver, nothing else."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    with RealKube(controllers=False) as cluster:
        yield cluster


@pytest.fixture(params=[pytest.param("real", marks=pytest.mark.kube)])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """The server the controllers work for."""
    server: Cluster = request.getfixturevalue("bare_cluster")
    return server


@pytest.fixture
async def stage(cluster: Cluster) -> AsyncIterator[Stage]:
    """A namespace with the controllers at work and a kubelet to play in it."""
    client = client_of(cluster)
    controllers = asyncio.create_task(run_controllers(client, root_ca=ROOT_CA))
    stage = Stage(client)
    try:
        await stage.open()
        yield stage
        assert not controllers.done(), "a controller ended by itself"
    finally:
        controllers.cancel()
        await asyncio.gather(controllers, return_exceptions=True)
        await close(client)
