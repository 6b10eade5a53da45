"""What an object tells schedulers already, in the words of its own operator: a queue, and how large its gang is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.errors import DialectError
from tidegate.model.jobs import Obj, inside
from tidegate.model.problems import Path


class Word(StrEnum):
    """What an object may state; each is a field of SchedulingPolicy."""

    QUEUE = "queue"
    MEMBERS = "members"
    RESOURCES = "resources"
    TIMEOUT = "timeout_s"


@dataclass(frozen=True, slots=True)
class SchedulingPolicy:
    """What is stated; nothing where nothing is."""

    queue: str = ""
    members: int | None = None
    """How many pods, of whatever role, start together."""
    resources: Obj = field(default_factory=dict)
    """What they need in all."""
    timeout_s: int | None = None
    """How long they are waited for."""
    places: Mapping[Word, str] = field(default_factory=dict)
    """Where each of these stands in the object."""


def scheduling_policy(draft: Draft) -> SchedulingPolicy:
    """The object's own; DialectError where one of its fields cannot be meant."""
    fields: dict[Word, Path] = {}
    if draft.entry.group == "kubeflow.org":
        at: Path = ("spec", "runPolicy", "schedulingPolicy")
        fields = {Word.QUEUE: (*at, "queue"), Word.MEMBERS: (*at, "minAvailable")}
        fields |= {Word.RESOURCES: (*at, "minResources"), Word.TIMEOUT: (*at, "scheduleTimeoutSeconds")}
    elif draft.entry.group == "sparkoperator.k8s.io":
        at = (*(("spec",) if draft.entry.makes is None else ("spec", "template")), "batchSchedulerOptions")
        fields = {Word.QUEUE: (*at, "queue"), Word.RESOURCES: (*at, "resources")}
    elif draft.entry.kind == "QueueJob":
        fields = {Word.MEMBERS: ("spec", "schedulingSpec", "minAvailable")}
    found = {word: value for word, path in fields.items() if (value := inside(draft.obj, path[:-1]).get(str(path[-1])))}
    places = {word: ".".join(map(str, fields[word])) for word in found}
    for word, value in found.items():
        _check(word, value, places[word])
    return SchedulingPolicy(**{str(word): value for word, value in found.items()}, places=places)


def _check(word: Word, value: Any, at: str) -> None:
    if word is Word.QUEUE and not isinstance(value, str):
        raise DialectError(f'{at} "{value}" is not a name; write it in quotes')
    if word is Word.RESOURCES and not isinstance(value, Mapping):
        raise DialectError(f'{at} "{value}" is not a mapping; write amounts by resource')
    if word in (Word.MEMBERS, Word.TIMEOUT) and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise DialectError(f'{at} "{value}" is not a whole number; write it without quotes')


def unread_noted(draft: Draft, unread: Mapping[Word, str]) -> Draft:
    """With a note for each word that the scheduler does not read, where the object has it."""
    places = scheduling_policy(draft).places
    for word, message in unread.items():
        if word in places:
            draft = draft.noted(Fate.DROPPED, places[word], message)
    return draft


def other_scheduler_noted(draft: Draft, scheduler: str) -> Draft:
    """Spark's operator gives pods to the batch scheduler that the application names, whatever else is written."""
    if draft.entry.group != "sparkoperator.k8s.io":
        return draft
    at = ("spec",) if draft.entry.makes is None else ("spec", "template")
    named = inside(draft.obj, at).get("batchScheduler")
    if not named or named == scheduler:
        return draft
    about = ".".join((*at, "batchScheduler"))
    return draft.noted(Fate.NEEDS, about, f'it names "{named}", to which Spark\'s operator gives the pods; remove it')
