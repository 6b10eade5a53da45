"""What a queue tree became, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidegate.dialects.draft import Fate, Note
from tidegate.model.jobs import Obj


@dataclass(frozen=True, slots=True)
class QueueRendering:
    """Objects to apply (or one document to put into a ConfigMap), and notes."""

    objects: tuple[Obj, ...]
    notes: tuple[Note, ...] = ()


@dataclass(slots=True)
class Notes:
    """Notes as they are made; each is kept once, in order."""

    kept: list[Note] = field(default_factory=list)

    def add(self, fate: Fate, about: str, message: str) -> None:
        note = Note(fate, about, message)
        if note not in self.kept:
            self.kept.append(note)

    def dropped(self, about: str, message: str) -> None:
        self.add(Fate.DROPPED, about, message)

    def changed(self, about: str, message: str) -> None:
        self.add(Fate.CHANGED, about, message)

    def needs(self, about: str, message: str) -> None:
        self.add(Fate.NEEDS, about, message)

    def finish(self, objects: Iterable[Obj]) -> QueueRendering:
        return QueueRendering(tuple(objects), tuple(self.kept))
