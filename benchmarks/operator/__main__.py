"""Measures the operator on both servers, and Kueue on one, and prints the table: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks.measures import Row
from benchmarks.operator.cost import cpu_s
from benchmarks.operator.mix import NOMINAL, least_seconds
from benchmarks.operator.sides import KUEUE, PEER, TIDEGATE, Running, Side, why_no_peer
from tests.harness import Cluster, Embedded, RealKube, missing_programs

COLUMNS: dict[str, tuple[str, Side]] = {
    "real": ("etcd + kube-apiserver", TIDEGATE),
    "kueue": (f"{KUEUE}, there", PEER),
    "embedded": ("embedded", TIDEGATE),
}
"""In the order in which they are measured: those that are compared one right after the other."""
RATIO = "Tidegate : Kueue"
PATIENCE_S, _LOOK_S = 3600, 5
PLENTY = 1_000_000
Rows = dict[str, dict[str, Row]]
"""By title and column."""
LIMIT = "bare client: status writes, the limit of admissions"
LIVES = "bare client: whole lives (created, admitted, ended, its end noted), the limit of the mix"
RATIOS = {
    "… admissions of those that fit": ("… admissions of those that fit, of the limit", LIMIT),
    "… admissions": ("… admissions, of the limit of the mix", LIVES),
}
"""Rows that are also shown as a part of what the bare client wrote in the same run."""


class Server:
    """A new server with nobody on it but the queues of the mix, and what it has cost."""

    def __init__(self, cluster: Cluster, pids: list[int], start: Callable[[], Running]) -> None:
        self.cluster = cluster
        self.start = start
        self._pids = pids
        self._began_s = cpu_s(pids)

    @property
    def cpu_s(self) -> float:
        return cpu_s(self._pids) - self._began_s


@contextmanager
def server(column: str, *, nominal: int = NOMINAL) -> Iterator[Server]:
    started = Embedded() if column == "embedded" else RealKube(controllers=False, durable=True)
    with started as cluster:
        start = COLUMNS[column][1].furnish(cluster, nominal)
        yield Server(cluster, [process.pid for process in started.running.values()], start)


def runner(column: str, cluster: Cluster, operation: str, share: float) -> subprocess.Popen[str]:
    given: dict[str, Any] = {"url": cluster.url, "ca": str(cluster.ca_file), "token": cluster.token}
    given |= {"who": COLUMNS[column][1].name, "operation": operation, "share": share, "patience_s": PATIENCE_S}
    command = [sys.executable, "-m", "benchmarks.operator.runner", json.dumps(given)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def told(process: subprocess.Popen[str], operator: Running | None = None) -> Any:
    """What the runner saw. Where whom it plays for has ended, it would wait for ever."""
    while True:
        try:
            out, _ = process.communicate(timeout=_LOOK_S)
            break
        except subprocess.TimeoutExpired:
            if operator is not None and not operator.alive():
                process.kill()
                raise SystemExit("what is measured has ended by itself; its log is beside the server's") from None
    assert process.returncode == 0, "the runner failed; see above"
    answer = json.loads(out.splitlines()[-1])
    assert not answer["errors"], answer["errors"]
    return answer


def limit(column: str, share: float) -> Iterator[Row]:
    with server(column) as on:
        seen = told(runner(column, on.cluster, "limit", share))
        cpu = on.cpu_s
    yield Row("bare client: creates", seen["count"] / seen["create_s"], "/s")
    yield Row(LIMIT, seen["count"] / seen["status_s"], "/s")
    yield Row(LIVES, seen["count"] / seen["all_s"], "/s")
    yield Row("… CPU of the server per life", cpu / seen["count"] * 1e3, "ms", smaller=True)


def burst(column: str, share: float) -> Iterator[Row]:
    """Everything waits and everything fits."""
    with server(column, nominal=PLENTY) as on:
        process = runner(column, on.cluster, "burst", share)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        operator = on.start()
        seen = told(process, operator)
        cpu, memory = operator.cost()
        operator.stop()
    yield Row(
        f"{seen['count']:,} that all fit: from its start to the last admission", seen["seconds"], "s", smaller=True
    )
    yield Row("… admissions of those that fit", seen["count"] / seen["seconds"], "/s")
    yield Row("… CPU per admission", cpu / seen["count"] * 1e3, "ms", smaller=True)
    yield Row("… most memory", memory, "MB", smaller=True)


def mix(column: str, share: float) -> Iterator[Row]:
    with server(column) as on:
        operator = on.start()
        COLUMNS[column][1].await_ready(on.cluster)
        seen = told(runner(column, on.cluster, "mix", share), operator)
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
OURS_ALONE = ("limit", "burst")
"""Not of Kueue: its server is the same, and since it makes certificates before it begins, its start says little."""


def ratios(rows: Rows) -> Rows:
    """The same rows, with those beside them that compare with the bare client of the same run."""
    shown: Rows = {}
    for title, found in rows.items():
        shown[title] = found
        ratio, limit = RATIOS.get(title, ("", ""))
        if limits := rows.get(limit):
            compared = {name: row for name, row in found.items() if name in limits}
            shown[ratio] = {name: Row(ratio, row.value / limits[name].value, "×") for name, row in compared.items()}
    return shown


def table(rows: Rows, columns: Sequence[str]) -> Iterator[str]:
    """One line for each row; the last column is what Tidegate has for each that Kueue has on the same server."""
    compared = {"real", "kueue"} <= set(columns)
    titles = [COLUMNS[name][0] for name in columns] + ([RATIO] if compared else [])
    yield "| | " + " | ".join(titles) + " |\n|---|" + "--:|" * len(titles)
    for title, found in ratios(rows).items():
        shown = [_shown(found[name]) if name in found else "" for name in columns]
        if compared:
            ours, theirs = found.get("real"), found.get("kueue")
            shown.append(f"{ours.value / theirs.value:.2f}" if ours and theirs and theirs.value else "")
        yield f"| {title} | {' | '.join(shown)} |"


def _shown(row: Row) -> str:
    return f"{row.value:,.{0 if row.value >= 100 else 2}f} {row.unit}"


def chosen(asked: str) -> list[str]:
    """The columns that can be measured, in their order; why the others cannot is told."""
    columns = [name for name in COLUMNS if name in asked.split(",")]
    if {"real", "kueue"} & set(columns) and (absent := missing_programs()):
        raise SystemExit(f"{', '.join(absent)} not built. Run `make kube` first, or ask for `--columns embedded`.")
    if "kueue" in columns and (why := why_no_peer()):
        print(f"left out: {COLUMNS['kueue'][0]}, since {why}", file=sys.stderr)
        columns.remove("kueue")
    return columns


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.operator", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the Workloads")
    parser.add_argument("--columns", default=",".join(COLUMNS), help=f"what to measure: {', '.join(COLUMNS)}")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of rows: {', '.join(GROUPS)}")
    given = parser.parse_args()
    for asked, known in ((given.only, GROUPS), (given.columns, COLUMNS)):
        if unknown := set(asked.split(",")) - set(known):
            parser.error(f"{', '.join(sorted(unknown))}: there is no such thing. Write some of {', '.join(known)}.")
    columns = chosen(given.columns)
    rows: Rows = {}
    began = time.monotonic()
    for group in given.only.split(","):
        for column in columns:
            if column == "kueue" and group in OURS_ALONE:
                continue
            print(f"  {column}, {group} …", file=sys.stderr, flush=True)
            for row in GROUPS[group](column, 0.1 if given.quick else 1.0):
                rows.setdefault(row.name, {})[column] = row
    print("\n".join(table(rows, columns)))
    spent = time.monotonic() - began
    print(f"\n{os.cpu_count()} CPUs, Python {platform.python_version()}, {spent:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
