"""A node agent as a process of its own against either server, and pods on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import Cluster, Embedded, RealKube, certificates, missing_programs
from tests.local.agent.node import Node, Serving


@pytest.fixture(scope="session")
def agent_tls(tmp_path_factory: pytest.TempPathFactory) -> Serving:
    """The agent's certificate, which is also the one that the API server shows it."""
    return certificates.serving(tmp_path_factory.mktemp("agent-tls"))


@pytest.fixture(scope="session")
def real_cluster(agent_tls: Serving) -> Iterator[Cluster]:
    """A real control plane that may ask nodes for logs and exec."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    shown = [f"--kubelet-client-certificate={agent_tls.cert}", f"--kubelet-client-key={agent_tls.key}"]
    with RealKube(apiserver_flags=shown) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def embedded_cluster() -> Iterator[Cluster]:
    """One of their own: a node binds every pod that waits, also what tests of other things left waiting. Their folders
    stayed, and it looked as if the agent had not removed its own."""
    with Embedded() as cluster:
        yield cluster


@pytest.fixture(scope="module", params=["namespaces", "loopback"])
def isolation(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def node(
    cluster: Cluster, isolation: str, agent_tls: Serving, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """An agent that binds and runs every pod; gone with all it ran after the test."""
    folder: Path = tmp_path_factory.mktemp("agent")
    tls = agent_tls
    if cluster.name == "embedded":
        pki = cluster.folder / "data" / "pki"
        tls = Serving(ca=pki / "ca.crt", cert=pki / "agent.crt", key=pki / "agent.key")
    node = Node(cluster, folder, tls, isolation=isolation)
    assert not node.strangers(), "a node binds every pod that waits, and these are not of its tests"
    node.start()
    yield node
    node.dispose()
