"""Policies there are besides the built-in ones: whoever installs a package with an entry point adds to them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
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
            return False, self._policy.order(candidate)
        except Exception as error:
            if not self._was_told:
                self._was_told = True
                said = f"{type(error).__name__}: {error}".rstrip(": ")
                self._failed(PolicyError(f"{_named(self._point)} does not answer ({said}). {_REMEDY}"))
            return True, candidate.share


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
