"""Volcano: a PodGroup beside the object, and pods that name it."""

from __future__ import annotations

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.intent.config import QueueConfig
from tidegate.dialects.intent.meaning import ceilings_noted, meaning, wants_gang
from tidegate.dialects.intent.policy import Word, other_scheduler_noted, scheduling_policy, unread_noted
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.names import dns_name
from tidegate.dialects.targets import podgroups

# Volcano's scheduler reads this key, not the one with its own name in it.
GROUP_NAME = "scheduling.k8s.io/group-name"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
TASK_SPEC, PREEMPTABLE = "volcano.sh/task-spec", "volcano.sh/preemptable"


def queue_of(draft: Draft, submission: Submission, config: QueueConfig) -> str:
    """Volcano's queues are cluster-wide, so a tenant's queue has the tenant in its name."""
    settled = meaning(draft, submission, config)
    stated = scheduling_policy(draft).queue or draft.stated(QUEUE_NAME, field="annotations")
    if submission.queue:
        named = submission.queue
    elif submission.organisation:
        named = f"{submission.organisation}-{settled.queue}"
    else:
        named = settled.queue if submission.job_type or not stated else stated
    return dns_name(named, "the queue")


class Volcano:
    """PodGroup, annotations and schedulerName for Volcano."""

    name = "volcano"

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        draft.check_pods(written=True)
        return draft.on_pods(spec={"schedulerName": "volcano"})

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        draft = draft.on_pods(annotations={QUEUE_NAME: queue_of(draft, submission, config)})
        for shape in draft.shapes:
            draft = draft.on_pods(annotations={TASK_SPEC: shape.name}, only=shape.name)
        if settled.job is not None and settled.job.allow_preemption is not None:
            allowed = "true" if settled.job.allow_preemption else "false"
            draft = draft.on_pods(annotations={PREEMPTABLE: allowed})
        if submission.user:
            draft = draft.noted(
                Fate.DROPPED, "user", "Volcano keeps no account of users; use RBAC and one queue per tenant"
            )
        draft = unread_noted(
            other_scheduler_noted(draft, self.name), {Word.TIMEOUT: "Volcano waits as long as it takes"}
        )
        return ceilings_noted(draft)

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        if not wants_gang(settled, config):
            return draft.noted(Fate.DROPPED, "gang", "its pods start one by one; set gangscheduling for its job type")
        if settled.job is not None and settled.job.gang is not None:
            draft = draft.noted(Fate.DROPPED, "gangscheduling", f"Volcano has no counterpart of {settled.job.gang}")
        name = podgroups.pod_group_name(draft)
        if draft.entry.group == "sparkoperator.k8s.io":
            name = f"spark-{name}"
        spec: dict[str, object] = {"minMember": podgroups.members(draft)}
        if roles := podgroups.by_role(draft):
            spec["minTaskMember"] = roles
        spec["minResources"] = podgroups.resources(draft)
        spec["queue"] = queue_of(draft, submission, config)
        if settled.priority:
            spec["priorityClassName"] = settled.priority
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
        draft = draft.beside({**group, "metadata": podgroups.metadata(draft, name), "spec": spec})
        if draft.entry.makes is not None:
            draft = draft.noted(Fate.CHANGED, "PodGroup", "all runs share one PodGroup, as they share a template")
        return podgroups.noted_owner(draft).on_pods(annotations={GROUP_NAME: name})
