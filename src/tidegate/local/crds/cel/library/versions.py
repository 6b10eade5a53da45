"""Semantic versions: `semver("1.2.3").isLessThan(semver("2.0.0"))`."""

from __future__ import annotations

import re
from typing import Any

from tidegate.local.crds.cel.library.declare import Function

Tagged = dict[str, Any]

_NUMBER = r"0|[1-9]\d*"
_FORM = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-((?:{_NUMBER}|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
    rf"(?:\.(?:{_NUMBER}|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


def _read(text: str, lenient: bool = False) -> re.Match[str]:
    found = _FORM.fullmatch(_tidied(text) if lenient else text)
    if not found:
        raise ValueError(
            f"semver parse error during conversion from string: No Major.Minor.Patch elements found: {text}"
        )
    return found


def _tidied(text: str) -> str:
    """Without a leading v and leading zeros, and with missing numbers as 0."""
    core, mark, rest = re.match(r"v?([^-+]*)([-+]?)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    numbers = [number.lstrip("0") or "0" for number in core.split(".")]
    return ".".join([*numbers, "0", "0"][:3] if len(numbers) < 3 else numbers) + mark + rest


def _is_semver(text: str, lenient: bool = False) -> bool:
    try:
        _read(text, lenient)
    except ValueError:
        return False
    return True


def _order(version: Tagged) -> tuple[Any, ...]:
    found = _read(version["semver"])
    numbers = tuple(int(found[place]) for place in (1, 2, 3))
    if found[4] is None:
        return (*numbers, 1, ())
    parts = found[4].split(".")
    return (*numbers, 0, tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts))


def _compared(one: Tagged, other: Tagged) -> int:
    return (_order(one) > _order(other)) - (_order(one) < _order(other))


FUNCTIONS = [
    Function("semver(string) semver", lambda text: {"semver": _read(text)[0]}),
    Function("semver(string, bool) semver", lambda text, lenient: {"semver": _read(text, lenient)[0]}),
    Function("isSemver(string) bool", _is_semver),
    Function("isSemver(string, bool) bool", _is_semver),
    Function("semver.isGreaterThan(semver) bool", lambda one, other: _compared(one, other) > 0),
    Function("semver.isLessThan(semver) bool", lambda one, other: _compared(one, other) < 0),
    Function("semver.compareTo(semver) int", _compared),
    Function("semver.major() int", lambda version: _order(version)[0]),
    Function("semver.minor() int", lambda version: _order(version)[1]),
    Function("semver.patch() int", lambda version: _order(version)[2]),
]
