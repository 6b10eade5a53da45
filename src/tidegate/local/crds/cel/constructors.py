"""Constructors of typed objects (`Object.spec{a: 1}`, `JSONPatch{op: …}`), read as plain maps.

The types follow from where they stand, so nothing is lost but the chance to complain early.
"""

from __future__ import annotations

import re

_TYPED = re.compile(r"\b(?:Object(?:\.\w+)*|JSONPatch)\s*\{")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', re.DOTALL)
_KEY = re.compile(r"\s*(\w+|`[^`]+`)\s*:")


def untyped(text: str) -> str:
    """The expression with constructors of typed objects as maps: `Object.spec{a: 1}` is `{"a": 1}`."""
    out, at = [], 0
    typed: list[bool] = []
    while at < len(text):
        if found := _STRING.match(text, at):
            out.append(found[0])
            at = found.end()
            continue
        if found := _TYPED.match(text, at):
            out.append("{")
            typed.append(True)
            at = _quoted_key(text, found.end(), out)
            continue
        letter = text[at]
        out.append(letter)
        at += 1
        if letter in "{[(":
            typed.append(False)
        elif letter in "}])":
            if typed:
                typed.pop()
        elif letter == "," and typed and typed[-1]:
            at = _quoted_key(text, at, out)
    return "".join(out)


def _quoted_key(text: str, at: int, out: list[str]) -> int:
    found = _KEY.match(text, at)
    if not found:
        return at
    out.append(f'"{found[1].strip("`")}":')
    return found.end()
