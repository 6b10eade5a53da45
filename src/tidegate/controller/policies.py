"""Policies there are besides the built-in ones: whoever installs a package with an entry point adds to them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from fractions import Fraction
from functools import total_ordering
from importlib.metadata import EntryPoint, entry_points
from math import isnan
from operator import eq, lt
from typing import Any

from tidegate.scheduler import BUILT_IN, Candidate, Policies, Policy

GROUP = "tidegate.policies"

_log = logging.getLogger(__name__)


class PolicyError(ValueError):
    """A package offers a policy that cannot be used."""


Failed = Callable[[PolicyError], None]


def _refuse(error: PolicyError) -> None:
    raise error


def known_policies(failed: Failed = _refuse) -> Policies:
    """The built-in policies and those registered as entry points; the built-in ones cannot be replaced. Told of one
    that cannot be used, `failed` may raise, or leave it out."""
    found: dict[str, Policy] = {}
    for point in entry_points(group=GROUP):
        if point.name not in BUILT_IN:
            try:
                found[point.name] = Registered(point, _loaded(point), failed)
            except PolicyError as error:
                failed(error)
    return found | dict(BUILT_IN)


def policies_at_work() -> Policies:
    """As an operator uses them: one that fails is logged, and is in nobody's way but its own ClusterQueues'."""
    return known_policies(lambda error: _log.error("%s", error))


class Registered:
    """A policy of a package. Whom it cannot answer for comes last, by share; that it cannot is told once."""

    def __init__(self, point: EntryPoint, policy: Policy, failed: Failed) -> None:
        self._point = point
        self._policy = policy
        self._failed = failed
        self._was_told = False

    def order(self, candidate: Candidate, /) -> tuple[bool, Any]:
        try:
            answer = self._policy.order(candidate)
            if isinstance(answer, float) and isnan(answer):  # It is neither before nor behind anything.
                raise ValueError(f"{answer} has no place in an order")
            return False, _Answer(answer, candidate.share, self.does_not_answer)
        except Exception as error:
            self.does_not_answer(error)
            return True, candidate.share

    def does_not_answer(self, error: Exception) -> None:
        """Tell of it, once."""
        if not self._was_told:
            self._was_told = True
            said = " ".join(f"{type(error).__name__}: {error}".rstrip(": ").split())
            self._failed(PolicyError(f"{_named(self._point)} does not answer ({said}). {_REMEDY}"))


@total_ordering
class _Answer:
    """What a policy said of a candidate. Answers that cannot be compared with each other stand by their type, then by
    share: a cycle is planned to its end all the same."""

    __slots__ = ("_said", "_share", "_tell")

    def __init__(self, said: Any, share: Fraction, tell: Callable[[Exception], None]) -> None:
        self._said = said
        self._share = share
        self._tell = tell

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Answer) and self._compared(other, eq)

    def __lt__(self, other: _Answer) -> bool:
        return self._compared(other, lt)

    __hash__ = None  # type: ignore[assignment]

    def _compared(self, other: _Answer, how: Callable[[Any, Any], Any]) -> bool:
        try:
            return bool(how(self._said, other._said))
        except Exception as error:
            self._tell(error)
            return bool(how(self._place(), other._place()))

    def _place(self) -> tuple[str, Fraction]:
        return type(self._said).__name__, self._share


def _loaded(point: EntryPoint) -> Policy:
    try:
        policy = point.load()
        made: Policy = policy() if isinstance(policy, type) else policy
    except Exception as error:
        raise PolicyError(f"{_named(point)} cannot be loaded: {error}. {_REMEDY}") from error
    if not callable(getattr(made, "order", None)):
        raise PolicyError(f"{_named(point)} has no method `order`. {_REMEDY}")
    return made


def _named(point: EntryPoint) -> str:
    return f'policy "{point.name}" ({point.value})'


_REMEDY = "Mend or remove the package that offers it."
