"""Whether a text is a cron schedule, and what is wrong if it is not."""

from __future__ import annotations

import re

_MONTHS = {name: number for number, name in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), 1)}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_FIELDS: tuple[tuple[int, int, dict[str, int]], ...] = (
    (0, 59, {}),
    (0, 23, {}),
    (1, 31, {}),
    (1, 12, _MONTHS),
    (0, 6, _DAYS),
)
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_DURATION = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|[+-]?0", re.ASCII)


def problem(schedule: str) -> str:
    """What is wrong with `schedule`, or nothing."""
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        _, space, schedule = schedule.partition(" ")
        if not space:
            return "invalid schedule format: no schedule after the time zone"
        schedule = schedule.strip()
    if schedule.startswith("@"):
        return _descriptor(schedule)
    fields = schedule.split()
    if len(fields) != 5:
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for field, (least, most, names) in zip(fields, _FIELDS, strict=True):
            for part in filter(None, field.split(",")):
                _range(part, least, most, names)
    except ValueError as error:
        return str(error)
    return ""


def _descriptor(text: str) -> str:
    if text in _DESCRIPTORS:
        return ""
    if text.startswith("@every "):
        duration = text.removeprefix("@every ")
        fits = _DURATION.fullmatch(duration)
        return "" if fits else f'failed to parse duration {text}: time: invalid duration "{duration}"'
    return f"unrecognized descriptor: {text}"


def _range(text: str, least: int, most: int, names: dict[str, int]) -> None:
    span, *steps = text.split("/")
    low, *highs = span.split("-")
    if low in ("*", "?"):
        start, end = least, most
    else:
        start = _number(low, names)
        if len(highs) > 1:
            raise ValueError(f"too many hyphens: {text}")
        end = _number(highs[0], names) if highs else start
    step = 1
    if len(steps) > 1:
        raise ValueError(f"too many slashes: {text}")
    if steps:
        step = _number(steps[0], {})
        end = end if highs else most
    if start < least:
        raise ValueError(f"beginning of range ({start}) below minimum ({least}): {text}")
    if end > most:
        raise ValueError(f"end of range ({end}) above maximum ({most}): {text}")
    if start > end:
        raise ValueError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise ValueError(f"step of range should be a positive number: {text}")


def _number(text: str, names: dict[str, int]) -> int:
    if (named := names.get(text.lower())) is not None:
        return named
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text)
    if number < 0:
        raise ValueError(f"negative number ({number}) not allowed: {text}")
    return number
