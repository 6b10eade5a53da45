"""Regular expressions as RE2 (Go's and Kubernetes' dialect) means them.

Most patterns are translated once into Python's dialect, which is fast and needs nothing. Python's engine can
backtrack for ever where RE2 cannot; so a pattern with a repetition inside a repetition, or with syntax that has no
sure translation, is left to the RE2 inside the CEL library, and no pattern can hang the server.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

Matcher = Callable[[str], bool]

_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": r"\x00-\x7f", "blank": r"\t ", "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9", "lower": "a-z", "print": " -~", "space": r"\t\n\v\f\r ", "upper": "A-Z", "word": r"0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_SAME_ESCAPES = frozenset("dDwWsSbBntrfv")


class PatternError(ValueError):
    """Not a regular expression; the message is Go's, as far as it can be told."""


class _NeedsRe2Error(Exception):
    """Python cannot be trusted with this one."""


@lru_cache(maxsize=4096)
def matcher(pattern: str) -> Matcher:
    """Whether a text holds a match of `pattern` anywhere; raises PatternError."""
    try:
        search = re.compile(_translated(pattern), re.ASCII).search
    except _NeedsRe2Error:
        return _re2(pattern)
    except re.error as error:
        _re2(pattern)
        raise PatternError(f"error parsing regexp: {error}") from error
    return lambda text: search(text) is not None


def find_all(pattern: str, text: str, most: int = -1) -> list[str]:
    """The matches of `pattern` from left to right, `most` of them unless that is negative; raises PatternError."""
    try:
        expression = re.compile(_translated(pattern), re.ASCII)
    except (_NeedsRe2Error, re.error):
        raise PatternError(f"`{pattern}` is too involved to search with here; matches() can use it") from None
    found = [match[0] for match in expression.finditer(text)]
    return found if most < 0 else found[:most]


def _re2(pattern: str) -> Matcher:
    from tidegate.local.crds.cel import CelError, compile_expression

    program = compile_expression("text.matches(pattern)", variables=("text", "pattern"))

    def matches(text: str) -> bool:
        found = program.evaluate({"text": text, "pattern": pattern})
        if isinstance(found, CelError):
            raise PatternError(f"error parsing regexp: {found}")
        return bool(found)

    matches("")
    return matches


def _translated(pattern: str) -> str:
    """The same pattern for Python's `re` (with re.ASCII)."""
    out: list[str] = []
    repeating: list[bool] = []  # per open group: whether something in it repeats
    place = 0
    while place < len(pattern):
        letter = pattern[place]
        if letter == "\\":
            piece, place = _escape(pattern, place)
            out.append(piece)
            continue
        if letter == "[":
            piece, place = _class(pattern, place)
            out.append(piece)
            continue
        if letter == "(":
            if pattern.startswith("(?", place) and not pattern.startswith("(?:", place):
                raise _NeedsRe2Error
            repeating.append(False)
        elif letter == ")":
            inner = repeating.pop() if repeating else False
            if inner and _repeats(pattern, place + 1):
                raise _NeedsRe2Error
            if inner and repeating:
                repeating[-1] = True
        elif letter in "*+{":
            if letter == "{" and _counts(pattern, place):
                raise _NeedsRe2Error
            if repeating:
                repeating[-1] = True
        out.append(r"\Z" if letter == "$" else letter)
        place += 1
    return "".join(out)


def _repeats(pattern: str, place: int) -> bool:
    """Whether what stands here repeats what came before without a small bound."""
    if pattern.startswith(("*", "+"), place):
        return True
    bound = re.match(r"\{(\d+)(,?)(\d*)\}", pattern[place:])
    return bound is not None and ((bool(bound[2]) and not bound[3]) or int(bound[3] or bound[1]) > 8)


def _counts(pattern: str, place: int) -> bool:
    """Whether a repetition counts further than RE2 lets it, which RE2 itself had better say."""
    found = re.match(r"\{(\d+)(?:,(\d*))?\}", pattern[place:])
    return found is not None and any(int(count) > 1000 for count in found.groups() if count)


def _escape(pattern: str, place: int) -> tuple[str, int]:
    following = pattern[place + 1 : place + 2]
    if not following:
        raise PatternError(r"error parsing regexp: trailing backslash at end of expression: ``")
    if following in _SAME_ESCAPES or not following.isalnum():
        return pattern[place : place + 2], place + 2
    if following == "A":
        return r"\A", place + 2
    if following == "z":
        return r"\Z", place + 2
    raise _NeedsRe2Error


def _class(pattern: str, place: int) -> tuple[str, int]:
    """One `[...]`, with POSIX names spelled out and what Python would warn about escaped."""
    start = place
    out = ["["]
    place += 1
    if pattern.startswith("^", place):
        out.append("^")
        place += 1
    first = place
    while place < len(pattern):
        if pattern[place] == "]" and place > first:
            return "".join([*out, "]"]), place + 1
        named = re.match(r"\[:(\w+):\]", pattern[place:])
        if named and named[1] in _POSIX:
            out.append(_POSIX[named[1]])
            place += len(named[0])
        elif pattern[place] == "\\":
            piece, place = _escape(pattern, place)
            out.append(piece)
        else:
            letter = pattern[place]
            out.append("\\" + letter if letter in "[]&~|" else letter)
            place += 1
    raise PatternError(f"error parsing regexp: missing closing ]: `{pattern[start:]}`")
