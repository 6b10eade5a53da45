"""A picture of a run: per queue what it held against what it deserved, over time. Hand-written SVG, for light and dark.

One panel per queue. Heights are dominant shares: the largest part of any resource's capacity. The filled steps are what
was allocated, the line is what was deserved, and the bar below says when something of the queue waited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from xml.sax.saxutils import escape, quoteattr

from tidegate.model.duration import Duration
from tidegate.sim.results.history import History
from tidegate.sim.results.measures import dominant

_WIDTH, _PANEL, _LEFT, _RIGHT, _TOP, _GAP = 760, 84, 56, 16, 72, 48
# Colours in full, light first: many programs that turn SVG into a picture know neither variables nor dark.
_STYLE = """
text{font-family:system-ui,sans-serif;font-size:12px;fill:#1f2328}
.title{font-size:15px;font-weight:600}
.faint{fill:#59636e;font-size:11px}
.grid{stroke:#d1d9e0;stroke-width:1;fill:none}
.held{fill:#0969da;fill-opacity:.28;stroke:#0969da;stroke-width:1.5}
.due{fill:none;stroke:#bc4c00;stroke-width:2;stroke-dasharray:6 3}
.wait{fill:#8c959f}
.back{fill:#ffffff}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}
.faint{fill:#9198a1}
.grid{stroke:#3d444d}
.held{fill:#4493f8;stroke:#4493f8}
.due{stroke:#f0883e}
.wait{fill:#656c76}
.back{fill:#0d1117}
}
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A run to be drawn."""

    title: str
    history: History
    queues: Sequence[str]


def svg(pictures: Sequence[Picture]) -> str:
    """One drawing, the runs below each other."""
    parts: list[str] = []
    top = 0
    for picture in pictures:
        drawing = _Drawing(picture, top)
        parts += drawing.lines()
        top += drawing.height
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" height="{top}" '
        f'role="img" aria-label={quoteattr("; ".join(one.title for one in pictures))}>'
    )
    return "\n".join(
        [
            head,
            f"<style>{_STYLE}</style>",
            f'<rect class="back" width="{_WIDTH}" height="{top}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


class _Drawing:
    """One run, from a certain height on."""

    def __init__(self, picture: Picture, top: int) -> None:
        self.picture = picture
        self.top = top
        self.end = max(1, picture.history.end)
        self.series = {queue: list(self._of(queue)) for queue in picture.queues}
        highest = max(
            (max(one.held, one.due) for series in self.series.values() for one in series), default=Fraction(0)
        )
        self.most = next((step for step in (Fraction(1, 4), Fraction(1, 2), Fraction(1)) if highest <= step), highest)

    @property
    def height(self) -> int:
        return _TOP + len(self.series) * (_PANEL + _GAP) + 8

    def _of(self, queue: str) -> Iterator[_Point]:
        for sample, seconds in self.picture.history.spans():
            standing = sample.standings.get(queue)
            if standing is not None:
                held = dominant(standing.allocated.total(), sample.capacity)
                due = dominant(standing.deserved.total(), sample.capacity)
                yield _Point(sample.at, sample.at + seconds, held, due, standing.wants_more)

    def lines(self) -> Iterator[str]:
        yield f'<text class="title" x="{_LEFT}" y="{self.top + 24}">{escape(self.picture.title)}</text>'
        yield from self._legend(self.top + 44)
        for index, (queue, series) in enumerate(self.series.items()):
            yield from self._panel(queue, series, self.top + _TOP + index * (_PANEL + _GAP))

    def _legend(self, y: int) -> Iterator[str]:
        yield f'<rect class="held" x="{_LEFT}" y="{y - 9}" width="18" height="9"/>'
        yield f'<text class="faint" x="{_LEFT + 24}" y="{y}">allocated</text>'
        yield f'<path class="due" d="M{_LEFT + 92} {y - 4}h22"/>'
        yield f'<text class="faint" x="{_LEFT + 120}" y="{y}">deserved</text>'
        yield f'<rect class="wait" x="{_LEFT + 188}" y="{y - 7}" width="18" height="4"/>'
        yield f'<text class="faint" x="{_LEFT + 212}" y="{y}">something waits</text>'

    def _panel(self, queue: str, series: Sequence[_Point], y: int) -> Iterator[str]:
        base = y + _PANEL
        yield f'<text x="{_LEFT}" y="{y - 4}">{escape(queue)}</text>'
        for part in (0, 1, 2):
            level, height = self.most * part / 2, base - _PANEL * part // 2
            yield f'<path class="grid" d="M{_LEFT} {height}H{_WIDTH - _RIGHT}"/>'
            yield f'<text class="faint" x="{_LEFT - 6}" y="{height + 4}" text-anchor="end">{_percent(level)}</text>'
        for at in _ticks(self.end):
            yield f'<path class="grid" d="M{self._x(at)} {base}v4"/>'
            yield f'<text class="faint" x="{self._x(at)}" y="{base + 22}" text-anchor="middle">{Duration(at)}</text>'
        if series:
            area = self._steps(series, lambda point: point.held, base)
            yield f'<path class="held" d="M{self._x(series[0].start)} {base}{area}V{base}Z"/>'
            yield f'<path class="due" d="{self._steps(series, lambda point: point.due, base).replace("L", "M", 1)}"/>'
        for point in series:
            if point.waits and point.end > point.start:
                left, width = self._x(point.start), self._x(point.end) - self._x(point.start)
                yield f'<rect class="wait" x="{left}" y="{base + 5}" width="{max(1, width)}" height="4"/>'

    def _steps(self, series: Sequence[_Point], level: Callable[[_Point], Fraction], base: int) -> str:
        path = []
        for point in series:
            y = base - int(_PANEL * level(point) / self.most)
            path.append(f"L{self._x(point.start)} {y}H{self._x(point.end)}")
        return "".join(path)

    def _x(self, at: int) -> int:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * at // self.end


@dataclass(frozen=True, slots=True)
class _Point:
    start: int
    end: int
    held: Fraction
    due: Fraction
    waits: bool


def _percent(part: Fraction) -> str:
    return f"{round(part * 100)} %"


def _ticks(end: int) -> Iterator[int]:
    """Four to nine round moments from 0 to the end."""
    steps = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 604800)
    step = next((one for one in steps if end // one <= 8), -(-end // 8))
    yield from range(0, end + 1, step)
