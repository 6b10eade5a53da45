"""YuniKorn's gang parameters: read strictly from people, and as YuniKorn itself reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass

TIMEOUT, STYLE = "placeholderTimeoutInSeconds", "gangSchedulingStyle"
STYLES = ("Soft", "Hard")
_LONGEST_S = 2**31 - 1
_GO_NUMBER = re.compile(r"[+-]?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class GangParameters:
    """How long room is held for a gang, and what happens then: start without gang (Soft) or fail (Hard)."""

    timeout_s: int = 0
    """0: the scheduler's default, 15 minutes."""
    style: str = "Soft"

    def __str__(self) -> str:
        timeout = f"{TIMEOUT}={self.timeout_s} " if self.timeout_s else ""
        return f"{timeout}{STYLE}={self.style}"


def parse_parameters(text: str) -> GangParameters:
    """What a person wrote; ValueError where YuniKorn would silently take something else."""
    found: dict[str, str] = {}
    for item in text.split():
        key, equals, value = item.partition("=")
        if not equals or "=" in value or not value:
            raise ValueError(f'"{item}" is not key=value; write e.g. {TIMEOUT}=60 {STYLE}=Hard')
        if key not in (TIMEOUT, STYLE):
            raise ValueError(f'"{key}" is not a parameter of gang scheduling; use {TIMEOUT} and {STYLE}')
        if key in found:
            raise ValueError(f"{key} is there twice; keep one")
        found[key] = value
    return GangParameters(_timeout(found.get(TIMEOUT, "0")), _style(found.get(STYLE, "Soft")))


def _timeout(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _LONGEST_S:
        raise ValueError(f'{TIMEOUT} "{text}" is not a number of seconds; write a whole number, e.g. {TIMEOUT}=60')
    return int(text)


def _style(text: str) -> str:
    if text in STYLES:
        return text
    close = next((style for style in STYLES if style.lower() == text.lower()), None)
    remedy = f"write {close}" if close else "write Soft or Hard"
    raise ValueError(f'{STYLE} "{text}" would silently be taken for Soft by YuniKorn; {remedy}')


def as_yunikorn_reads(text: str) -> GangParameters:
    """What YuniKorn makes of a text: it skips what it does not understand, and the last word of a kind counts."""
    timeout_s, style = 0, "Soft"
    for item in text.split(" "):
        parts = item.split("=")
        if len(parts) != 2:
            continue
        if parts[0] == TIMEOUT:
            timeout_s = _number(parts[1])
        elif parts[0] == STYLE:
            style = parts[1] if parts[1] in STYLES else "Soft"
    return GangParameters(timeout_s, style)


def _number(text: str) -> int:
    """As Go reads numbers: what is too large becomes the largest there is, and what is none becomes 0."""
    return min(max(int(text), -(2**63)), 2**63 - 1) if _GO_NUMBER.fullmatch(text) else 0
