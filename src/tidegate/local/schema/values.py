"""Values with a form of their own: quantities, times, bytes. Each function gives the form Go would show.

A value that cannot be read raises ValueError with Go's words.
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from tidegate.model.quantity import Quantity, QuantityError

_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIX = "unable to parse quantity's suffix"
_LOOKS_LIKE_QUANTITY = re.compile(r"[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*")
# Kubernetes keeps the user's own text when these digits need no shift to be canonical, sign and zeros included.
_KEPT = re.compile(r"[+-]?0*([1-9]\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+)|([numkMGTPE]|[KMGTPE]i|))", re.ASCII)
# To Kubernetes a sign, a point or a suffix alone is a zero.
_DIGITLESS = re.compile(r"([+-]?)\.?((?:[eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@lru_cache(maxsize=4096)
def canonical_quantity(text: str) -> str:
    """A quantity as Kubernetes shows it: "0.5" is "500m", "1024Mi" is "1Gi"."""
    text = text.strip(" ")
    if _is_kept(text):
        return text
    if text and _DIGITLESS.fullmatch(text):
        return "0"
    try:
        return str(Quantity.parse(text))
    except QuantityError:
        raise ValueError(_SUFFIX if _LOOKS_LIKE_QUANTITY.fullmatch(text) else _QUANTITY) from None


def _is_kept(text: str) -> bool:
    found = _KEPT.fullmatch(text)
    if not found:
        return False
    whole, fraction, exponent, suffix = found[1], found[2] or "", found[3], found[4] or ""
    if suffix.endswith("i"):
        shift = 10 * (1 + "KMGTPE".index(suffix[0]))
        return not fraction and len(whole) + shift * 3 // 10 <= 14 and int(whole) % 8 != 0
    digits = whole + fraction
    scale = (int(exponent) if exponent else _DECIMAL[suffix]) - len(fraction)
    return len(digits) <= 18 and scale >= -9 and scale % 3 == 0 and not digits.endswith("000")


_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:(Z)|([+-])([01]\d|2[0-4]):([0-5]\d|60))",
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


_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", re.ASCII)


def canonical_base64(text: str) -> str:
    """Bytes in standard base64; line breaks are let pass, anything else that is not base64 is refused."""
    joined = text.replace("\n", "").replace("\r", "")
    if _BASE64.fullmatch(joined):
        return base64.b64encode(base64.b64decode(joined)).decode()
    good = _BASE64.match(joined)
    raise ValueError(f"illegal base64 data at input byte {good.end() if good else 0}")
