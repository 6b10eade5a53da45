"""Dialects by name: those that come with Tidegate, and those that installed packages offer."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from tidegate.dialects.dialect import Dialect
from tidegate.dialects.errors import DialectError

GROUP = "tidegate.dialects"
BUILTIN = ("kueue", "yunikorn", "volcano", "scheduler-plugins", "tidegate")


def dialect_named(name: str) -> Dialect:
    """The dialect; DialectError where there is none of that name, or one that cannot be used."""
    from tidegate.dialects import targets

    built_in = targets.DIALECTS.get(name)
    if built_in is not None:
        return built_in
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join((*BUILTIN, *sorted(found)))
        raise DialectError(f'"{name}" is not a scheduler known here; use one of {known}')
    return _loaded(found[name])


def _loaded(point: EntryPoint) -> Dialect:
    """What an entry point names: a dialect, or a class of dialects that needs no arguments."""
    try:
        given = point.load()
        dialect = given() if isinstance(given, type) else given
    except Exception as error:
        raise DialectError(
            f'the dialect "{point.name}" cannot be loaded ({error}); repair the package that has it'
        ) from None
    if not isinstance(dialect, Dialect):
        steps = "set_scheduler_name, create_labels and create_group_labels"
        raise DialectError(f'the dialect "{point.name}" is none; {point.value} must have a name, {steps}')
    return dialect
