"""`tidegate`: reads the command line and calls the command; errors come out as one sentence, never a traceback."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tidegate import __version__
from tidegate.cli.errors import CommandError

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"tidegate: {message}", file=sys.stderr)
        print(f"Try `{self.prog} --help`.", file=sys.stderr)
        raise SystemExit(USAGE)


def parser() -> argparse.ArgumentParser:
    main = _Parser(
        prog="tidegate",
        description="Queues, fair shares and elastic capacity for batch work that grows and shrinks while it runs.",
    )
    main.add_argument("--version", action="version", version=f"tidegate {__version__}")
    commands = main.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    _up(commands.add_parser("up", help="start the embedded control plane and node on this machine"))
    _down(commands.add_parser("down", help="stop them, and every pod they run"))
    _demo(commands.add_parser("demo", help="see it work: a control plane in a temporary folder runs a Job"))
    _queued(commands)
    _simulate(commands.add_parser("simulate", help="run Scenario files against the real scheduler in virtual time"))
    _render(commands.add_parser("render", help="write jobs and queues for Kueue, YuniKorn, Volcano and others"))
    _convert(commands.add_parser("convert", help="write Kueue's queues as Tidegate's"))
    return main


def _data_dir(command: argparse.ArgumentParser) -> None:
    default = Path("~/.tidegate").expanduser()
    command.add_argument(
        "--data-dir", type=Path, default=default, help="where all state is kept (default: ~/.tidegate)"
    )


def _up(command: argparse.ArgumentParser) -> None:
    from tidegate.cli import up

    _data_dir(command)
    command.add_argument(
        "--queues",
        action="store_true",
        help="run Tidegate's operator inside: work waits in queues, and no Queue means no pod",
    )
    command.add_argument("--foreground", action="store_true", help="stay, show both logs, and stop both on Ctrl-C")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s, loopback)")
    command.add_argument("--port", type=int, default=0, help="port to listen on (default: that of last time, or any)")
    how = "how pods are kept apart: Linux namespaces, or a loopback address each (default: what this user may)"
    command.add_argument("--isolation", choices=["auto", "namespaces", "loopback"], default="auto", help=how)
    command.set_defaults(run=up.up)


def _down(command: argparse.ArgumentParser) -> None:
    from tidegate.cli import up

    _data_dir(command)
    command.set_defaults(run=up.down)


def _demo(command: argparse.ArgumentParser) -> None:
    from tidegate.cli import demo

    command.set_defaults(run=demo.demo)


def _queued(commands: argparse._SubParsersAction[_Parser]) -> None:
    from tidegate.cli.queued import operator, queue, run, status, why

    run.register(commands.add_parser("run", help="run a command as a queued Job and stream its log"))
    status.register(commands.add_parser("status", help="the tree of queues: deserved, allocated, used, pending"))
    why.register(commands.add_parser("why", help="why a workload waits, shrank or was evicted"))
    queue.register(commands.add_parser("queue", help="create, list, stop and resume queues"))
    operator.register(commands.add_parser("operator", help="run the controllers against a Kubernetes"))


def _simulate(command: argparse.ArgumentParser) -> None:
    from tidegate.cli import simulate

    simulate.register(command)


def _render(command: argparse.ArgumentParser) -> None:
    from tidegate.cli import render

    render.register(command)


def _convert(command: argparse.ArgumentParser) -> None:
    from tidegate.cli import convert

    convert.register(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 failed, 2 wrong usage."""
    told = parser().parse_args(arguments)
    try:
        return int(told.run(told) or DONE)
    except CommandError as error:
        print(f"tidegate: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
