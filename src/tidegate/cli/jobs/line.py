"""One's place in line, told while one waits: a line that moves on a terminal, else a line for every change."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType


class Line:
    """On stderr, since stdout is the command's own."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._said = ""
        self._shown: Any = None
        self._is_hushed = False

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.status import Status

            self._shown = Status(self._who, console=Console(stderr=True, highlight=False), spinner="dots")
            self._shown.start()
        return self

    def hush(self) -> None:
        """Its pods speak for themselves now, until it has to wait again."""
        self._is_hushed = True
        if self._shown is not None:
            self._shown.stop()

    def say(self, words: str, *, runs: bool = False) -> None:
        """How it stands now. One that runs and says nothing is seen to run, on a terminal."""
        if not words and runs and self._shown is not None and not self._is_hushed:
            words = "runs"
        if not words or words == self._said:
            return
        self._said = words
        if self._shown is None:
            print(f"{self._who} {words.rstrip('.')}.", file=sys.stderr, flush=True)
        else:
            from rich.markup import escape

            self._shown.start()
            self._shown.update(escape(f"{self._who} {words}"))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown is not None:
            self._shown.stop()
