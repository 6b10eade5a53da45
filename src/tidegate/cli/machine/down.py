"""`tidegate down`: stops the node with its pods, then the control plane."""

from __future__ import annotations

import argparse

from tidegate.cli.errors import CommandError
from tidegate.cli.machine import data_dir

_EXAMPLES = """examples:
  tidegate down                          # everything is kept; the next `tidegate up` goes on from there
  tidegate down --data-dir /tmp/try      # the one that was started with the same folder
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    data_dir(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.tables import document
    from tidegate.local.machine import Machine, MachineError

    machine = Machine(told.data_dir.expanduser().resolve())
    try:
        stopped = machine.down()
    except MachineError as error:
        raise CommandError(str(error)) from None
    if told.output != "table":
        print(document({"stopped": stopped}, told.output))
        return 0
    print(f"Stopped {' and '.join(stopped)}." if stopped else "Nothing was running.")
    return 0
