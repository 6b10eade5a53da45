"""Values with a form of their own: quantities, times, durations, bytes. Each function gives the form Go would show.

A value that cannot be read raises ValueError with Go's words.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from tidegate.model.quantity import Quantity, QuantityError

_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
_LOOKS_LIKE_QUANTITY = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*")
# Kubernetes keeps the user's own text when these digits need no shift to be canonical, sign and zeros included.
_KEPT = re.compile(r"[+-]?0*([1-9]\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([numkMGTPE]?))", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@lru_cache(maxsize=4096)
def canonical_quantity(text: str) -> str:
    """A quantity as Kubernetes shows it: "0.5" is "500m", "1024Mi" is "1Gi"."""
    text = text.strip()
    if _is_kept(text):
        return text
    try:
        return str(Quantity.parse(text))
    except QuantityError:
        raise ValueError(_SUFFIX if _LOOKS_LIKE_QUANTITY.fullmatch(text) else _QUANTITY) from None


def _is_kept(text: str) -> bool:
    found = _KEPT.fullmatch(text)
    if not found:
        return False
    whole, fraction, exponent, suffix = found[1], found[2] or "", found[3], found[4] or ""
    digits = whole + fraction
    scale = (int(exponent) if exponent else _DECIMAL[suffix]) - len(fraction)
    return len(digits) <= 18 and scale >= -9 and scale % 3 == 0 and not digits.endswith("000")


_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_CANONICAL = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", re.ASCII)
_ZERO_TIME = datetime(1, 1, 1, tzinfo=UTC)


def canonical_time(text: str) -> str | None:
    """A time in UTC, in whole seconds. None for the first second of year 1, which is Go's way to say "no time"."""
    if _CANONICAL.fullmatch(text) and not text.startswith("000"):
        return text
    moment, _ = _moment(text, "2006-01-02T15:04:05Z07:00")
    return None if moment == _ZERO_TIME else shown_time(moment)


def canonical_micro_time(text: str) -> str | None:
    """A time in UTC with exactly six decimals."""
    moment, decimals = _moment(text, "2006-01-02T15:04:05.000000Z07:00")
    if len(decimals) != 6:
        raise ValueError(_unparsed(text, "2006-01-02T15:04:05.000000Z07:00", text[19:], ".000000"))
    return None if moment == _ZERO_TIME else shown_micro_time(moment)


def shown_time(moment: datetime) -> str:
    return f"{moment.year:04d}{moment.strftime('-%m-%dT%H:%M:%S')}Z"


def shown_micro_time(moment: datetime) -> str:
    return f"{moment.year:04d}{moment.strftime('-%m-%dT%H:%M:%S.%f')}Z"


def _unparsed(text: str, layout: str, rest: str, wanted: str) -> str:
    return f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{wanted}"'


def _moment(text: str, layout: str) -> tuple[datetime, str]:
    found = _TIME.fullmatch(text)
    if not found:
        raise ValueError(_unparsed(text, layout, text, "2006"))
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    decimals = found[7] or ""
    try:
        moment = datetime(year, month, day, hour, minute, second, int(f"{decimals:0<6.6}"), UTC)
        if found[9]:
            offset = timedelta(hours=int(found[10]), minutes=int(found[11]))
            moment += -offset if found[9] == "+" else offset
    except (ValueError, OverflowError):
        raise ValueError(f'parsing time "{text}": day out of range') from None
    return moment, decimals


_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_DURATION = re.compile(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)")


def canonical_duration(text: str) -> str:
    """A duration as Go prints it: "90m" is "1h30m0s"."""
    rest = text.removeprefix("-") if text.startswith("-") else text.removeprefix("+")
    total = 0
    if rest != "0":
        end = 0
        for part in _DURATION.finditer(rest):
            if part.start() != end or not (part[1] or part[2]):
                break
            end = part.end()
            total += int(part[1] or 0) * _NANOSECONDS[part[3]]
            total += int(part[2] or 0) * _NANOSECONDS[part[3]] // 10 ** len(part[2] or "")
        if end != len(rest) or not rest:
            raise ValueError(f'time: invalid duration "{text}"')
    return shown_duration(-total if text.startswith("-") else total)


def shown_duration(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if rest < size * 1000:
            return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, seconds = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    leading = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{leading}{_decimal(seconds, 10**9)}s"


def _decimal(amount: int, size: int) -> str:
    whole, part = divmod(amount, size)
    return f"{whole}.{part:0{len(str(size)) - 1}d}".rstrip("0") if part else str(whole)


def canonical_base64(text: str) -> str:
    """Bytes in standard base64; line breaks are let pass, anything else that is not base64 is refused."""
    try:
        return base64.b64encode(base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)).decode()
    except (binascii.Error, ValueError):
        for index, letter in enumerate(text):
            if not (letter.isascii() and (letter.isalnum() or letter in "+/=")):
                raise ValueError(f"illegal base64 data at input byte {index}") from None
        raise ValueError(f"illegal base64 data at input byte {max(0, len(text) - len(text) % 4)}") from None
