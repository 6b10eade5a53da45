"""Cron expressions mean what cron means, in every time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.local.controllers.cron.schedule import Calendar, ScheduleError, latest, parse_schedule

FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))


@st.composite
def fields(draw: st.DrawFn, low: int, high: int) -> str:
    def part() -> str:
        first = draw(st.integers(low, high))
        last = draw(st.integers(first, high))
        step = draw(st.integers(1, high))
        return draw(st.sampled_from(["*", f"*/{step}", str(first), f"{first}-{last}", f"{first}-{last}/{step}"]))

    return ",".join(part() for _ in range(draw(st.integers(1, 2))))


@st.composite
def expressions(draw: st.DrawFn) -> str:
    return " ".join(draw(fields(low, high)) for low, high in FIELDS)


MOMENTS = st.datetimes(datetime(2024, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC))
ZONES = st.sampled_from(["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"])


@settings(max_examples=60, deadline=None)
@given(expressions(), MOMENTS, ZONES)
def test_next_is_the_first_minute_that_matches(text: str, after: datetime, zone: str) -> None:
    schedule = parse_schedule(text, ZoneInfo(zone))
    assert isinstance(schedule, Calendar)
    found = schedule.next(after)
    minute = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    for _ in range(3000):
        if _matches(schedule, minute):
            break
        assert found is None or minute < found
        minute += timedelta(minutes=1)
    else:
        return
    assert found == minute


def _matches(schedule: Calendar, minute: datetime) -> bool:
    wall = minute.astimezone(schedule.zone)
    day, weekday = wall.day in schedule.days, (wall.weekday() + 1) % 7 in schedule.weekdays
    days = day or weekday if schedule.either_day else day and weekday
    return wall.minute in schedule.minutes and wall.hour in schedule.hours and wall.month in schedule.months and days


@settings(max_examples=60, deadline=None)
@given(expressions(), MOMENTS, st.integers(0, 3_000_000))
def test_latest_is_the_last_of_all_matches(text: str, since: datetime, seconds: int) -> None:
    schedule, now = parse_schedule(text, UTC), since + timedelta(seconds=seconds)
    found = latest(schedule, since, now)
    if found is None:
        following = schedule.next(since)
        assert following is None or following > now
        return
    assert since < found <= now
    following = schedule.next(found)
    assert following is None or following > now


@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        ("@hourly", "UTC", "2026-01-01T00:00:00", "2026-01-01T01:00:00"),
        ("@weekly", "UTC", "2026-01-01T00:00:00", "2026-01-04T00:00:00"),
        ("@every 90m", "UTC", "2026-01-01T00:00:10", "2026-01-01T01:30:10"),
        ("*/15 9-17 * * MON-fri", "UTC", "2026-01-02T17:50:00", "2026-01-05T09:00:00"),
        ("0 0 29 feb *", "UTC", "2026-01-01T00:00:00", "2028-02-29T00:00:00"),
        ("0 0 13 * 5", "UTC", "2026-01-01T00:00:00", "2026-01-02T00:00:00"),  # the 13th or a Friday
        ("0 9 * * *", "Asia/Kolkata", "2026-01-01T00:00:00", "2026-01-01T03:30:00"),
        ("30 2 * * *", "America/New_York", "2026-03-07T12:00:00", "2026-03-09T06:30:00"),  # the 8th has no 02:30
        ("5/20 * * * *", "UTC", "2026-01-01T00:10:00", "2026-01-01T00:25:00"),
    ],
)
def test_well_known_expressions(text: str, zone: str, after: str, expected: str) -> None:
    start = datetime.fromisoformat(after).replace(tzinfo=UTC)
    assert parse_schedule(text, ZoneInfo(zone)).next(start) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


def test_the_hour_that_autumn_repeats_runs_twice() -> None:
    schedule = parse_schedule("30 1 * * *", ZoneInfo("America/New_York"))
    first = schedule.next(datetime(2026, 11, 1, 4, tzinfo=UTC))
    assert first == datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    assert schedule.next(first) == datetime(2026, 11, 1, 6, 30, tzinfo=UTC)


def test_a_day_that_never_comes_has_no_next() -> None:
    assert parse_schedule("0 0 30 2 *", UTC).next(datetime(2026, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    "text", ["", "* * * *", "60 * * * *", "* * * * 7", "*/0 * * * *", "a * * * *", "5-1 * * * *", "@x"]
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ScheduleError):
        parse_schedule(text)
