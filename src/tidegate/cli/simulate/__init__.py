"""`tidegate simulate`: Scenario files in, timelines and tables out. What they mean is the simulator's to say."""

from __future__ import annotations

import argparse
from pathlib import Path


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.add_argument("files", nargs="*", type=Path, metavar="FILE", help="Scenario files (YAML)")
    command.add_argument(
        "-o", "--output", choices=["table", "json", "yaml"], default="table", help="how to show it (default: table)"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all chance (default: 0)")
    command.add_argument("--plot", type=Path, metavar="OUT.svg", help="draw allocated against deserved over time")
    trace = "play the jobs of a CSV file (submit, duration, cpu, memory, user), in the FILEs' worlds or on --capacity"
    command.add_argument("--trace", type=Path, metavar="JOBS.csv", help=trace)
    command.add_argument("--capacity", metavar="cpu=64,memory=256Gi", help="what a --trace without FILE runs on")
    policy = "let all ClusterQueues be served by this policy; several times to compare policies side by side"
    command.add_argument("--policy", action="append", default=[], metavar="NAME", help=policy)
    command.add_argument("--timeline", action="store_true", help="show what happened of long runs as well")
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.simulate.command import simulate

    return simulate(told)
