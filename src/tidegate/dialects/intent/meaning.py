"""What an object and its submission mean together, before any scheduler's words are chosen."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.intent.config import DEFAULT, JobConfig, QueueConfig
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.names import shortened
from tidegate.model.jobs import MAX_COUNT, inside, pod_group, priority_class

QUEUE = "tidegate.dev/queue"
PRIORITY = "tidegate.dev/priority-class"


@dataclass(frozen=True, slots=True)
class Meaning:
    """One submission, settled."""

    job_type: str
    queue: str
    """The tenant's queue."""
    is_queue_said: bool
    """Whether the submission or the object names it, or it is a guess."""
    priority: str
    job: JobConfig | None
    """What the configuration says of the type."""


def meaning(draft: Draft, submission: Submission, config: QueueConfig) -> Meaning:
    """A submission's own words count before the object's, the object's before what is usual for its kind."""
    job_type = submission.job_type or draft.entry.job_type or draft.entry.kind.lower()
    label = draft.stated(QUEUE)
    typed = bool(submission.organisation) or config.job(job_type) is not None
    if submission.queue:
        queue, said = submission.queue, True
    elif submission.job_type or (typed and not label):
        queue, said = config.queue(job_type), True
    else:
        queue, said = label or DEFAULT, bool(label)
    return Meaning(job_type, queue, said, _priority(draft), config.job(job_type))


def _priority(draft: Draft) -> str:
    """The class it names itself, else the first that its pods name."""
    named = draft.stated(PRIORITY) or priority_class(draft.entry, draft.obj)
    if named:
        return named
    for shape in draft.shapes:
        if shape.place is not None and shape.place.pod_content.get("priorityClassName"):
            return str(shape.place.pod_content["priorityClassName"])
    return ""


def with_priority(draft: Draft, settled: Meaning) -> Draft:
    """Pods with the priority class, unless some of them name one themselves."""
    places = [shape.place for shape in draft.shapes if shape.place is not None]
    if not settled.priority or any(inside(draft.obj, place.pod).get("priorityClassName") for place in places):
        return draft
    return draft.on_pods(spec={"priorityClassName": settled.priority})


def ceilings_noted(draft: Draft) -> Draft:
    """A ceiling that a person states has no counterpart where applications grow by themselves."""
    for shape in draft.shapes:
        for key in (f"{MAX_COUNT}.{shape.name}", MAX_COUNT):
            if draft.stated(key, field="annotations"):
                draft = draft.noted(Fate.DROPPED, key, "nothing keeps the application from growing beyond it")
    return draft


def application_id(draft: Draft, submission: Submission) -> str:
    """`<resource type>-<id>`; without an id, a name that the pods of one object, or of one gang, share."""
    first = submission.resource_type or submission.job_type or draft.entry.kind.lower()
    if submission.id:
        return f"{first}-{submission.id}"
    group = pod_group(draft.entry, draft.obj)
    return shortened("-".join(filter(None, (first, draft.namespace, group.name if group else draft.name))))


def wants_gang(settled: Meaning, config: QueueConfig) -> bool:
    """Whether its pods are to start together: as configured for its type, and by default."""
    if config.jobs is None:
        return True
    return settled.job is not None and settled.job.gang is not None
