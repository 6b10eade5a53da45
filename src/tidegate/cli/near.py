"""What somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_SHOWN = 8


def did_you_mean(name: str, known: Iterable[str], *, most: int = 3) -> str:
    """A sentence with the nearest names, at most so many; else with all there are; empty where there is none."""
    from difflib import get_close_matches

    names = sorted(set(known))
    # Names have endings made by chance: one that goes on after what was written is the nearest.
    close = [each for each in names if each.startswith(name)] or get_close_matches(name, names, n=most, cutoff=0.5)
    if close:
        return f"Did you mean {' or '.join(close[:most])}?"
    if not names:
        return ""
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return f"There is {', '.join(names[:_MOST_SHOWN])}{more}."
