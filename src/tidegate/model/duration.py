"""Durations as people write them ("90s", "15m", "2h", "1h30m"), counted in whole seconds."""

from __future__ import annotations

import re
from typing import Any, ClassVar, NoReturn

_FORM = re.compile(r"(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?", re.ASCII)
_set = object.__setattr__


class DurationError(ValueError):
    """The text is not a duration."""

    def __init__(self, text: object) -> None:
        super().__init__(f'"{text}" is not a duration; write whole hours, minutes or seconds, e.g. 2h, 15m or 90s')


class Duration:
    """A length of time, exact and never negative. `str()` gives one number in the largest unit that is exact."""

    __slots__ = ("seconds",)
    seconds: int

    SCHEMA: ClassVar[dict[str, Any]] = {
        "type": "string",
        "pattern": "^([0-9]{1,9}h)?([0-9]{1,9}m)?([0-9]{1,9}s)?$",
        "minLength": 2,
        "maxLength": 30,
    }

    def __init__(self, seconds: int) -> None:
        _set(self, "seconds", seconds)

    @classmethod
    def parse(cls, text: object) -> Duration:
        """From text; nothing at all may be written without a unit, as in Go."""
        if text in ("0", 0) and text is not False:
            return cls(0)
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if not found or not found[0]:
            raise DurationError(text)
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return cls((hours * 60 + minutes) * 60 + seconds)

    def wire(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if not self.seconds or self.seconds % 60:
            return f"{self.seconds}s"
        minutes = self.seconds // 60
        return f"{minutes}m" if minutes % 60 else f"{minutes // 60}h"

    def __eq__(self, other: object) -> bool:
        return self.seconds == other.seconds if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: Duration) -> bool:
        return self.seconds < other.seconds

    def __le__(self, other: Duration) -> bool:
        return self.seconds <= other.seconds

    def __hash__(self) -> int:
        return hash(self.seconds)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a duration does not change; make a new one instead of setting {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Duration, (self.seconds,)

    def __repr__(self) -> str:
        return f"Duration({str(self)!r})"
