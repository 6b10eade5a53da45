"""The same daily commands on a real Kubernetes: its own control plane, an operator beside it, a node that joined."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.cli.test_commands import tidegate
from tests.harness import Cluster, RealKube, certificates, missing_programs
from tests.local.agent.node import Node

pytestmark = pytest.mark.kube


@dataclass
class Tenant:
    """A managed namespace of a cluster, and the commands of whoever works there."""

    cluster: Cluster
    namespace: str

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        at = words.index("--") if "--" in words else len(words)
        where = ["--kubeconfig", str(self.cluster.kubeconfig), "-n", self.namespace]
        return tidegate(*words[:at], *where, *words[at:], timeout_s=120)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A real control plane that may ask the node for logs, the node, and the operator as a process of its own."""
    absent = missing_programs()
    if absent:
        pytest.fail(f"{', '.join(absent)} not built. Run `make kube` first, or set KUBEBUILDER_ASSETS.")
    folder = tmp_path_factory.mktemp("cluster")
    tls = certificates.serving(folder)
    shown = [f"--kubelet-client-certificate={tls.cert}", f"--kubelet-client-key={tls.key}"]
    with RealKube(apiserver_flags=shown) as cluster:
        node = Node(cluster, folder, tls, isolation="loopback", flags=("--stop-pods", "--capacity", "cpu=2"))
        node.start()
        operator = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig)]
        with (folder / "operator.log").open("wb") as log:
            running = subprocess.Popen(operator, stdout=log, stderr=log)
        queues = "/apis/tidegate.dev/v1alpha1/clusterqueues/root"
        cluster.eventually(queues, lambda reply: reply.status == 200)
        yield cluster
        running.terminate()
        running.wait(30)
        node.stop()


@pytest.fixture(scope="module")
def tenant(cluster: Cluster) -> Tenant:
    name = cluster.namespace()
    label = {"metadata": {"labels": {"tidegate.dev/managed": "true"}}}
    headers = {"content-type": "application/merge-patch+json"}
    assert cluster.http("PATCH", f"/api/v1/namespaces/{name}", label, headers=headers).status == 200
    tenant = Tenant(cluster, name)
    assert tenant("queue", "create", "default").stdout == f"Queue {name}/default is made.\n"
    return tenant


def test_a_command_runs_there_and_its_output_and_status_come_back(tenant: Tenant) -> None:
    done = tenant("run", "--cpu", "100m", "--", "sh", "-c", "echo $$ is a number; exit 5")
    assert done.returncode == 5, done.stderr
    assert done.stdout.partition(" ")[0].isdigit()
    assert "Made this machine" not in done.stderr


def test_who_waits_is_shown_told_why_and_when_and_can_be_cancelled(tenant: Tenant) -> None:
    assert (
        tenant("run", "--cpu", "2", "--time", "20m", "--detach", "--name", "all", "--", "sleep", "900").returncode == 0
    )
    assert tenant("run", "--cpu", "1", "--detach", "--name", "next", "--", "echo", "mine").returncode == 0
    path = f"/apis/tidegate.dev/v1alpha1/namespaces/{tenant.namespace}/workloads/job-next"
    tenant.cluster.eventually(path, lambda reply: reply.status == 200 and "waiting" in reply.json.get("status", {}))
    rows = {line.split()[0]: line for line in tenant("status").stdout.splitlines() if line.strip()}
    assert "Admitted" in rows[f"{tenant.namespace}/all"]
    assert "WaitingForQuota" in rows[f"{tenant.namespace}/next"]
    start = json.loads(tenant("why", "next", "-o", "json").stdout)["start"]
    assert 600 < start["inSeconds"] <= 1200
    told = tenant("simulate", "--from-cluster")
    assert f"{tenant.namespace}/job-next" in told.stdout, told.stderr
    assert tenant("cancel", "all").returncode == 0
    assert tenant("logs", "-f", "next").stdout == "mine\n"
