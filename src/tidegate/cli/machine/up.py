"""`tidegate up`: starts the control plane, with queues, and the node."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from tidegate.cli.arguments import whole
from tidegate.cli.errors import CommandError, UsageError
from tidegate.cli.machine import WITH_OPERATOR, data_dir, usual_folder

if TYPE_CHECKING:
    from types import FrameType

    from tidegate.local.machine import Machine

_EXAMPLES = """examples:
  tidegate up                            # then: kubectl get nodes,queues
  tidegate up --data-dir /tmp/try        # apart from all else, gone with its folder
  tidegate up --no-queues                # a plain Kubernetes, to try your own operators on
"""

_MOST_PORT = 65535
_NODE_S = 10.0
"""How long the node is waited for; it is there within one or two."""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    data_dir(command)
    plain = "leave Tidegate's operator out: nothing waits in queues, and every namespace may run pods"
    command.add_argument("--no-queues", action="store_true", help=plain)
    command.add_argument("--foreground", action="store_true", help="stay, show both logs, and stop both on Ctrl-C")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, loopback)")
    command.add_argument(
        "--port",
        type=whole(0, _MOST_PORT),
        default=0,
        metavar="N",
        help="port to listen on (default: that of last time, or any)",
    )
    how = "how pods are kept apart: Linux namespaces, or a loopback address each (default: what this user may)"
    command.add_argument("--isolation", choices=["auto", "namespaces", "loopback"], default="auto", help=how)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.tables import document
    from tidegate.local.machine import Machine, MachineError

    if told.foreground and told.output != "table":
        raise UsageError("--foreground shows logs. Leave -o out, or --foreground.")
    folder = told.data_dir.expanduser().resolve()
    program = {} if told.no_queues else {"program": WITH_OPERATOR}
    machine = Machine(folder, told.host, told.port, told.isolation, **program)
    began = time.monotonic()
    try:
        started = machine.up()
    except MachineError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}. Choose another --data-dir, or mend it.") from None
    except KeyboardInterrupt:
        print("\nStopped again; nothing is left running that was not before.", file=sys.stderr)
        raise
    if not told.foreground:
        # It runs: a Ctrl-C that comes now comes too late, and is told so like everybody.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "agent" in started:
        _await_node(machine)
    if told.output != "table":
        print(document({"started": started, "kubeconfig": str(machine.kubeconfig)}, told.output))
        return 0
    if started:
        print(f"Started {' and '.join(started)} in {time.monotonic() - began:.1f} s; state is in {machine.data_dir}.")
    else:
        print(f"Already running; state is in {machine.data_dir}.")
    print(f"\n  export KUBECONFIG={machine.kubeconfig}\n")
    if told.foreground:
        _stay(machine)
    else:
        usual = machine.data_dir == usual_folder()
        print("Stop it with `tidegate down" + ("`." if usual else f" --data-dir {machine.data_dir}`."))
    return 0


def _await_node(machine: Machine) -> None:
    """Until its node can take pods, so that who looks next finds one; for a moment at most, since it will come."""
    import asyncio

    from tidegate.kube.client import StatusError
    from tidegate.kube.config import load_access
    from tidegate.kube.connect import connect
    from tidegate.kube.resources import NODES

    async def ready() -> None:
        client = connect(load_access(machine.kubeconfig))
        try:
            async with asyncio.timeout(_NODE_S), contextlib.aclosing(client.watch(NODES, initial=True)) as watch:
                async for event in watch:
                    node = event.object if event.type in ("ADDED", "MODIFIED") else {}
                    conditions = (node.get("status") or {}).get("conditions") or ()
                    if any(each["type"] == "Ready" and each["status"] == "True" for each in conditions):
                        return
        finally:
            await client.close()

    with contextlib.suppress(OSError, StatusError, TimeoutError):
        asyncio.run(ready())


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
