"""Tidegate itself: a label for the queue, one for the priority; floors are what the object and its kind say."""

from __future__ import annotations

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.intent.config import QueueConfig
from tidegate.dialects.intent.meaning import PRIORITY, QUEUE, meaning, wants_gang
from tidegate.dialects.intent.policy import Word, unread_noted
from tidegate.dialects.intent.submission import Submission
from tidegate.dialects.names import dns_name, label_value
from tidegate.model.jobs import MIN_COUNT

_UNREAD = {
    Word.QUEUE: "Tidegate reads its own label",
    Word.RESOURCES: "Tidegate counts the pods itself",
    Word.TIMEOUT: "a floor waits as long as it takes",
}


class Tidegate:
    """Labels and annotations for Tidegate, which places no pods and so leaves schedulerName alone."""

    name = "tidegate"

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        draft.check_pods(written=False)
        return draft

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        labels = {QUEUE: label_value(dns_name(settled.queue, "the queue"), "the queue")}
        if stated := draft.stated(PRIORITY):
            labels[PRIORITY] = label_value(stated, "the priority class")
        if submission.organisation:
            draft = draft.noted(
                Fate.NEEDS,
                "organisation",
                f"the Queue {settled.queue} must lead to ClusterQueue {submission.organisation}",
            )
        if submission.user:
            draft = draft.noted(
                Fate.DROPPED, "user", "who submits is known from the request; see submitters of a ClusterQueue"
            )
        if settled.job is not None and settled.job.allow_preemption is not None:
            draft = draft.noted(Fate.DROPPED, "allow-preemption", "set preemption on the ClusterQueue")
        draft = unread_noted(draft, _UNREAD)
        if draft.entry.kind != "QueueJob":
            draft = unread_noted(draft, {Word.MEMBERS: f"Tidegate reads {MIN_COUNT}"})
        return draft.on_object(labels=labels).on_pods(labels=labels)

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        settled = meaning(draft, submission, config)
        if settled.job is not None and settled.job.gang is not None:
            draft = draft.noted(
                Fate.DROPPED, "gangscheduling", "a floor waits as long as it takes; placeholders are not needed"
            )
        if wants_gang(settled, config) or draft.stated(MIN_COUNT, field="annotations"):
            return draft
        # Pods one by one: nothing is waited for together.
        return draft.on_object(annotations={MIN_COUNT: "0"})
