"""The co-scheduling plugin of Kubernetes' own scheduler (scheduler-plugins): a PodGroup, and pods labelled with it."""

from __future__ import annotations

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.intent.config import QueueConfig
from tidegate.dialects.intent.meaning import ceilings_noted, meaning, wants_gang, with_priority
from tidegate.dialects.intent.policy import Word, other_scheduler_noted, scheduling_policy, unread_noted
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.names import label_value
from tidegate.dialects.targets import podgroups

POD_GROUP = "scheduling.x-k8s.io/pod-group"
SCHEDULER = "scheduler-plugins-scheduler"


class SchedulerPlugins:
    """PodGroup, label and schedulerName for scheduler-plugins. It has gangs and no queues."""

    name = "scheduler-plugins"

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        draft.check_pods(written=True)
        return draft.on_pods(spec={"schedulerName": SCHEDULER})

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        if settled.is_queue_said:
            draft = draft.noted(
                Fate.DROPPED, f"queue {settled.queue}", "scheduler-plugins has no queues; use ElasticQuota"
            )
        if submission.user:
            draft = draft.noted(Fate.DROPPED, "user", "scheduler-plugins keeps no account of users")
        if settled.job is not None and settled.job.allow_preemption is not None:
            draft = draft.noted(Fate.DROPPED, "allow-preemption", "set preemptionPolicy in a PriorityClass instead")
        draft = unread_noted(
            other_scheduler_noted(draft, "kube-scheduler"), {Word.QUEUE: "scheduler-plugins has no queues"}
        )
        return ceilings_noted(with_priority(draft, settled))

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        if not wants_gang(settled, config):
            return draft.noted(Fate.DROPPED, "gang", "its pods start one by one; set gangscheduling for its job type")
        name = draft.name if draft.entry.group == "ray.io" else podgroups.pod_group_name(draft)
        label_value(name, "the pod group")
        spec: dict[str, object] = {"minMember": max(podgroups.members(draft), 1)}
        spec["minResources"] = podgroups.resources(draft)
        configured = settled.job.gang.timeout_s if settled.job is not None and settled.job.gang is not None else 0
        if timeout_s := configured or scheduling_policy(draft).timeout_s:
            spec["scheduleTimeoutSeconds"] = timeout_s
        group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup"}
        draft = draft.beside({**group, "metadata": podgroups.metadata(draft, name), "spec": spec})
        return podgroups.noted_owner(draft).on_pods(labels={POD_GROUP: name})
