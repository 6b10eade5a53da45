"""`tidegate simulate`: Scenario files in, timelines and tables out. What they mean is the simulator's to say."""

from __future__ import annotations

import argparse
from pathlib import Path


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.add_argument("files", nargs="+", type=Path, metavar="FILE", help="Scenario files (YAML)")
    command.add_argument(
        "-o", "--output", choices=["table", "json", "yaml"], default="table", help="how to show it (default: table)"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all chance (default: 0)")
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.simulate.command import simulate

    return simulate(told)
