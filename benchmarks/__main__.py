"""Measures both servers and prints the table: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from pathlib import Path

from benchmarks.measures import GROUPS, Effort, Row, fresh
from tests.harness import missing_programs

SERVERS = ("embedded", "real")
Samples = dict[str, dict[str, list[Row]]]


def measure(servers: tuple[str, ...], groups: list[str], *, repeats: int, effort: Effort) -> Samples:
    """Rows by name and server. The servers take turns, each fresh, so that neither meets the other's leftovers."""
    samples: Samples = {}
    for turn in range(repeats):
        for name in servers:
            server = fresh(name)
            try:
                for group in groups:
                    print(f"  round {turn + 1}: {name}, {group} …", file=sys.stderr, flush=True)
                    for row in GROUPS[group](server, effort):
                        samples.setdefault(row.name, {}).setdefault(name, []).append(row)
            finally:
                server.started.stop()
    return samples


def table(samples: Samples, servers: tuple[str, ...]) -> str:
    """One line per row: the medians, and how many times better the embedded server is."""
    titles = {"embedded": "embedded", "real": "etcd + kube-apiserver"}
    lines = [
        "| | " + " | ".join(titles[name] for name in servers) + " | embedded is |",
        "|---|" + "--:|" * (len(servers) + 1),
    ]
    for row_name, by_server in samples.items():
        medians = {name: statistics.median(row.value for row in rows) for name, rows in by_server.items()}
        unit = next(iter(by_server.values()))[0].unit
        cells = [f"{medians[name]:,.{0 if medians[name] >= 100 else 1}f} {unit}" for name in servers]
        lines.append(f"| {row_name} | {' | '.join(cells)} | {verdict(row_name, samples, medians)} |")
    return "\n".join(lines)


def verdict(row_name: str, samples: Samples, medians: dict[str, float]) -> str:
    if set(medians) != set(SERVERS) or not all(medians.values()):
        return ""
    smaller = samples[row_name]["embedded"][0].smaller
    ratio = medians["real"] / medians["embedded"] if smaller else medians["embedded"] / medians["real"]
    return f"{ratio:.1f}× better" if ratio >= 1 else f"**{1 / ratio:.1f}× worse**"


def as_json(samples: Samples) -> str:
    rows = [
        {"row": name, "unit": next(iter(by.values()))[0].unit, **{s: [r.value for r in rs] for s, rs in by.items()}}
        for name, by in samples.items()
    ]
    machine = {"cpus": os.cpu_count(), "python": platform.python_version(), "kernel": platform.release()}
    return json.dumps({"machine": machine, "rows": rows}, indent=1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="every row once, in under three minutes")
    parser.add_argument("--only", default=",".join(GROUPS), help=f"groups of rows: {', '.join(GROUPS)}")
    parser.add_argument("--server", choices=SERVERS, help="measure one server alone")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write every sample here")
    given = parser.parse_args()
    if unknown := set(given.only.split(",")) - set(GROUPS):
        parser.error(f"{', '.join(sorted(unknown))}: no such group of rows. Write some of {', '.join(GROUPS)}.")
    servers = (given.server,) if given.server else SERVERS
    if "real" in servers and (absent := missing_programs()):
        print(f"{', '.join(absent)} not built. Run `make kube` first, or ask for `--server embedded`.", file=sys.stderr)
        return 1
    effort = Effort(seconds=2, watch_writes=40) if given.quick else Effort(seconds=6, watch_writes=200)
    started = time.monotonic()
    samples = measure(servers, given.only.split(","), repeats=1 if given.quick else given.repeats, effort=effort)
    print(table(samples, servers))
    print(
        f"\n{os.cpu_count()} CPUs, Python {platform.python_version()}, {time.monotonic() - started:.0f} s",
        file=sys.stderr,
    )
    if given.json:
        given.json.write_text(as_json(samples) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
