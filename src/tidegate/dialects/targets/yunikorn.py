"""Apache YuniKorn: it reads pods and nothing else, so everything goes to the pod templates of every role."""

from __future__ import annotations

import json
from dataclasses import replace

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.intent.config import QueueConfig
from tidegate.dialects.intent.gang import TIMEOUT, as_yunikorn_reads
from tidegate.dialects.intent.meaning import Meaning, application_id, ceilings_noted, meaning, wants_gang, with_priority
from tidegate.dialects.intent.policy import Word, other_scheduler_noted, scheduling_policy, unread_noted
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.names import fit, label_value, plain, queue_level
from tidegate.dialects.targets.taskgroups import group_name, task_groups
from tidegate.model.jobs import Form, inside, pod_group

PREFIX = "yunikorn.apache.org"
APP_ID, QUEUE, USER_INFO = f"{PREFIX}/app-id", f"{PREFIX}/queue", f"{PREFIX}/user.info"
TASK_GROUP_NAME, TASK_GROUPS = f"{PREFIX}/task-group-name", f"{PREFIX}/task-groups"
PARAMETERS, ALLOW_PREEMPTION = f"{PREFIX}/schedulingPolicyParameters", f"{PREFIX}/allow-preemption"
# Shims before 1.6, KubeRay and spark-operator know these only.
LEGACY_APP_ID, LEGACY_QUEUE = "applicationId", "queue"
RAY_GANG = "ray.io/gang-scheduling-enabled"
_UNREAD = {
    Word.MEMBERS: "YuniKorn counts by role, and waits for the minimum of each",
    Word.RESOURCES: "YuniKorn counts by role what its pods need",
    Word.TIMEOUT: f"set {TIMEOUT} in gangscheduling of the queueconfig",
}


class Yunikorn:
    """Labels, annotations and schedulerName for YuniKorn."""

    name = "yunikorn"

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        draft.check_pods(written=True)
        return draft.on_pods(spec={"schedulerName": "yunikorn"})

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        draft, application = _application(draft, submission, gang=_is_gang(draft, settled, config))
        labels = {**application, **_queue(draft, submission, settled)}
        draft = _without_clash(draft, labels)
        if APP_ID in labels and not draft.stated(APP_ID, LEGACY_APP_ID) and pod_group(draft.entry, draft.obj) is None:
            draft = draft.sharing_noted()
        draft = draft.on_pods(labels=labels)
        if draft.entry.makes is not None and LEGACY_APP_ID in labels:
            draft = draft.noted(
                Fate.CHANGED, "application", "all runs share one application id, as they share a template"
            )
        draft = _user(draft, submission)
        if settled.job is not None and settled.job.allow_preemption is not None:
            allowed = "true" if settled.job.allow_preemption else "false"
            draft = draft.on_pods(annotations={ALLOW_PREEMPTION: allowed})
        draft = unread_noted(other_scheduler_noted(draft, self.name), _UNREAD)
        return ceilings_noted(with_priority(draft, settled))

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        if not _is_gang(draft, settled, config):
            return draft.noted(Fate.DROPPED, "gang", "its pods start one by one; set gangscheduling for its job type")
        draft, groups = task_groups(draft)
        if not groups:
            return draft
        whole = {TASK_GROUPS: json.dumps(groups, separators=(",", ":"))}
        if settled.job is not None and settled.job.gang is not None:
            whole[PARAMETERS] = str(settled.job.gang)
        else:
            draft = _as_it_is_read(draft)
        named = {group["name"] for group in groups}
        for shape in draft.shapes:
            name = group_name(draft, shape)
            # A driver is there before any executor, so its word is the one that is read.
            first = shape.place is not None and (shape.place.form is not Form.SPARK or not shape.later)
            own = {TASK_GROUP_NAME: name} if name in named else {}
            draft = draft.on_pods(annotations={**own, **(whole if first else {})}, only=shape.name)
        return draft


def _application(draft: Draft, submission: Submission, *, gang: bool) -> tuple[Draft, dict[str, str]]:
    stated = draft.stated(APP_ID, LEGACY_APP_ID)
    if draft.entry.kind == "ScheduledSparkApplication" and not submission.id and not stated:
        return draft, {}  # Spark labels the pods of each run with an id of its own, which YuniKorn reads as well.
    given = application_id(draft, submission) if submission.id or not stated else stated
    app_id = label_value(given, "the application id")
    if gang and fit(given) != given:
        # Placeholders are pods called after the application, and pods' names have no capitals and no underscores.
        what = replace(submission, resource_type=plain(submission.resource_type), job_type=plain(submission.job_type))
        app_id = fit(application_id(draft, what) if submission.id or not stated else stated)
        why = f'"{given}" became "{app_id}", since the placeholders of a gang are pods that are called after it'
        draft = draft.noted(Fate.CHANGED, "application", why)
    return draft, {APP_ID: app_id, LEGACY_APP_ID: app_id}


def _queue(draft: Draft, submission: Submission, settled: Meaning) -> dict[str, str]:
    stated = draft.stated(QUEUE, LEGACY_QUEUE) or scheduling_policy(draft).queue
    if submission.queue:
        path = _rooted(submission.queue)
    elif submission.organisation:
        levels = (queue_level(submission.organisation, "the organisation"), queue_level(settled.queue, "the queue"))
        path = ".".join(("root", *levels))
    elif submission.job_type or not stated:
        path = f"root.{queue_level(settled.queue, 'the queue')}"
    else:
        path = _rooted(stated)
    label_value(path, "the queue")
    return {QUEUE: path, LEGACY_QUEUE: path}


def _rooted(path: str) -> str:
    """A path that does not begin at the root would be taken for the name of one queue."""
    return path if path == "root" or path.startswith("root.") else f"root.{path}"


def _without_clash(draft: Draft, labels: dict[str, str]) -> Draft:
    """Old-style names are plain words that an application may use for itself; YuniKorn then reads the new ones."""
    for key in (LEGACY_APP_ID, LEGACY_QUEUE):
        own = draft.stated(key)
        if key in labels and own and own != labels[key]:
            draft = draft.noted(Fate.CHANGED, f"label {key}", f'"{own}" became "{labels[key]}"')
    return draft


def _user(draft: Draft, submission: Submission) -> Draft:
    if not submission.user:
        return draft.noted(
            Fate.NEEDS,
            "user",
            "none is given, so YuniKorn takes whoever creates the pods; give a user for access by user",
        )
    who = json.dumps({"user": submission.user, "groups": list(submission.groups)}, separators=(",", ":"))
    draft = draft.on_pods(annotations={USER_INFO: who})
    return draft.noted(
        Fate.NEEDS,
        "user",
        "YuniKorn's admission controller must trust whoever creates the pods; list that account in its accessControl",
    )


def _is_gang(draft: Draft, settled: Meaning, config: QueueConfig) -> bool:
    return wants_gang(settled, config) and not _is_ray_without_gang(draft, config)


def _is_ray_without_gang(draft: Draft, config: QueueConfig) -> bool:
    """Whoever labels a Ray object for YuniKorn as KubeRay wants it asks for a gang by a further label."""
    labels = inside(draft.obj, ("metadata", "labels"))
    speaks = draft.entry.group == "ray.io" and bool({APP_ID, QUEUE} & labels.keys())
    return config.jobs is None and speaks and RAY_GANG not in labels


def _as_it_is_read(draft: Draft) -> Draft:
    """Parameters the object brings along are kept; what YuniKorn makes of them is said."""
    text = draft.stated(PARAMETERS, field="annotations")
    if text and str(read := as_yunikorn_reads(text)) != text.strip():
        return draft.noted(Fate.CHANGED, PARAMETERS, f'YuniKorn reads "{text}" as {read}')
    return draft
