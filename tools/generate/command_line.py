"""The reference of the command line, from its parser: docs/reference/command-line.md.

Not argparse's own help, whose layout differs between versions of Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from tidegate.cli.main import GROUPS, parser
from tidegate.cli.queued.cluster import options

_MADE = "<!-- Made by tools/generate from the parser in src/tidegate/cli. Change that, not this. -->"
_TITLE = """# Command line

Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted; `tidegate run` ends with that of its command. Errors are
one sentence on what is wrong and one on what to do, on stderr.

Which server is meant: `--kubeconfig` or `--context`; else `$KUBECONFIG`; else this machine's own, if it runs; else
`~/.kube/config`; else the service account of the pod it runs in. `tidegate run` makes this machine a cluster where
there is none of these; `install`, `uninstall` and `operator` never mean this machine's own unless a kubeconfig says so.

Every command takes these, beside its own. Where no server is asked (`up`, `down`, `demo`, `convert`), only `-o` changes
something:
"""


def files() -> dict[Path, str]:
    """Path below the root → content."""
    return {Path("docs/reference/command-line.md"): page()}


def page() -> str:
    """All commands, in the groups of `tidegate --help`."""
    known = _below(parser())
    parts = [_MADE, "", _TITLE, *_table(_shared()), ""]
    for title, group in GROUPS.items():
        parts += [f"## {title}", ""]
        for command in group:
            parts += _command(known[command.name])
    return "\n".join(parts).rstrip() + "\n"


def _below(command: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of its verbs."""
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _command(command: argparse.ArgumentParser) -> Iterator[str]:
    yield f"### `{command.prog}`"
    yield ""
    if command.description:
        yield f"{command.description}"
        yield ""
    known = {*_shared(), *_apart()}
    rows = [row for action in command._actions if _is_shown(action) and (row := _row(action)) not in known]
    if rows:
        yield from _table(rows)
        yield ""
    if command.epilog:
        yield "```text"
        yield command.epilog.strip().removeprefix("examples:\n").rstrip()
        yield "```"
        yield ""
    for verb in _below(command).values():
        yield from _command(verb)


def _shared() -> list[str]:
    """What every command takes."""
    return _rows_of(options)


def _apart() -> list[str]:
    """The same, of those that ask no server."""
    return _rows_of(lambda command: options(command, asks=False))


def _rows_of(add: Callable[[argparse.ArgumentParser], None]) -> list[str]:
    command = argparse.ArgumentParser()
    add(command)
    return [_row(action) for action in command._actions if _is_shown(action)]


def _table(rows: list[str]) -> list[str]:
    return ["| argument | meaning |", "|---|---|", *rows]


def _is_shown(action: argparse.Action) -> bool:
    return not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)


def _row(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(map(str, action.choices)) if action.choices else action.dest.upper())
    takes = action.nargs != 0
    names = [f"{name} {value}" if takes and name.startswith("--") else name for name in action.option_strings]
    shown = ", ".join(f"`{name}`" for name in names or [str(value)])
    text = (action.help or "") % {"default": action.default}
    return f"| {shown.replace('|', chr(92) + '|')} | {text.replace('|', chr(92) + '|')} |"
