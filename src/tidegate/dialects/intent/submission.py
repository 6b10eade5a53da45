"""Who submits, for whom, and what kind of work it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from tidegate.model.problems import ManifestError, Problem

_SPELLED = {"organization": "organisation"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One submission. Everything may be left out; what is missing is taken from the object, or not written."""

    organisation: str = ""
    """The tenant: a ClusterQueue."""
    user: str = ""
    """The person, where the scheduler keeps accounts or access lists by user."""
    groups: tuple[str, ...] = ()
    """The person's groups."""
    job_type: str = ""
    """The type of work (ray, spark, …): a Queue of the tenant. Without it, that of the object's kind."""
    resource_type: str = ""
    """What the platform calls the thing it runs; the first part of the application id."""
    queue: str = ""
    """The queue in the scheduler's own words, where it is known; then neither organisation nor type choose one."""
    id: str = ""
    """What makes the application id unique."""

    def __post_init__(self) -> None:
        problems = [
            Problem((one.name,), why)
            for one in fields(self)
            if (why := _wrong(getattr(self, one.name), listed=one.name == "groups"))
        ]
        if self.groups and not self.user:
            problems.append(Problem(("groups",), "groups are given without a user; name the user, too"))
        if problems:
            raise ManifestError(problems)

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Submission:
        """From plain data with the same names (dashes and camelCase are understood)."""
        known = {one.name for one in fields(cls)}
        given: dict[str, Any] = {}
        for key, value in raw.items():
            name = _snake(str(key))
            if name not in known:
                close = get_close_matches(name, known, n=1)
                remedy = f"did you mean {close[0]}?" if close else f"use one of {', '.join(sorted(known))}"
                raise ManifestError([Problem((str(key),), f"is not part of a submission; {remedy}")])
            given[name] = tuple(value) if isinstance(value, list) else value
        return cls(**given)


def _snake(key: str) -> str:
    spelled = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key).replace("-", "_")
    return _SPELLED.get(spelled, spelled)


def _wrong(value: Any, *, listed: bool) -> str:
    if listed and not isinstance(value, tuple):
        return f"{value} is not a list; write each group with a dash"
    texts = value if listed else (value,)
    if not all(isinstance(text, str) for text in texts):
        return f"{value} is not text; write it in quotes"
    if any(text != text.strip() or "\n" in text for text in texts):
        return f'"{value}" has space around it; remove it'
    return ""
