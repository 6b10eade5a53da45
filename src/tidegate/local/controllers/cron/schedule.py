"""Cron expressions: when next, and when last.

Five fields (minute, hour, day of month, month, day of week) with lists, ranges, steps and names, or a word such as
`@daily` or `@every 90m`. Matching is done on the wall clock of the schedule's time zone while time itself moves on in
UTC: what falls into the hour that spring skips does not run, what falls into the hour that autumn repeats runs twice,
as Kubernetes has it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

MINUTE = timedelta(minutes=1)
_YEARS_MOST = 5
_FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"
_NAMES: tuple[dict[str, int], ...] = (
    {},
    {},
    {},
    {name: at for at, name in enumerate(_MONTHS.split(), 1)},
    {name: at for at, name in enumerate(_WEEKDAYS.split())},
)
_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNITS = {"h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:\d+[hms])+", re.ASCII)


class ScheduleError(ValueError):
    """The text is not a schedule."""


@dataclass(frozen=True, slots=True)
class Every:
    """A schedule that only counts seconds."""

    seconds: int

    def next(self, after: datetime) -> datetime | None:
        return after.replace(microsecond=0) + timedelta(seconds=self.seconds)


@dataclass(frozen=True, slots=True)
class Calendar:
    """A schedule by the calendar of `zone`; None is the machine's own."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool
    """When both kinds of day are restricted, one of them is enough."""
    zone: tzinfo | None = None

    def next(self, after: datetime) -> datetime | None:
        """The first match later than `after`; None if there is none within five years (30 February)."""
        at = after.astimezone(UTC).replace(second=0, microsecond=0) + MINUTE
        last = at.year + _YEARS_MOST
        while at.year <= last:
            wall = at.astimezone(self.zone)
            if wall.month not in self.months:
                at = self._midnight(wall.year + wall.month // 12, wall.month % 12 + 1, 1)
            elif not self._day_matches(wall):
                tomorrow = wall.date() + timedelta(days=1)
                at = self._midnight(tomorrow.year, tomorrow.month, tomorrow.day)
            elif wall.hour not in self.hours:
                at += timedelta(minutes=60 - wall.minute)
            elif wall.minute not in self.minutes:
                at += MINUTE
            else:
                return at
        return None

    def _day_matches(self, wall: datetime) -> bool:
        day, weekday = wall.day in self.days, wall.isoweekday() % 7 in self.weekdays
        return day or weekday if self.either_day else day and weekday

    def _midnight(self, year: int, month: int, day: int) -> datetime:
        # A time without a zone is taken for the machine's own.
        return datetime(year, month, day, tzinfo=self.zone).astimezone(UTC)


Schedule = Calendar | Every


def parse_schedule(text: str, zone: tzinfo | None = None) -> Schedule:
    text = text.strip()
    if text.startswith("@every "):
        return Every(_seconds(text.removeprefix("@every ").strip()))
    if text.startswith("@") and text not in _WORDS:
        raise ScheduleError(f"unrecognized descriptor: {text}")
    fields = _WORDS.get(text, text).split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: {text}")
    minutes, hours, days, months, weekdays = (_field(field, at) for at, field in enumerate(fields))
    either_day = not (_is_open(fields[2]) or _is_open(fields[4]))
    return Calendar(minutes, hours, days, months, weekdays, either_day, zone)


def latest(schedule: Schedule, since: datetime, now: datetime) -> datetime | None:
    """The last match in (since, now]; looks back twice as far each time, so that long sleeps cost little."""
    window = MINUTE
    start = now
    while start > since:
        start = max(since, now - window)
        found = schedule.next(start)
        if found is not None and found <= now:
            while (later := schedule.next(found)) is not None and later <= now:
                found = later
            return found
        window *= 2
    return None


def _is_open(field: str) -> bool:
    """Whether a field of days leaves the choice to the other one."""
    return any(part in {"*", "?", "*/1", "?/1"} for part in field.split(","))


def _field(text: str, at: int) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        found |= _range(part, at)
    return frozenset(found)


def _range(part: str, at: int) -> set[int]:
    low, high = _FIELDS[at]
    span, slash, step_text = part.partition("/")
    first_text, dash, last_text = span.partition("-")
    if first_text in {"*", "?"} and not dash:
        first, last = low, high
    else:
        first = _number(first_text, at)
        # `5/15` means from 5 to the end.
        last = _number(last_text, at) if dash else high if slash else first
    step = int(step_text) if step_text.isdecimal() else 0 if slash else 1
    if step == 0 or not low <= first <= last <= high:
        raise ScheduleError(f"out of range or malformed: {part}")
    return set(range(first, last + 1, step))


def _number(text: str, at: int) -> int:
    named = _NAMES[at].get(text.lower())
    if named is None and not (text.isascii() and text.isdecimal()):
        raise ScheduleError(f"failed to parse number: {text}")
    return int(text) if named is None else named


def _seconds(text: str) -> int:
    if not _DURATION.fullmatch(text):
        raise ScheduleError(f"failed to parse duration: {text}")
    return max(1, sum(int(count) * _UNITS[unit] for count, unit in re.findall(r"(\d+)([hms])", text)))
