"""YuniKorn's gang parameters: read strictly from people, and as YuniKorn itself reads them."""

from __future__ import annotations

from dataclasses import dataclass

TIMEOUT, STYLE = "placeholderTimeoutInSeconds", "gangSchedulingStyle"
STYLES = ("Soft", "Hard")
_LONGEST_S = 2**31 - 1


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
    """What YuniKorn makes of a text: it skips what it does not understand."""
    timeout_s, style = 0, "Soft"
    for item in text.split(" "):
        parts = item.split("=")
        if len(parts) != 2:
            continue
        if parts[0] == TIMEOUT:
            number = parts[1]
            timeout_s = int(number) if number.isascii() and number.isdigit() else 0
        elif parts[0] == STYLE and parts[1] in STYLES:
            style = parts[1]
    return GangParameters(timeout_s, style)
