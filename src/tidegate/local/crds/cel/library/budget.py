"""How much work the functions of one evaluation may do, counted in items and characters looked at."""

from __future__ import annotations

MOST = 2_000_000

_left = [MOST]


def refill() -> None:
    _left[0] = MOST


def spend(amount: int) -> None:
    """Raises ValueError when the evaluation has done too much."""
    _left[0] -= amount + 1
    if _left[0] < 0:
        raise ValueError("work budget exceeded")
