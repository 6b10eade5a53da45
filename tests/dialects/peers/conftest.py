"""One control plane with Kueue in it, for all tests that ask Kueue."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialects.peers import kueue
from tests.dialects.peers.asking_kueue import PLENTY, RUNTIME, apply
from tests.dialects.peers.programs import program
from tests.harness import Cluster, RealKube
from tidegate.dialects.queues import TARGETS, parse_tree


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A control plane of its own: Kueue's webhooks have a say in every pod of it."""
    program("kueue")
    folder: Path = tmp_path_factory.mktemp("kueue")
    with RealKube() as cluster, kueue.running(cluster, folder):
        cluster.create("/api/v1/namespaces", {"metadata": {"name": "team-a"}})
        apply(cluster, TARGETS["kueue"](parse_tree(PLENTY)).objects)
        cluster.create("/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes", RUNTIME)
        yield cluster
