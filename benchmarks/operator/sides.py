"""The two who are measured: how each is put on a server that has nothing, and started there as a process.

Neither is asked by webhooks, and neither has a limit to how often it writes, but for Tidegate's events. Kueue is its
released manager, as concurrent as its own installation has it, which limits it to 300 requests a second (and its
performance test to 50). The webhooks that it insists on are there and concern nothing, it holds no lease, as Tidegate
does, and the only kind of job that it looks for is the one that every server has.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.operator import kueue, ours
from benchmarks.operator.cost import cpu_s, most_mb
from benchmarks.operator.mix import NAMESPACE, NOMINAL
from benchmarks.operator.words import Words
from tests.dialects.peers import kueue as peer
from tests.harness import Cluster, processes
from tidegate.controller.bootstrap import install_kinds
from tidegate.kube.connect import connect
from tools.build_kube import PROGRAMS, assets, missing

KUEUE = f"Kueue {PROGRAMS['kueue'].version}"
_KIND = f"{{}}.{kueue.API.partition('/')[0]}"
_AT_ONCE = {"Workload": 10, "LocalQueue": 5, "ClusterQueue": 5, "Cohort": 1, "ResourceFlavor": 1}
SETTING = peer.Setting(
    modules={"sigs.k8s.io/kueue": peer.MODULES["sigs.k8s.io/kueue"]},
    frameworks=["batch/job"],
    asked=False,
    more={
        "clientConnection": {"qps": -1, "burst": 1},
        "controller": {"groupKindConcurrency": {_KIND.format(kind): count for kind, count in _AT_ONCE.items()}},
        "featureGates": {"VisibilityOnDemand": False},
    },
)


class Running:
    """A scheduler as a process, and what it has cost."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def alive(self) -> bool:
        return self._process.poll() is None

    def cost(self) -> tuple[float, float]:
        """CPU seconds, and the most memory it ever had, in MB."""
        return cpu_s([self._process.pid]), most_mb(self._process.pid)

    def stop(self) -> None:
        processes.stop(self._process)


@dataclass(frozen=True, slots=True)
class Side:
    """Who is measured."""

    name: str
    words: Words
    install: Callable[[Cluster], int]
    """Its kinds; the port it is to be asked at, if any."""
    start: Callable[[Cluster, int], subprocess.Popen[bytes]]

    def furnish(self, cluster: Cluster, nominal: int = NOMINAL) -> Callable[[], Running]:
        """The queues of the mix on a server; what starts the scheduler there."""
        port = self.install(cluster)
        cluster.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        for path, obj in self.words.queues(nominal):
            cluster.create(path, obj)
        return lambda: Running(self.start(cluster, port))

    def await_ready(self, cluster: Cluster) -> None:
        """Returns when it has said something of every ClusterQueue."""
        path = next(path for path, _ in self.words.queues(0) if path.endswith("/clusterqueues"))
        cluster.eventually(path, lambda reply: reply.status == 200 and all(map(_is_judged, reply.json["items"])))


def _is_judged(queue: dict[str, Any]) -> bool:
    return bool(queue.get("status", {}).get("conditions"))


def _install_ours(cluster: Cluster) -> int:
    async def install() -> None:
        client = connect(kubeconfig=cluster.kubeconfig)
        await install_kinds(client)
        await client.close()

    asyncio.run(install())
    return 0


def _start_ours(cluster: Cluster, _: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig)]
    return processes.start("operator", command, logs=cluster.folder)


TIDEGATE = Side("tidegate", ours.WORDS, _install_ours, _start_ours)
PEER = Side(
    "kueue",
    kueue.WORDS,
    lambda cluster: peer.install(cluster, SETTING),
    lambda cluster, port: peer.start(cluster, cluster.folder, port, SETTING),
)


def why_no_peer() -> str:
    """Why Kueue cannot be measured here; empty if it can."""
    if missing(["kueue"], assets()):
        return f"{KUEUE} is not built; `python tools/build_kube.py kueue` does it (needs Go, about 15 minutes)"
    return "" if shutil.which("go") else "Go is not installed, which finds the definitions of Kueue's kinds"
