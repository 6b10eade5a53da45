"""Policies there are besides the built-in ones: whoever installs a package with an entry point adds to them."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from tidegate.scheduler import BUILT_IN, Policies, Policy

GROUP = "tidegate.policies"


class PolicyError(ValueError):
    """A package offers a policy that cannot be used."""


def known_policies() -> Policies:
    """The built-in policies and those registered as entry points; the built-in ones cannot be replaced."""
    found = {point.name: _loaded(point) for point in entry_points(group=GROUP) if point.name not in BUILT_IN}
    return found | dict(BUILT_IN)


def _loaded(point: EntryPoint) -> Policy:
    try:
        policy = point.load()
        made: Policy = policy() if isinstance(policy, type) else policy
    except Exception as error:
        raise PolicyError(f'policy "{point.name}" ({point.value}) cannot be loaded: {error}. {_REMEDY}') from error
    if not callable(getattr(made, "order", None)):
        raise PolicyError(f'policy "{point.name}" ({point.value}) has no method `order`. {_REMEDY}')
    return made


_REMEDY = "Mend or remove the package that offers it."
