"""`tidegate up` and `tidegate down`: this machine as a cluster."""

from __future__ import annotations

import argparse
import os
import signal
import time
from pathlib import Path
from types import FrameType

from tidegate.cli.errors import CommandError
from tidegate.local.machine import Machine, MachineError

WITH_OPERATOR = "tidegate.assembly"
"""The control plane with queues: the operator runs in its process."""


def up(told: argparse.Namespace) -> int:
    folder = told.data_dir.expanduser().resolve()
    program = {"program": WITH_OPERATOR} if told.queues else {}
    machine = Machine(folder, told.host, told.port, told.isolation, **program)
    began = time.monotonic()
    try:
        started = machine.up()
    except (MachineError, OSError) as error:
        raise CommandError(str(error)) from None
    if started:
        print(f"Started {' and '.join(started)} in {time.monotonic() - began:.1f} s; state is in {machine.data_dir}.")
    else:
        print(f"Already running; state is in {machine.data_dir}.")
    print(f"\n  export KUBECONFIG={machine.kubeconfig}\n")
    if told.foreground:
        _stay(machine)
    else:
        print("Stop it with `tidegate down`" + ("." if _is_usual(machine) else f" --data-dir {machine.data_dir}."))
    return 0


def _is_usual(machine: Machine) -> bool:
    return machine.data_dir == Path("~/.tidegate").expanduser().resolve()


def _stay(machine: Machine) -> None:
    """Shows both logs until Ctrl-C (or SIGTERM), or until one of the two ends, then stops what is left."""

    def asked(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, asked)
    print("Ctrl-C stops it.", flush=True)
    logs = [machine.log_of(role).open("rb") for role in ("control-plane", "agent")]
    for log in logs:
        log.seek(0, os.SEEK_END)
    try:
        while machine.running("control-plane") and machine.running("agent"):
            shown = [log.read() for log in logs]
            os.write(1, b"".join(shown))
            time.sleep(0.25)
        raise CommandError(f"One of the two processes has ended; the logs are in {machine.data_dir / 'logs'}.")
    except KeyboardInterrupt:
        print("\nStopping …", flush=True)
    finally:
        for log in logs:
            log.close()
        machine.down()


def down(told: argparse.Namespace) -> int:
    machine = Machine(told.data_dir.expanduser().resolve())
    try:
        stopped = machine.down()
    except MachineError as error:
        raise CommandError(str(error)) from None
    print(f"Stopped {' and '.join(stopped)}." if stopped else "Nothing was running.")
    return 0
