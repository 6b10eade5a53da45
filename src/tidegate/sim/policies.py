"""Policies there are besides the built-in ones: whoever installs a package with an entry point adds to them."""

from __future__ import annotations

from importlib.metadata import entry_points

from tidegate.scheduler import BUILT_IN, Policies

GROUP = "tidegate.policies"


def known_policies() -> Policies:
    """The built-in policies and those registered as entry points; the built-in ones cannot be replaced."""
    found = {point.name: point.load()() for point in entry_points(group=GROUP) if point.name not in BUILT_IN}
    return found | dict(BUILT_IN)
