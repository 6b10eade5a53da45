"""The jobs of some files, each written for a scheduler; what is no job is handed on as it is."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tidegate.cli.render.documents import Json
from tidegate.dialects import DialectError, Fate, Note, QueueConfig, Rendering, Submission, render
from tidegate.dialects.queues import QueueTree
from tidegate.dialects.queues.to_volcano import queue_name
from tidegate.dialects.queues.to_yunikorn import queue_path
from tidegate.dialects.queues.tree import is_queue_object
from tidegate.dialects.referred import find_referred
from tidegate.dialects.targets.yunikorn import APP_ID
from tidegate.model.jobs import Kinds, Obj, peek, templates

_QUEUE = "tidegate.dev/queue"


def rendered_jobs(
    told: argparse.Namespace, config: QueueConfig, tree: QueueTree, kinds: Kinds, given: list[Json]
) -> tuple[list[Any], list[Note]]:
    """Every job with what belongs to it, in the order of the files. Where there are several, notes and errors say which
    of them is meant."""
    others = [obj for obj in given if not is_queue_object(obj)]
    strangers = [obj for obj in others if kinds.find(obj) is None]
    objects: list[Any] = []
    notes: list[Note] = []
    written: list[Rendering] = []
    for obj in others:
        try:
            if obj in strangers and (len(strangers) == len(given) or kinds.meant(obj) is not None):
                kinds.of(obj)
            if obj in strangers:
                objects.append(obj)
                notes.append(Note(Fate.CHANGED, _called(obj), "it is no job, and is handed on as it is"))
                continue
            here = _in_namespace(obj, told.namespace)
            who = _who(told, _door(config.scheduler, tree, here))
            referred = find_referred(kinds.of(here), here, strangers)
            written.append(render(here, who, config, kinds=kinds, referred=referred))
            objects += written[-1].objects
        except ValueError as error:
            raise DialectError(f"{_called(obj)}: {error}" if len(others) > 1 else str(error)) from None
    return objects, [*_collected(written), *notes, *_shared(written, kinds)]


def _collected(written: list[Rendering]) -> Iterator[Note]:
    """What holds for all of them is said once, the rest with whom it is about."""
    common = [note for note in written[0].notes if all(note in done.notes for done in written)] if written else []
    yield from common
    for done in written:
        for note in done.notes:
            if note not in common:
                yield replace(note, about=f"{_called(done.object)}: {note.about}")


def _who(told: argparse.Namespace, door: str) -> Submission:
    """Who submits; to the door of the object's own Queue where the arguments name none."""
    who = submission(told)
    return who if told.queue or told.organisation or told.job_type else replace(who, queue=door)


def submission(told: argparse.Namespace) -> Submission:
    """Who submits, as the arguments say; ManifestError where they contradict one another."""
    return Submission(
        organisation=told.organisation,
        user=told.user,
        groups=tuple(group for group in told.groups.split(",") if group),
        job_type=told.job_type,
        resource_type=told.resource_type,
        queue=told.queue,
        id=told.id,
    )


def _shared(written: Iterable[Rendering], kinds: Kinds) -> list[Note]:
    """YuniKorn reads the gang of an application from its first pod, so two jobs of one id would lose one gang."""
    users: dict[str, list[str]] = {}
    for done in written:
        entry = kinds.of(done.object)
        ids = {(peek(done.object, place.labels) or {}).get(APP_ID) for place in templates(entry, done.object, kinds)}
        for one in filter(None, ids):
            users.setdefault(str(one), []).append(_called(done.object))
    return [
        Note(Fate.CHANGED, "application", f"{' and '.join(names)} share the id {one}, and are one to YuniKorn")
        for one, names in users.items()
        if len(names) > 1 and {name.partition(" ")[0] for name in names} - {"Pod"}
    ]


def _called(obj: Obj) -> str:
    """An object in words."""
    metadata = obj.get("metadata")
    known = metadata if isinstance(metadata, Mapping) else {}
    return f"{obj.get('kind')} {known.get('name') or known.get('generateName') or ''}".strip()


def _in_namespace(obj: Json, namespace: str) -> Json:
    metadata = obj.get("metadata")
    if not namespace or (isinstance(metadata, dict) and metadata.get("namespace")):
        return obj
    return obj | {"metadata": {**(metadata or {}), "namespace": namespace}}


def _door(scheduler: str, tree: QueueTree, obj: Json) -> str:
    """The queue of an object whose Queue is in the same files, as the scheduler will know it."""
    metadata = obj.get("metadata") or {}
    named = (metadata.get("labels") or {}).get(_QUEUE) or "default"
    wanted = (metadata.get("namespace") or "default", named)
    door = next((d for d in tree.doors if (d.metadata.namespace or "default", d.metadata.name) == wanted), None)
    if door is None:
        return ""
    return {"yunikorn": queue_path, "volcano": queue_name}.get(scheduler, lambda _, door: door.metadata.name)(
        tree, door
    )
