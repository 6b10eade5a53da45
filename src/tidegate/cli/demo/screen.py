"""Showing the story: a picture that moves on a terminal; else a line for everything that happens, the picture last."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from tidegate.cli.demo.picture import COLUMN_S, MARKS, Sample, columns, rows
from tidegate.cli.demo.work import BOTH, SLOTS

if TYPE_CHECKING:
    from types import TracebackType

    from tidegate.cli.demo.happenings import Happenings

_COLOURS = {"ana": "cyan", "ben": "magenta"}
_MOST_COLUMNS = 66
_WIDTH, _FRAME = 76, 8
"""Of the panel, and what of it is not the picture."""
_SENTENCES = 9
Running = dict[str, int]


class Screen:
    """Drawn as often as one likes."""

    def __init__(self, happenings: Happenings, samples: Sequence[Sample]) -> None:
        self._happenings, self._samples = happenings, samples
        self._live: Any = None
        self._printed = 0

    def __enter__(self) -> Self:
        if sys.stdout.isatty():
            from rich.live import Live

            self._live = Live(self._drawn(), refresh_per_second=8)
            self._live.start()
        return self

    def draw(self) -> None:
        if self._live is not None:
            self._live.update(self._drawn())
            return
        for at_s, sentence in self._happenings.sentences[self._printed :]:
            print(f"{at_s:5.1f} s  {sentence}", flush=True)
        self._printed = len(self._happenings.sentences)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.draw()
        if self._live is not None:
            self._live.stop()
        elif kind is None:
            print("\n" + "\n".join(self._plain()))

    def _plain(self) -> list[str]:
        """The picture in letters: a for ana, b for ben."""
        drawn = columns(self._samples, _MOST_COLUMNS)
        lines = [f"  {SLOTS - index} |{line.replace(' ', '.')}|" for index, line in enumerate(rows(drawn))]
        return [*lines, f"    {_scale(len(drawn))}", "    pods that ran: " + _legend()]

    def _drawn(self) -> Any:
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        width = self._live.console.width if self._live is not None else _WIDTH
        drawn = columns(self._samples, max(1, min(_MOST_COLUMNS, width - _FRAME)))
        picture = Text(no_wrap=True)
        tenants = {mark: tenant for tenant, mark in MARKS.items()}
        for index, line in enumerate(rows([column.ljust(SLOTS) for column in drawn] or [" " * SLOTS])):
            picture.append(f"{SLOTS - index:>2} ", style="dim")
            for mark in line:
                picture.append("·" if mark == " " else "█", style=_COLOURS.get(tenants.get(mark, ""), "dim"))
            picture.append("\n")
        picture.append(f"   {_scale(len(drawn))}\n", style="dim")
        lines = [picture, *(self._tenant(work.tenant) for work in BOTH), Text("")]
        for at_s, sentence in self._happenings.sentences[-_SENTENCES:]:
            lines.append(Text.assemble((f"{at_s:5.1f} s  ", "dim"), sentence, no_wrap=True, overflow="ellipsis"))
        title = "Tidegate: two tenants, one machine"
        return Panel(Group(*lines), title=title, border_style="dim", width=min(_WIDTH, width))

    def _tenant(self, tenant: str) -> Any:
        from rich.text import Text

        one = self._happenings.told[tenant]
        running = self._samples[-1].running.get(tenant, 0) if self._samples else 0
        state = "done" if one.done_s else (f"{running} of {one.work.pods} pods run" if one.admitted_s else "-")
        return Text.assemble(("█ ", _COLOURS[tenant]), (f"{one.work.title:<12}", "bold"), state)


def _scale(length: int) -> str:
    return f"{'─' * max(0, length - 8)} {length * COLUMN_S:.0f} s" if length > 8 else ""


def _legend() -> str:
    return ", ".join(f"{mark} = {tenant}" for tenant, mark in MARKS.items())
