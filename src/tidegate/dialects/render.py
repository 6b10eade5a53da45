"""One object and one submission, written for the scheduler that the configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidegate.dialects.dialect import Dialect
from tidegate.dialects.draft import Draft, Fate, Note
from tidegate.dialects.errors import DialectError
from tidegate.dialects.intent.config import QueueConfig, parse_queueconfig
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.referred import begin_with, parted
from tidegate.dialects.registry import dialect_named
from tidegate.model.jobs import Kinds, Obj, builtin


@dataclass(frozen=True, slots=True)
class Rendering:
    """What came out: the object, others that belong to it, and what could not be carried over as it was."""

    object: Obj
    others: tuple[Obj, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def objects(self) -> tuple[Obj, ...]:
        """All there is to apply; what must be there first comes first."""
        return (*self.others, self.object)

    @property
    def dropped(self) -> tuple[Note, ...]:
        return tuple(note for note in self.notes if note.fate is Fate.DROPPED)


def render(
    obj: Obj,
    submission: Submission | Mapping[str, Any] | None,
    config: QueueConfig | Mapping[str, Any] | str,
    *,
    kinds: Kinds | None = None,
    referred: Obj | None = None,
) -> Rendering:
    """The object as the configuration's scheduler wants it; a new object, the one given is not changed. `referred` is
    the object that describes its pods, where it does not itself: the runtime of a TrainJob.

    `config` is a queueconfig, or just the name of a scheduler. DialectError, JobError or ManifestError (all of them
    ValueErrors) say what cannot be written, and what to do.
    """
    told = submission if isinstance(submission, Submission) else Submission.parse(submission or {})
    if not isinstance(config, QueueConfig):
        config = QueueConfig(config) if isinstance(config, str) else parse_queueconfig(config)
    dialect = dialect_named(config.scheduler)
    draft = _draft(obj, kinds or builtin())
    if referred is not None and not _can_do_without(draft, dialect, told, config):
        draft = begin_with(obj, draft.kinds, referred)
    draft = replace(draft, unique=told.id)
    for step in (dialect.set_scheduler_name, dialect.create_labels, dialect.create_group_labels):
        draft = step(draft, told, config)
    draft = parted(draft, config.scheduler)
    return Rendering(_fresh(draft.obj), tuple(map(_fresh, draft.others)), draft.notes)


def _fresh(value: Any) -> Any:
    """A copy that shares nothing with what was given, so that whoever changes the one does not change the other."""
    if isinstance(value, Mapping):
        return {key: _fresh(inner) for key, inner in value.items()}
    return [_fresh(inner) for inner in value] if isinstance(value, list | tuple) else value


def _can_do_without(draft: Draft, dialect: Dialect, submission: Submission, config: QueueConfig) -> bool:
    """Whether a scheduler reads the object itself, and so what describes its pods can be left as it is."""
    try:
        dialect.set_scheduler_name(draft, submission, config)
    except DialectError:
        return False
    return True


def _draft(obj: Obj, kinds: Kinds) -> Draft:
    """The beginning. Everything later may rely on metadata being what Kubernetes has there."""
    if not isinstance(obj, Mapping):
        raise DialectError("what is to be rendered is not an object; give one with apiVersion, kind and metadata")
    metadata = obj.get("metadata") or {}
    for field in ("", "labels", "annotations"):
        part = metadata.get(field) if field and isinstance(metadata, Mapping) else metadata
        if part is not None and not isinstance(part, Mapping):
            raise DialectError(f"metadata.{field} is not a mapping; write names with values".replace(". is", " is"))
    return Draft.begin(obj, kinds)
