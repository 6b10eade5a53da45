"""Functions on texts: CEL's strings extension and Kubernetes' regular expressions."""

from __future__ import annotations

import base64
import re
from datetime import datetime, timedelta
from typing import Any

from tidegate.local.crds.cel.library.budget import spend
from tidegate.local.crds.cel.library.declare import Function

_ASCII_UP = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
_ASCII_DOWN = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_CLAUSE = re.compile(r"%(?:\.(\d+))?(.?)", re.DOTALL)


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise ValueError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if not 0 <= start <= len(text):
        raise ValueError(f"index out of range: {start}")
    spend(0, characters=len(text))
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    last = len(text) if start is None else start
    if not 0 <= last <= len(text):
        raise ValueError(f"index out of range: {last}")
    spend(0, characters=len(text))
    return last if not part else text.rfind(part, 0, last + len(part))


def _replaced(text: str, old: str, new: str, times: int = -1) -> str:
    count = len(text) + 1 if not old else text.count(old)
    spend(0, characters=len(text) + count * len(new))
    return text.replace(old, new, times)


def _split(text: str, separator: str, most: int = -1) -> list[str]:
    spend(0, characters=len(text))
    if most == 0:
        return []
    if most == 1:
        return [text]
    if not separator:
        letters = list(text)
        return letters if most < 0 or len(letters) <= most else [*letters[: most - 1], "".join(letters[most - 1 :])]
    return text.split(separator, most - 1 if most > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if not 0 <= start <= len(text) or not 0 <= last <= len(text):
        raise ValueError(f"index out of range: {start if not 0 <= start <= len(text) else last}")
    if start > last:
        raise ValueError(f"invalid substring range. start: {start}, end: {last}")
    return text[start:last]


def _joined(items: list[Any], separator: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        raise ValueError("no such overload")
    spend(len(items), characters=sum(map(len, items)) + len(items) * len(separator))
    return separator.join(items)


def _quoted(text: str) -> str:
    escapes = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\n": r"\n", "\r": r"\r", "\t": r"\t", "\v": r"\v"}
    return '"' + "".join(escapes.get(letter, "\\" + letter if letter in '\\"' else letter) for letter in text) + '"'


def _formatted(pattern: str, values: list[Any]) -> str:
    left = list(values)

    def clause(found: re.Match[str]) -> str:
        precision, verb = found[1], found[2]
        if verb == "%":
            return "%"
        if not left:
            raise ValueError("index 0 out of range")
        return _clause(left.pop(0), verb, int(precision) if precision else 6)

    made = _CLAUSE.sub(clause, pattern)
    spend(len(values), characters=len(made))
    return made


def _clause(value: Any, verb: str, precision: int) -> str:
    if verb == "s":
        return _shown(value)
    if verb in "doxXb":
        if verb in "xX" and isinstance(value, str | bytes | bytearray):
            made = (value.encode() if isinstance(value, str) else bytes(value)).hex()
            return made.upper() if verb == "X" else made
        if isinstance(value, bool):
            if verb == "b":
                return str(int(value))
        elif isinstance(value, int):
            return format(value, verb)
    if verb in "fe" and isinstance(value, int | float) and not isinstance(value, bool):
        return format(float(value), f".{min(precision, 100)}{verb}")
    raise ValueError(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case timedelta():
            return f"{value.total_seconds():.9f}".rstrip("0").rstrip(".") + "s"
        case datetime():
            return value.strftime("%Y-%m-%dT%H:%M:%SZ")
        case list():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case dict():
            pairs = sorted((_shown(key), _shown(child)) for key, child in value.items())
            return "{" + ", ".join(f"{key}: {child}" for key, child in pairs) + "}"
    return bytes(value).decode() if isinstance(value, bytes | bytearray) else str(value)


def _found(text: str, pattern: str) -> str:
    matches = _all_found(text, pattern, 1)
    return matches[0] if matches else ""


def _all_found(text: str, pattern: str, most: int = -1) -> list[str]:
    from tidegate.local.crds.values.patterns import PatternError, find_all

    spend(0, characters=len(text))
    try:
        return find_all(pattern, text, most)
    except PatternError as error:
        raise ValueError(f"Illegal regex: {error}") from error


def _as_timestamp(text: str) -> datetime:
    """A text of format date-time or date, as a time."""
    whole = text if len(text) > 10 else f"{text}T00:00:00Z"
    return datetime.fromisoformat(whole.upper().replace("Z", "+00:00"))


def _as_duration(text: str) -> timedelta:
    """A text of format duration: Go's notation, or words such as "3 days"."""
    sign, total = (-1 if text.startswith("-") else 1), 0.0
    for amount, unit in re.findall(r"(\d+\.?\d*|\.\d+)\s*([A-Za-zµ]+)", text):
        total += float(amount) * _seconds(unit.lower())
    return timedelta(seconds=sign * total)


def _seconds(unit: str) -> float:
    for names, seconds in _UNITS:
        if unit in names or unit.startswith(names[-1]):
            return seconds
    return 0.0


_UNITS: tuple[tuple[tuple[str, ...], float], ...] = (
    (("ns", "nano"), 1e-9), (("us", "µs", "micro"), 1e-6), (("ms", "milli"), 1e-3), (("s", "sec"), 1),
    (("m", "min"), 60), (("h", "hr", "hour"), 3600), (("d", "day"), 86400), (("w", "wk", "week"), 604800),
)  # fmt: skip


FUNCTIONS = [
    Function("__timestamp(string) timestamp", _as_timestamp),
    Function("__duration(string) duration", _as_duration),
    Function("__bytes(string) bytes", base64.b64decode),
    Function("string.charAt(int) string", _char_at),
    Function("string.indexOf(string) int", _index_of),
    Function("string.indexOf(string, int) int", _index_of),
    Function("string.lastIndexOf(string) int", _last_index_of),
    Function("string.lastIndexOf(string, int) int", _last_index_of),
    Function("string.lowerAscii() string", lambda text: text.translate(_ASCII_DOWN)),
    Function("string.upperAscii() string", lambda text: text.translate(_ASCII_UP)),
    Function("string.replace(string, string) string", _replaced),
    Function("string.replace(string, string, int) string", _replaced),
    Function("string.split(string) list(string)", _split),
    Function("string.split(string, int) list(string)", _split),
    Function("string.substring(int) string", _substring),
    Function("string.substring(int, int) string", _substring),
    Function("string.trim() string", lambda text: text.strip(_SPACE)),
    Function("string.reverse() string", lambda text: text[::-1]),
    Function("list.join() string", _joined),
    Function("list.join(string) string", _joined),
    Function("strings.quote(string) string", _quoted),
    Function("string.format(list) string", _formatted),
    Function("::jsonpatch.escapeKey(string) string", lambda key: key.replace("~", "~0").replace("/", "~1")),
    Function("string.find(string) string", _found),
    Function("string.findAll(string) list(string)", _all_found),
    Function("string.findAll(string, int) list(string)", _all_found),
]
