"""This machine as a cluster: `up`, `down`, and the machine that commands mean when nothing names another server."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli.queued.cluster import options

if TYPE_CHECKING:
    from tidegate.local.machine import Machine

WITH_OPERATOR = "tidegate.assembly"
"""The control plane with queues: the operator runs in its process."""


def usual_folder() -> Path:
    """Where all state is kept unless told otherwise."""
    return Path("~/.tidegate").expanduser().resolve()


def own_machine() -> Machine:
    """This user's machine, with queues; running or not."""
    from tidegate.local.machine import Machine

    return Machine(usual_folder(), program=WITH_OPERATOR)


def data_dir(command: argparse.ArgumentParser) -> None:
    """What both `up` and `down` take."""
    told = "where all state is kept (default: ~/.tidegate)"
    command.add_argument("--data-dir", type=Path, default=Path("~/.tidegate"), metavar="FOLDER", help=told)
    options(command, asks=False)
