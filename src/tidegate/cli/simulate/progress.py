"""How far a long run is, on a terminal. Short ones show nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

_QUIET_S = 1.0


class Bar:
    """A bar on stderr, once a run takes longer than a moment; its length is virtual time up to the last arrival."""

    def __init__(self, name: str, last_at: int) -> None:
        self.name = name
        self.last_at = max(1, last_at)
        self._began = time.monotonic()
        self._shown: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def reached(self, now: int) -> None:
        if not sys.stderr.isatty() or time.monotonic() - self._began < _QUIET_S:
            return
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.start()
            self._task = self._shown.add_task(self.name, total=self.last_at)
        self._shown.update(self._task, completed=min(now, self.last_at))

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._shown is not None:
            self._shown.stop()
