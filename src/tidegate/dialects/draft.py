"""An object while it is rendered: each step gives a new one, so that nothing is shared between submissions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tidegate.dialects.errors import DialectError
from tidegate.dialects.names import shortened
from tidegate.model.jobs import JobKind, Kinds, Obj, PodPlace, PodSetShape, inside, merge, peek, podsets, put
from tidegate.model.jobs.language.paths import Scope
from tidegate.model.problems import Path

_LONGEST_BEGINNING = 50
"""So that what is put before and behind it still fits into a label."""


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
    shapes: tuple[PodSetShape, ...]
    """Its pod sets, read once: nothing that is written here changes how many pods there are or what they take."""
    unique: str = ""
    """The submission's id: what tells objects apart that the server is still to name."""
    others: tuple[Obj, ...] = ()
    notes: tuple[Note, ...] = ()

    @classmethod
    def begin(cls, obj: Obj, kinds: Kinds) -> Draft:
        """A draft of an object whose kind is known; JobError where it is not, or the object cannot be read."""
        entry = kinds.of(obj)
        return cls(obj, entry, kinds, podsets(entry, obj, find=kinds.find))

    @property
    def name(self) -> str:
        """Its name, after which groups are called; until the server has chosen one, its beginning with the id."""
        metadata = inside(self.obj, ("metadata",))
        if metadata.get("name"):
            return str(metadata["name"]).rstrip("-.")
        beginning = str(metadata.get("generateName") or "").rstrip("-.")
        return shortened("-".join(filter(None, (beginning, self.unique))), _LONGEST_BEGINNING)

    @property
    def namespace(self) -> str:
        return str(inside(self.obj, ("metadata",)).get("namespace") or "")

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
                value = inside(self.obj, place).get(key)
                if value:
                    return str(value)
        return ""

    def check_pods(self, *, written: bool) -> None:
        """DialectError where there are no pods to queue, or, for who writes to pods, none that are described here."""
        kind = self.entry.kind
        if not self.shapes:
            raise DialectError(f"the {kind} describes no pods, so there is nothing to queue; add its pod template")
        if written and not _placed(self.shapes):
            raise DialectError(
                f"the pods of a {kind} are described by another object, and this scheduler reads pods only; "
                "give that object along with it"
            )

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

    def sharing_noted(self) -> Draft:
        """Objects that are made from one manifest, each named by the server, are one and the same to a scheduler."""
        if self.unique or inside(self.obj, ("metadata",)).get("name"):
            return self
        return self.noted(
            Fate.NEEDS, "metadata.name", "all objects made from this share one application or group; give each an id"
        )

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
    is_there = place.absent is None or peek(obj, place.absent) is not None
    result: Obj = obj if is_there or place.absent is None else put(obj, place.absent, place.content)
    return result
