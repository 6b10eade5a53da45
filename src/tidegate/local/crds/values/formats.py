"""String formats an API server checks, by their name without dashes; any other format says nothing.

They follow Go's parsers, leniency included (a duration may be "3 days", an IPv4 address may have leading zeros),
because an object that a real API server takes must be taken here as well.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date as calendar_date
from urllib.parse import urlsplit

Predicate = Callable[[str], bool]

_UUID = r"[0-9a-f]{8}-?[0-9a-f]{4}-?%s-?%s-?[0-9a-f]{12}"
_ANY4, _VARIANT4 = "[0-9a-f]{4}", "[89ab][0-9a-f]{3}"
_SHORT_NAME = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_RGB = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_CARD = (
    r"(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})"
)


def _matching(pattern: str, *, flags: int = 0, most: int | None = None) -> Predicate:
    expression = re.compile(pattern, re.ASCII | flags)
    if most is None:
        return lambda text: expression.fullmatch(text) is not None
    return lambda text: len(text) <= most and expression.fullmatch(text) is not None


_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
_GO_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_WORDY_DURATION = re.compile(r"\d+\s*([A-Za-zµ]+)", re.ASCII)
_EXACT_UNITS = frozenset(["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"])
_UNIT_PREFIXES = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_LABEL = re.compile(r"[^\W_](?:(?:[^\W_]|-){0,61}[^\W_])?")
_EMAIL_ATOMS = re.compile(r"[^\s()<>\[\]:;@\\,.\"]+(?:\.[^\s()<>\[\]:;@\\,.\"]+)*")


def is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    if not found:
        return False
    year, month, day = map(int, found.groups())
    try:
        calendar_date(year or 4, month, day)  # Python has no year 0; it is a leap year like 4
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    day, separator, rest = text.lower().partition("t")
    if not separator or not is_date(day):
        return False
    found = _TIME.fullmatch(rest.split("t", 1)[0])
    return found is not None and found[1] <= "23" and found[2] <= "59" and found[3] <= "59"


def is_duration(text: str) -> bool:
    if _GO_DURATION.fullmatch(text):
        return True
    units = [unit.lower() for unit in _WORDY_DURATION.findall(text)]
    return any(unit in _EXACT_UNITS or unit.startswith(_UNIT_PREFIXES) for unit in units)


def is_ipv4(text: str) -> bool:
    if "." not in text:
        return False
    parts = text.split(".")
    if len(parts) == 4 and ":" not in text:
        return all(part.isascii() and part.isdigit() and int(part) <= 255 for part in parts)
    return is_ip(text)


def is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not (bits.isascii() and bits.isdigit()):
        return False
    return (is_ip(address) and ":" in address and int(bits) <= 128) or (is_ipv4(address) and int(bits) <= 32)


def is_uri(text: str) -> bool:
    """What Go's ParseRequestURI takes: an absolute URI or an absolute path."""
    if not text or any(ord(letter) < 0x20 or ord(letter) == 0x7F for letter in text):
        return False
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        return False
    if text.startswith("/"):
        return True
    scheme, colon, _ = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        return False
    try:
        split = urlsplit(text)
        _ = split.port
    except ValueError:
        return False
    return " " not in split.netloc


def is_email(text: str) -> bool:
    """An address as in a mail header: `a@b`, or `Name <a@b>`."""
    named = re.fullmatch(r"[^<>]*<([^<>]+)>\s*", text)
    address = (named[1] if named else text).strip()
    local, at, domain = address.rpartition("@")
    if not at:
        return False
    quoted = re.fullmatch(r'"(?:[^"\\\r\n]|\\.)*"', local)
    return bool((quoted or _EMAIL_ATOMS.fullmatch(local)) and _EMAIL_ATOMS.fullmatch(domain))


def is_hostname(text: str) -> bool:
    if len(text.encode()) > 255:
        return False
    labels = text.split(".")
    if any(len(label.encode()) > 63 for label in labels) or not all(map(_LABEL.fullmatch, labels)):
        return False
    return len(labels) == 1 or (len(labels[-1]) >= 2 and labels[-1].isalpha())


def is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not re.fullmatch(_CARD, digits, re.ASCII):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number if number < 10 else number % 10 + 1 for number in doubled) % 10 == 0


def is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"(?:[0-9]{9}X|[0-9]{10})", digits, re.ASCII):
        return False
    numbers = [10 if digit == "X" else int(digit) for digit in digits]
    return sum((place + 1) * number for place, number in enumerate(numbers)) % 11 == 0


def is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if not re.fullmatch(r"[0-9]{13}", digits, re.ASCII):
        return False
    weighted = sum(int(digit) * (1, 3)[place % 2] for place, digit in enumerate(digits[:12]))
    return int(digits[12]) == (10 - weighted % 10) % 10


FORMATS: dict[str, Predicate] = {
    "bsonobjectid": _matching("[0-9a-fA-F]{24}"),
    "uri": is_uri,
    "email": is_email,
    "hostname": is_hostname,
    "ipv4": is_ipv4,
    "ipv6": lambda text: ":" in text and is_ip(text),
    "cidr": is_cidr,
    "mac": _matching(
        r"(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?:(?::[0-9a-f]{2}){2})?(?:(?::[0-9a-f]{2}){12})?)"
        r"|(?:[0-9a-f]{2}(?:-[0-9a-f]{2}){5}(?:(?:-[0-9a-f]{2}){2})?(?:(?:-[0-9a-f]{2}){12})?)"
        r"|(?:[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}(?:\.[0-9a-f]{4})?(?:(?:\.[0-9a-f]{4}){6})?)",
        flags=re.IGNORECASE,
    ),
    "uuid": _matching(_UUID % (_ANY4, _ANY4), flags=re.IGNORECASE),
    "uuid3": _matching(_UUID % ("3[0-9a-f]{3}", _ANY4), flags=re.IGNORECASE),
    "uuid4": _matching(_UUID % ("4[0-9a-f]{3}", _VARIANT4), flags=re.IGNORECASE),
    "uuid5": _matching(_UUID % ("5[0-9a-f]{3}", _VARIANT4), flags=re.IGNORECASE),
    "isbn": lambda text: is_isbn10(text) or is_isbn13(text),
    "isbn10": is_isbn10,
    "isbn13": is_isbn13,
    "creditcard": is_credit_card,
    "ssn": _matching(r"\d{3}[- ]\d{2}[- ]\d{4}"),
    "hexcolor": _matching("#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matching(rf"rgb\({_RGB},{_RGB},{_RGB}\)"),
    "byte": _matching(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"),
    "password": lambda text: True,
    "date": is_date,
    "duration": is_duration,
    "datetime": is_date_time,
    "k8sshortname": _matching(_SHORT_NAME, most=63),
    "k8slongname": _matching(rf"{_SHORT_NAME}(\.{_SHORT_NAME})*", most=253),
}

_NUMERIC = {"integer": frozenset({"int32", "int64"}), "number": frozenset({"float", "double"})}


def recognised(kind: str, form: str) -> bool:
    """Whether a node of this type means something by this format."""
    if kind in ("", "string"):
        return form.replace("-", "") in FORMATS
    return form in _NUMERIC.get(kind, ())


def predicate(form: str) -> Predicate | None:
    return FORMATS.get(form.replace("-", ""))
