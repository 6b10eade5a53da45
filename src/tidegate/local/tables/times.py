"""How long ago: durations in the two or three figures people want."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Since = Callable[[str | None], str]

_HOUR = 3600
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY


def since(now: datetime) -> Since:
    """A function that says how long before `now` a timestamp was."""
    known: dict[str | None, str] = {None: "<unknown>", "": "<unknown>"}

    def ago(timestamp: str | None) -> str:
        # Objects that were made together have the same timestamp.
        text = known.get(timestamp)
        if text is None:
            then = parsed(timestamp or "")
            text = known[timestamp] = human((now - then).total_seconds()) if then else "<invalid>"
        return text

    return ago


def parsed(timestamp: str) -> datetime | None:
    try:
        then = datetime.fromisoformat(timestamp)
    except ValueError:
        return None
    return then if then.tzinfo else then.replace(tzinfo=UTC)


def human(seconds: float) -> str:
    """A duration such as `5s`, `3m10s`, `5h`, `2d4h` or `3y10d`."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 120:
        return f"{max(whole, 0)}s"
    if whole < 10 * 60:
        return _two(whole, 60, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // 60}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", 60, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two(whole: int, large: int, large_unit: str, small: int, small_unit: str) -> str:
    rest = whole % large // small
    return f"{whole // large}{large_unit}" + (f"{rest}{small_unit}" if rest else "")
