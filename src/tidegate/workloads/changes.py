"""Changes to an application that can be taken back: what was written where, and what was there before.

They are kept with the application itself, in an annotation, so that whoever restarts can still undo them. Taking back
is a merge of three: what somebody else changed meanwhile stays as that somebody wants it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.model.jobs import Obj, peek, put, without
from tidegate.model.problems import Path
from tidegate.workloads.names import BEFORE, FLAVOR, GRANTED, POD_SET, QUEUE, SUBMITTER, WORKLOAD

_ANNOTATIONS: Path = ("metadata", "annotations")
_NOTES = (BEFORE, GRANTED, WORKLOAD, POD_SET, FLAVOR, QUEUE)
"""Annotations that `remember` writes; they need no remembering themselves."""


class _Absent:
    """Nothing was there, which is not the same as null."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Change:
    """At `at` there is now `written` in place of `before`."""

    at: Path
    written: Any
    before: Any = _ABSENT

    def wire(self) -> dict[str, Any]:
        told = {"at": list(self.at), "is": self.written}
        return told if self.before is _ABSENT else told | {"was": self.before}


class Draft:
    """An application that is being changed, and the changes so far."""

    def __init__(self, obj: Obj) -> None:
        self.obj = obj
        self.changes: list[Change] = []
        self._bare: bool | None = None
        """Whether it had no annotations before the first change; None: none was made yet."""

    @classmethod
    def resumed(cls, obj: Obj) -> Draft:
        """One that was changed before, and is to be changed further."""
        draft, memory = cls(obj), _annotations(obj).get(BEFORE)
        if memory is not None:
            draft.changes, draft._bare = _remembered(memory)
        return draft

    def write(self, path: Path, value: Any) -> None:
        """Put `value` at `path`; undoing it will also remove the maps that had to be made on the way."""
        at = _first_absent(self.obj, path)
        changed: Obj = put(self.obj, path, value)
        before = _at(self.obj, at)
        self.obj = changed
        if before is _ABSENT or before != peek(changed, at):
            self.changes.append(Change(at, peek(changed, at), before))

    def rewrite(self, path: Path, value: Any) -> None:
        """Put `value` where something else was written before, or nothing; undoing it gives back what others want to be
        there by now."""
        for change in [each for each in self.changes if each.at == path]:
            self.changes.remove(change)
            self.obj = _undone(self.obj, change)
        there = len(self.changes)
        self.write(path, value)
        # Sizes stand before all else, as in an application that is let go afresh.
        self.changes = [*self.changes[there:], *self.changes[:there]]

    def merge(self, path: Path, entries: Mapping[str, Any]) -> None:
        """Put entries into the map at `path`."""
        if entries:
            self.write(path, {**(peek(self.obj, path) or {}), **entries})

    def remember(self, notes: Mapping[str, str]) -> Obj:
        """The application with `notes` among its annotations, and with all that is needed to undo what was written."""
        bare = not isinstance(peek(self.obj, _ANNOTATIONS), Mapping) if self._bare is None else self._bare
        told = {"changes": [change.wire() for change in self.changes], "bare": bare}
        kept = {BEFORE: json.dumps(told, sort_keys=True, separators=(",", ":"))}
        noted: Obj = put(self.obj, _ANNOTATIONS, {**(peek(self.obj, _ANNOTATIONS) or {}), **notes, **kept})
        return noted


def unmarked(obj: Obj) -> Obj:
    """Something new, without what only Tidegate writes: nothing was granted to it or written into it yet."""
    annotations = peek(obj, _ANNOTATIONS)
    if not isinstance(annotations, Mapping) or not set(_NOTES) & annotations.keys():
        return obj
    cleaned: Obj = put(obj, _ANNOTATIONS, {key: value for key, value in annotations.items() if key not in _NOTES})
    return cleaned


def marked_as(obj: Obj, before: Obj) -> Obj:
    """With what only Tidegate writes as it was, where somebody left it out: who replaces an application by the manifest
    that he has does not mean to take anything from it."""
    notes, there = _annotations(before), _annotations(obj)
    lost = {key: notes[key] for key in (*_NOTES, SUBMITTER) if key in notes and key not in there}
    kept: Obj = put(obj, _ANNOTATIONS, {**there, **lost}) if lost else obj
    return kept


def remembering(obj: Obj, before: Obj) -> Obj:
    """With the memory of what was written into it as it was, whatever somebody wrote there."""
    notes, there = _annotations(before), _annotations(obj)
    if notes.get(BEFORE) == there.get(BEFORE):
        return obj
    left = {key: value for key, value in there.items() if key != BEFORE}
    kept: Obj = put(obj, _ANNOTATIONS, left | ({BEFORE: notes[BEFORE]} if BEFORE in notes else {}))
    return kept


def noted_as(obj: Obj, other: Obj) -> Obj:
    """With the notes that another form of it has. What was written into it stays, and so does the memory of that."""
    there, notes = _annotations(obj), _annotations(other)
    others = {key: value for key, value in there.items() if key not in _NOTES or key == BEFORE}
    kept = {key: notes[key] for key in _NOTES if key in notes and key != BEFORE}
    noted: Obj = put(obj, _ANNOTATIONS, others | kept)
    return noted


def _annotations(obj: Obj) -> Mapping[str, Any]:
    found = peek(obj, _ANNOTATIONS)
    return found if isinstance(found, Mapping) else {}


def restored(obj: Obj) -> Obj:
    """The application without anything that was written into it."""
    annotations = peek(obj, _ANNOTATIONS)
    if not isinstance(annotations, Mapping) or BEFORE not in annotations:
        return obj
    changes, bare = _remembered(annotations[BEFORE])
    for change in reversed(changes):
        obj = _undone(obj, change)
    left = {key: value for key, value in annotations.items() if key not in _NOTES}
    cleaned: Obj = without(obj, _ANNOTATIONS) if bare and not left else put(obj, _ANNOTATIONS, left)
    return cleaned


def _remembered(text: Any) -> tuple[list[Change], bool]:
    """What the annotation tells; nothing where somebody has spoilt it, since guessing would be worse."""
    try:
        told = json.loads(text)
        listed: Iterable[Any] = told["changes"]
        changes = [Change(tuple(each["at"]), each["is"], each.get("was", _ABSENT)) for each in listed]
        return changes, bool(told["bare"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return [], False


def _undone(obj: Obj, change: Change) -> Obj:
    now = _at(obj, change.at)
    then = _merged_back(now, change.written, change.before)
    if then is now:
        return obj
    result: Obj = without(obj, change.at) if then is _ABSENT else put(obj, change.at, then)
    return result


def _merged_back(now: Any, written: Any, before: Any) -> Any:
    """What is to be there, given what is there now, what was written and what had been there."""
    if now == written:
        return before
    if not isinstance(now, Mapping) or not isinstance(written, Mapping):
        return now
    earlier = before if isinstance(before, Mapping) else {}
    result = dict(now)
    for key, value in written.items():
        if key in now:
            then = _merged_back(now[key], value, earlier.get(key, _ABSENT))
            if then is _ABSENT:
                del result[key]
            else:
                result[key] = then
    # A map that was made for what is taken out again goes with it, unless somebody has put something else there.
    return _ABSENT if before is _ABSENT and not result else result


def _at(obj: Any, path: Path) -> Any:
    *way, last = path
    around = peek(obj, tuple(way))
    if isinstance(last, int):
        return around[last] if isinstance(around, list | tuple) and last < len(around) else _ABSENT
    return around.get(last, _ABSENT) if isinstance(around, Mapping) else _ABSENT


def _first_absent(obj: Any, path: Path) -> Path:
    """The shortest part of the path at which there is nothing yet; the whole path where all of it is there."""
    for length in range(1, len(path) + 1):
        if _at(obj, path[:length]) in (_ABSENT, None):
            return path[:length]
    return path
