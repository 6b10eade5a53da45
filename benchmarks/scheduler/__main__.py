"""Measures the planner and prints the table: see the package's docstring."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Any

from benchmarks.scheduler.rows import Row, measured, reclaim
from tidegate.scheduler import planner

OTHERS: dict[str, dict[str, Any]] = {
    "two flavors": {"flavors": 2},
    "fifo": {"policy": "fifo"},
    "lending limits": {"lends": False},
}
"""Trees in which what is deserved is not simply by share, by what the table calls them."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scheduler", description=__doc__)
    parser.add_argument("--pending", default="1000,10000,100000,1000000", help="how many wait, by commas")
    parser.add_argument("--queues", default="10,100,1000", help="over how many queues, by commas")
    given = parser.parse_args()
    is_compiled = not str(planner.__file__).endswith(".py")
    print(f"The scheduler {'compiled' if is_compiled else 'as it is written'}:\n")
    print("| waiting | queues | | ms | µs per decision | peak MB |\n|--:|--:|---|--:|--:|--:|")
    sizes = product(map(int, given.pending.split(",")), map(int, given.queues.split(",")))
    # One process for each, so that its memory is its own.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as alone:
        for pending, queues in sizes:
            rows, peak = alone.submit(measured, pending, queues).result()
            for row in rows:
                _print(f"{pending:,}", f"{queues:,}", row, peak)
        for name, fields in OTHERS.items():
            rows, peak = alone.submit(measured, 10_000, 100, **fields).result()
            for row in rows:
                _print("10,000", "100", row._replace(name=f"{name}: {row.name}"), peak)
        _print("", "2", alone.submit(reclaim, 1500).result(), 0)
    return 0


def _print(pending: str, queues: str, row: Row, peak: int) -> None:
    each = row.milliseconds * 1000 / max(1, row.decisions)
    name = row.name if row.decisions == 1 else f"{row.name} ({row.decisions:,})"
    print(
        f"| {pending} | {queues} | {name} | {row.milliseconds:,.3f} | {each:,.1f} | {f'{peak:,}' if peak else ''} |",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
