"""An ordinary user's agent: namespaces by way of a user namespace, with the same life for its pods."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidegate
from tests.harness import Cluster
from tests.harness.certificates import Serving
from tests.local.agent.node import Node, container

pytestmark = pytest.mark.kube

NOBODY = 65534


def interpreter() -> list[str]:
    """A command that runs this Python's modules as nobody; empty if that user may not."""
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    paths = [str(Path(tidegate.__file__).parents[1]), *(path for path in sys.path if path.endswith("-packages"))]
    command = [*become, "env", f"PYTHONPATH={':'.join(paths)}", system]
    if os.geteuid() != 0 or not shutil.which("setpriv") or not Path(system).exists():
        return []
    tried = [*command, "-c", "import tidegate.kube.connect, ctypes; ctypes.CDLL(None).unshare(0x10000000) and 1 / 0"]
    return command if subprocess.run(tried, capture_output=True, check=False).returncode == 0 else []


class UsersNode(Node):
    """A node whose agent runs as nobody, with copies of the files that it must read."""

    def command(self) -> list[str]:
        return interpreter()


@pytest.fixture
def node(cluster: Cluster, agent_tls: Serving) -> Iterator[Node]:
    if not interpreter():
        pytest.skip("no interpreter that nobody may run, or no user namespaces")
    folder = Path(tempfile.mkdtemp(prefix="users-agent-"))
    source = agent_tls
    if cluster.name == "embedded":
        pki = cluster.folder / "data" / "pki"
        source = Serving(ca=pki / "ca.crt", cert=pki / "agent.crt", key=pki / "agent.key")
    copies = {name: Path(shutil.copy(getattr(source, name), folder / name)) for name in ("ca", "cert", "key")}
    config = Path(shutil.copy(cluster.kubeconfig, folder / "kubeconfig"))
    authority = Path(shutil.copy(cluster.ca_file, folder / "cluster-ca"))
    config.write_text(config.read_text().replace(str(cluster.ca_file), str(authority)))
    node = UsersNode(cluster, folder, Serving(**copies), isolation="namespaces", kubeconfig=config)
    for path in (folder, *folder.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    node.start()
    yield node
    node.dispose()
    shutil.rmtree(folder)


def test_pods_of_an_ordinary_user_have_namespaces_and_survive_the_agent(
    cluster: Cluster, node: Node, namespace: str
) -> None:
    """An address, a host name, names that resolve, the API server; also after the agent was killed."""
    connect = "import socket; socket.create_connection(('kubernetes.default.svc', 443), 5)"
    reach = f'until /usr/bin/python3 -c "{connect}" 2>/dev/null; do sleep 0.2; done'
    node.run(namespace, container(f"hostname; {reach}; echo reached; sleep 1.5; {reach}; echo again; exit 6"))
    node.running(namespace)
    node.kill()
    node.start()
    pod = node.ended(namespace)
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 6
    assert node.log(namespace).splitlines() == ["pod", "reached", "again"]
    notes = cluster.get(f"/api/v1/nodes/{node.name}")["metadata"]["annotations"]
    assert notes["tidegate.dev/isolation"].startswith("namespaces")
