"""An object while it is rendered: each step gives a new one, so that nothing is shared between submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tidegate.model.jobs import JobKind, Kinds, Obj, PodPlace, PodSetShape, merge, peek, podsets, put
from tidegate.model.jobs.language.paths import Scope
from tidegate.model.problems import Path


class Fate(StrEnum):
    """What became of something the object or the submission says."""

    DROPPED = "dropped"
    """The target cannot express it; it is not there any more."""
    CHANGED = "changed"
    """It is there in another form, or with another effect."""
    NEEDS = "needs"
    """It works if something else is set up."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that a reader of the result should know."""

    fate: Fate
    about: str
    """What it is about: a field, an annotation, a word of the submission."""
    message: str

    def __str__(self) -> str:
        return f"{self.fate}: {self.about}: {self.message}"


@dataclass(frozen=True, slots=True)
class Draft:
    """The object, further objects beside it, and what was noted on the way."""

    obj: Obj
    entry: JobKind
    kinds: Kinds
    others: tuple[Obj, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def name(self) -> str:
        metadata = self.obj.get("metadata") or {}
        return str(metadata.get("name") or metadata.get("generateName") or "").rstrip("-.")

    @property
    def namespace(self) -> str:
        return str((self.obj.get("metadata") or {}).get("namespace") or "")

    @property
    def shapes(self) -> tuple[PodSetShape, ...]:
        """Its pod sets as they are now."""
        return podsets(self.entry, self.obj, find=self.kinds.find)

    @property
    def made(self) -> Path:
        """Where the metadata is that queues read: the object's own, or that of what it creates."""
        if self.entry.makes is not None and self.entry.makes.metadata is not None:
            return self.entry.makes.metadata.place(Scope(self.obj))
        return ("metadata",)

    def stated(self, *keys: str, field: str = "labels") -> str:
        """The first of these labels (or annotations) that the object has, or one of its pod templates."""
        places: list[Path] = [("metadata", field), (*self.made, field)]
        places += [
            shape.place.labels if field == "labels" else shape.place.annotations for shape in _placed(self.shapes)
        ]
        for key in keys:
            for place in places:
                value = (peek(self.obj, place) or {}).get(key)
                if value:
                    return str(value)
        return ""

    def on_object(
        self, *, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
    ) -> Draft:
        """With these on the object that is queued."""
        obj = merge(self.obj, (*self.made, "labels"), labels or {})
        return replace(self, obj=merge(obj, (*self.made, "annotations"), annotations or {}))

    def on_pods(
        self,
        *,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        spec: Mapping[str, Any] | None = None,
        only: str | None = None,
    ) -> Draft:
        """With these on the pods of every set, or of the one that `only` names."""
        obj = self.obj
        for shape in self.shapes:
            if shape.place is not None and only in (None, shape.name):
                obj = _written(obj, shape.place)
                obj = merge(obj, shape.place.labels, labels or {})
                obj = merge(obj, shape.place.annotations, annotations or {})
                obj = merge(obj, shape.place.pod, spec or {})
        return replace(self, obj=obj)

    def beside(self, other: Obj) -> Draft:
        """With a further object."""
        return replace(self, others=(*self.others, other))

    def noted(self, fate: Fate, about: str, message: str) -> Draft:
        note = Note(fate, about, message)
        return self if note in self.notes else replace(self, notes=(*self.notes, note))


def _placed(shapes: Iterable[PodSetShape]) -> list[Any]:
    return [shape for shape in shapes if shape.place is not None]


def _written(obj: Obj, place: PodPlace) -> Obj:
    """The object with the operator's default template spelled out, where it relied on that."""
    result: Obj = obj if place.absent is None else put(obj, place.absent, place.content)
    return result
