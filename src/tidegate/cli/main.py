"""`tidegate`: reads the command line and calls the command; errors come out as one sentence, never a traceback.

Every command is a module with `register(parser)`. They import what is heavy only when they run, so that the command
line itself answers at once.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from tidegate import __version__
from tidegate.cli.arguments import USAGE, Parser
from tidegate.cli.errors import CommandError, UsageError

DONE, FAILED, INTERRUPTED = 0, 1, 130


@dataclass(frozen=True, slots=True)
class Command:
    """One word of the command line, and the module that knows its arguments."""

    name: str
    module: str
    help: str


GROUPS: dict[str, tuple[Command, ...]] = {
    "Run work": (
        Command("run", "tidegate.cli.jobs.run", "run a command as a queued Job; shows its place in line and its log"),
        Command("logs", "tidegate.cli.jobs.logs", "show what the pods of a workload say"),
        Command("cancel", "tidegate.cli.jobs.cancel", "take workloads out of the line, and stop their pods"),
    ),
    "See what happens": (
        Command("status", "tidegate.cli.views.status", "the queues: what they deserve and hold; who runs, who waits"),
        Command("why", "tidegate.cli.views.why", "why a workload waits, shrank or was evicted, and when it may start"),
        Command("simulate", "tidegate.cli.simulate", "ask the real scheduler what would happen, in virtual time"),
        Command("demo", "tidegate.cli.demo", "see it work in under a minute: two tenants share this machine"),
    ),
    "Set up": (
        Command("up", "tidegate.cli.machine.up", "make this machine a cluster: control plane, queues and node"),
        Command("down", "tidegate.cli.machine.down", "stop it, and every pod it runs"),
        Command("queue", "tidegate.cli.queued.queue", "create, list, stop and resume queues"),
        Command("install", "tidegate.cli.installed.install", "put Tidegate on a Kubernetes: kinds, rights, operator"),
        Command("uninstall", "tidegate.cli.installed.uninstall", "take it away again; work that waits is let go"),
        Command("operator", "tidegate.cli.installed.operator", "run the controllers and webhooks against a Kubernetes"),
    ),
    "With other schedulers": (
        Command("render", "tidegate.cli.render", "write jobs and queues for Kueue, YuniKorn, Volcano and others"),
        Command("convert", "tidegate.cli.convert", "write Kueue's queues as Tidegate's"),
    ),
}  # fmt: skip
COMMANDS = {command.name: command for group in GROUPS.values() for command in group}


_COMMON = ("-n", "--namespace", "-o", "--output", "--kubeconfig", "--context")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    main = Parser(
        prog="tidegate",
        usage="tidegate COMMAND [options]",
        description="Queues, fair shares and elastic capacity for batch work that grows and shrinks while it runs.",
        epilog=_overview(),
    )
    main.add_argument("--version", action="version", version=f"tidegate {__version__}")
    commands = main.add_subparsers(
        dest="command", metavar="COMMAND", help=argparse.SUPPRESS, parser_class=Parser, prog="tidegate"
    )
    for command in COMMANDS.values():
        described = command.help[0].upper() + command.help[1:] + "."
        import_module(command.module).register(commands.add_parser(command.name, description=described))
    return main


def _overview() -> str:
    lines = []
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {command.name:<10} {command.help}" for command in group), ""]
    return "\n".join([*lines, "`tidegate COMMAND --help` says more, with examples."])


def _check_command(arguments: Sequence[str], whole: argparse.ArgumentParser) -> None:
    """There is one, and it is known: else the nearest is named."""
    if not arguments:
        whole.error("there is no command. Begin with `tidegate demo`, or `tidegate run -- echo hello`.")
    if not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        from tidegate.cli.near import did_you_mean

        whole.error(f'there is no command "{arguments[0]}". {did_you_mean(arguments[0], COMMANDS)}')


def _command_first(words: list[str]) -> list[str]:
    """With options that every command takes behind its name, where somebody writes them before it, as with kubectl."""
    at = 0
    while at < len(words) and words[at].split("=")[0] in _COMMON:
        at += 1 if "=" in words[at] else 2
    if at >= len(words):
        return []
    verbs = 2 if words[at : at + 1] == ["queue"] else 1
    return [*words[at : at + verbs], *words[:at], *words[at + verbs :]]


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 0 done, 1 failed, 2 wrong usage."""
    words = _command_first(sys.argv[1:] if arguments is None else list(arguments))
    _write_what_can_be_written()
    _have_a_home()
    try:
        whole = parser()
        _check_command(words, whole)
        told = whole.parse_args(words)
        status = int(told.run(told) or DONE)
        # Now, not when Python ends: what cannot be written is an error like others.
        print(end="", flush=True)
        return status
    except UsageError as error:
        print(f"tidegate: {error}", file=sys.stderr)
        return USAGE
    except CommandError as error:
        print(f"tidegate: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        return _failed(error)
    except Exception as error:
        return _mistaken(error)


def _write_what_can_be_written() -> None:
    """A terminal without Unicode shows ? where it has no sign, and no command fails for it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _have_a_home() -> None:
    """In a container a user may have none, and nobody says so: then it is where runtimes put it."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/"


def _mistaken(error: Exception) -> int:
    """What nobody thought of is ours to mend, and nobody's to read as a traceback, unless asked for."""
    if os.environ.get("TIDEGATE_TRACEBACK"):
        raise error
    said = f"{type(error).__name__}: {error}".rstrip(": ")
    print(f"tidegate: This is a mistake of Tidegate's own ({said}).", end=" ", file=sys.stderr)
    print("Please report it with what it shows under TIDEGATE_TRACEBACK=1.", file=sys.stderr)
    return FAILED


def _failed(error: OSError) -> int:
    """One of our own files, or our own output; servers that do not answer are told of where they are asked."""
    if error.filename:
        print(f"tidegate: {error.filename}: {error.strerror}. Look at it, and try again.", file=sys.stderr)
    elif not isinstance(error, BrokenPipeError):
        what = error.strerror or str(error)
        print(f"tidegate: This cannot be written: {what}. Make room, or send it elsewhere.", file=sys.stderr)
    # What could not be written is not tried again when Python ends.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
