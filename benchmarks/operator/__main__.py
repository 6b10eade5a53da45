"""Measures the operator on both servers and prints the table: see the package's docstring."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.measures import Row
from benchmarks.operator.cost import cpu_s, most_mb
from benchmarks.operator.mix import NAMESPACE, least_seconds, queues
from tests.harness import Cluster, Embedded, RealKube, missing_programs, processes
from tidegate.controller.bootstrap import install_kinds
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.kube.client import Client
from tidegate.kube.connect import connect
from tidegate.kube.resources import NAMESPACES

SERVERS = ("real", "embedded")
TITLES = {"real": "etcd + kube-apiserver", "embedded": "embedded"}
PATIENCE_S = 1200
PLENTY = 1_000_000
LIMIT = "bare client: status writes, the limit of admissions"
LIVES = "bare client: whole lives (created, admitted, ended, its end noted), the limit of the mix"
RATIOS = {
    "… admissions of those that fit": ("… admissions of those that fit, of the limit", LIMIT),
    "… admissions": ("… admissions, of the limit of the mix", LIVES),
}
"""Rows that are also shown as a part of what the bare client wrote in the same run."""


class Server:
    """A new server with an empty store and nobody on it, and what it has cost."""

    def __init__(self, cluster: Cluster, pids: list[int]) -> None:
        self.cluster = cluster
        self._pids = pids
        self._began_s = 0.0

    def begin(self) -> None:
        """What it cost until now does not count."""
        self._began_s = cpu_s(self._pids)

    @property
    def cpu_s(self) -> float:
        return cpu_s(self._pids) - self._began_s


@contextmanager
def server(name: str, *, nominal: int) -> Iterator[Server]:
    """One with the queues of the mix."""
    started = Embedded() if name == "embedded" else RealKube(controllers=False, durable=True)
    with started as cluster:
        asyncio.run(furnish(cluster, nominal=nominal))
        made = Server(cluster, [process.pid for process in started.running.values()])
        made.begin()
        yield made


async def furnish(cluster: Cluster, *, nominal: int) -> None:
    client: Client = connect(kubeconfig=cluster.kubeconfig)
    await install_kinds(client)
    await client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    for obj in queues(nominal=nominal):
        await client.create(QUEUES if obj["kind"] == "Queue" else CLUSTER_QUEUES, obj)
    await client.close()


class Operator:
    """`tidegate operator` as a process, and what it has cost."""

    def __init__(self, cluster: Cluster) -> None:
        command = [sys.executable, "-m", "tidegate.cli.main", "operator", "--kubeconfig", str(cluster.kubeconfig)]
        self._process = processes.start("operator", command, logs=cluster.folder)

    def cost(self) -> tuple[float, float]:
        """CPU seconds, and the most memory it ever had, in MB."""
        return cpu_s([self._process.pid]), most_mb(self._process.pid)

    def stop(self) -> None:
        processes.stop(self._process)


def runner(cluster: Cluster, operation: str, share: float) -> subprocess.Popen[str]:
    given: dict[str, Any] = {"url": cluster.url, "ca": str(cluster.ca_file), "token": cluster.token}
    given |= {"operation": operation, "share": share, "patience_s": PATIENCE_S}
    command = [sys.executable, "-m", "benchmarks.operator.runner", json.dumps(given)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, "the runner failed; see above"
    answer = json.loads(out.splitlines()[-1])
    assert not answer["errors"], answer["errors"]
    return answer


def limit(name: str, share: float) -> Iterator[Row]:
    with server(name, nominal=20) as on:
        seen = told(runner(on.cluster, "limit", share))
        cpu = on.cpu_s
    yield Row("bare client: creates", seen["count"] / seen["create_s"], "/s")
    yield Row(LIMIT, seen["count"] / seen["status_s"], "/s")
    yield Row(LIVES, seen["count"] / seen["all_s"], "/s")
    yield Row("… CPU of the server per life", cpu / seen["count"] * 1e3, "ms", smaller=True)


def burst(name: str, share: float) -> Iterator[Row]:
    """Everything waits and everything fits."""
    with server(name, nominal=PLENTY) as on:
        process = runner(on.cluster, "burst", share)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        operator = Operator(on.cluster)
        seen = told(process)
        cpu, memory = operator.cost()
        operator.stop()
    yield Row(
        f"{seen['count']:,} that all fit: from its start to the last admission", seen["seconds"], "s", smaller=True
    )
    yield Row("… admissions of those that fit", seen["count"] / seen["seconds"], "/s")
    yield Row("… CPU per admission", cpu / seen["count"] * 1e3, "ms", smaller=True)
    yield Row("… most memory", memory, "MB", smaller=True)


def mix(name: str, share: float) -> Iterator[Row]:
    with server(name, nominal=20) as on:
        operator = Operator(on.cluster)
        seen = told(runner(on.cluster, "mix", share))
        cpu, memory = operator.cost()
        server_cpu = on.cpu_s
        operator.stop()
    yield Row(
        f"Kueue's baseline, {seen['count']:,}: first arrival to last admission", seen["seconds"], "s", smaller=True
    )
    yield Row("… of the least that the mix can take", seen["seconds"] / least_seconds(share), "×", smaller=True)
    yield Row("… admissions", seen["count"] / seen["seconds"], "/s")
    yield Row("… creation to admission, p50", seen["p50"], "s", smaller=True)
    yield Row("… creation to admission, p99", seen["p99"], "s", smaller=True)
    for shape in ("large", "medium", "small"):
        yield Row(f"… creation to admission, {shape}, mean", seen[f"{shape}_s"], "s", smaller=True)
    yield Row("… evictions", seen["evictions"], "", smaller=True)
    yield Row("… CPU of the server per Workload", server_cpu / seen["count"] * 1e3, "ms", smaller=True)
    yield Row("… CPU of the operator per Workload", cpu / seen["count"] * 1e3, "ms", smaller=True)
    yield Row("… CPU of the operator", cpu, "s", smaller=True)
    yield Row("… most memory of the operator", memory, "MB", smaller=True)


GROUPS = {"limit": limit, "burst": burst, "mix": mix}


def ratios(rows: dict[str, dict[str, Row]]) -> dict[str, dict[str, Row]]:
    """The same rows, with those beside them that compare with the bare client of the same run."""
    shown: dict[str, dict[str, Row]] = {}
    for title, found in rows.items():
        shown[title] = found
        ratio, limit = RATIOS.get(title, ("", ""))
        if limits := rows.get(limit):
            shown[ratio] = {name: Row(ratio, row.value / limits[name].value, "×") for name, row in found.items()}
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operator", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the Workloads")
    parser.add_argument("--server", choices=SERVERS, help="measure on one server alone")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of rows: {', '.join(GROUPS)}")
    given = parser.parse_args()
    if unknown := set(given.only.split(",")) - set(GROUPS):
        parser.error(f"{', '.join(sorted(unknown))}: no such group of rows. Write some of {', '.join(GROUPS)}.")
    servers = (given.server,) if given.server else SERVERS
    if "real" in servers and (absent := missing_programs()):
        print(f"{', '.join(absent)} not built. Run `make kube` first, or ask for `--server embedded`.", file=sys.stderr)
        return 1
    rows: dict[str, dict[str, Row]] = {}
    began = time.monotonic()
    for group in given.only.split(","):
        for name in servers:
            print(f"  {name}, {group} …", file=sys.stderr, flush=True)
            for row in GROUPS[group](name, 0.1 if given.quick else 1.0):
                rows.setdefault(row.name, {})[name] = row
    print("| | " + " | ".join(TITLES[name] for name in servers) + " |\n|---|" + "--:|" * len(servers))
    for title, found in ratios(rows).items():
        shown = [
            f"{found[name].value:,.{0 if found[name].value >= 100 else 2}f} {found[name].unit}" for name in servers
        ]
        print(f"| {title} | {' | '.join(shown)} |")
    spent = time.monotonic() - began
    print(f"\n{os.cpu_count()} CPUs, Python {platform.python_version()}, {spent:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
