"""`--kinds FILE`: kinds of people's own, beside those of the table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.model.jobs import Kinds


def register(command: argparse.ArgumentParser) -> None:
    """The argument, which may be given several times."""
    help_ = "kinds of your own; may be given again"
    command.add_argument("--kinds", type=Path, action="append", default=[], metavar="FILE", help=help_)


def kinds_of(files: list[Path]) -> Kinds:
    """The table, and what these files add to it."""
    from tidegate.cli.render.documents import content
    from tidegate.model.jobs import builtin, parse_kinds
    from tidegate.model.problems import ManifestError

    kinds = builtin()
    for path in files:
        try:
            kinds = kinds.with_more(parse_kinds(content(path)))
        except ManifestError as error:
            raise CommandError(f"--kinds: {path}: {error}".replace("\n", "\n  ")) from None
    return kinds
