"""How much work the functions of one evaluation may do.

The unit is an item of a list handed to a function, which costs about five microseconds; so an evaluation ends after
about a second, however it is written. Characters are cheap and count as a twentieth of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

MOST = 200_000
_CHARACTERS_PER_ITEM = 20

_left = [MOST]


def refill() -> None:
    _left[0] = MOST


def spend(items: int, *, characters: int = 0) -> None:
    """Raises ExhaustedError when the evaluation has done too much."""
    _left[0] -= items + characters // _CHARACTERS_PER_ITEM + 1
    if _left[0] < 0:
        raise ExhaustedError


class ExhaustedError(Exception):
    """The evaluation has done enough."""


class Exhausted:
    """Given back by a function in place of a value. The CEL library knows no such thing and gives up at once; an
    exception would only become the value of this one call, and a loop around it would go on."""


def guarded(run: Callable[..., Any]) -> Callable[..., Any]:
    """A function that ends the evaluation when its work is done for."""

    def call(*arguments: Any) -> Any:
        try:
            return run(*arguments)
        except ExhaustedError:
            return Exhausted()

    return call
