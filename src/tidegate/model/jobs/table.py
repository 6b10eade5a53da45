"""The built-in kinds, and how to find the entry of an object."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from tidegate.model.jobs.entry import JobKind, parse_kinds
from tidegate.model.jobs.language.paths import JobError, Obj
from tidegate.model.jobs.pods.places import PodPlace
from tidegate.model.jobs.pods.shapes import podsets


class Kinds:
    """Entries by API group and kind; a later entry replaces an earlier one of the same kind."""

    __slots__ = ("_by_kind", "_prefixes", "entries")

    def __init__(self, entries: Iterable[JobKind]) -> None:
        self._by_kind = {(entry.group, entry.kind): entry for entry in entries}
        self.entries = tuple(self._by_kind.values())
        self._prefixes = _prefixes(self.entries)

    def find(self, obj: Mapping[str, Any]) -> JobKind | None:
        """The entry of an object's kind; None for a kind or version nobody described."""
        group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
        entry = self._by_kind.get((group, str(obj.get("kind"))))
        return entry if entry is not None and version in entry.versions else None

    def of(self, obj: Mapping[str, Any]) -> JobKind:
        """The entry of an object's kind; JobError where there is none."""
        entry = self.find(obj)
        if entry is None:
            raise self._unknown(obj)
        return entry

    def _unknown(self, obj: Mapping[str, Any]) -> JobError:
        version, kind = str(obj.get("apiVersion") or ""), obj.get("kind")
        if kind is None:
            return JobError(("kind",), "is missing; write apiVersion and kind of the object")
        meant = self.meant(obj)
        if meant is not None:
            said = f"{version} is not a version of {kind} that is known here" if version else "is missing"
            return JobError(("apiVersion",), f"{said}; write {meant.api_version}, or describe it in a file")
        known = ", ".join(sorted({entry.kind for entry in self.entries}))
        said = f"{version} {kind}".strip()
        return JobError(("kind",), f"{said} is not a known kind of job; use one of {known}, or describe it in a file")

    def meant(self, obj: Mapping[str, Any]) -> JobKind | None:
        """The entry of an object that is of a known kind but for its version, or for lack of one."""
        version = str(obj.get("apiVersion") or "")
        if not version:
            return self.named(str(obj.get("kind")))
        return self._by_kind.get((version.rpartition("/")[0], str(obj.get("kind"))))

    def prefix(self, entry: JobKind) -> str:
        """What names of its Workloads begin with: the kind; where another group has the same, a digest of the group."""
        return self._prefixes.get((entry.group, entry.kind)) or entry.kind.lower()

    def named(self, kind: str) -> JobKind | None:
        """The first entry with this kind, whatever its group."""
        return next((entry for entry in self.entries if entry.kind == kind), None)

    def with_more(self, more: Iterable[JobKind]) -> Kinds:
        """These and more; what is in both is taken from `more`."""
        return Kinds([*self.entries, *more])


def _prefixes(entries: Iterable[JobKind]) -> dict[tuple[str, str], str]:
    """The first of a table has the plain word. A dot cannot follow a kind otherwise, so that nobody's name is taken."""
    taken = {"podgroup"}
    found: dict[tuple[str, str], str] = {}
    for entry in entries:
        word = entry.kind.lower()
        digest = hashlib.sha256(entry.group.encode()).hexdigest()[:8]
        found[entry.group, entry.kind] = f"{word}.{digest}" if word in taken else word
        taken.add(word)
    return found


@lru_cache(maxsize=1)
def builtin() -> Kinds:
    """The kinds that come with Tidegate."""
    import yaml

    text = files("tidegate.model.jobs").joinpath("kinds.yaml").read_text(encoding="utf-8")
    # Its own file, so the quick loader is as good as any; where it was not built, the plain one is.
    return Kinds(parse_kinds(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))))  # noqa: S506


def templates(entry: JobKind, obj: Obj, kinds: Kinds | None = None) -> tuple[PodPlace, ...]:
    """Where the object describes its pods, one place per pod set that it describes itself."""
    find = (kinds or builtin()).find
    return tuple(shape.place for shape in podsets(entry, obj, find=find) if shape.place is not None)
