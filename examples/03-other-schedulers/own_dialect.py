"""A dialect of one's own, for a scheduler called nightshift.

A package offers it to Tidegate in its pyproject.toml:

    [project.entry-points."tidegate.dialects"]
    nightshift = "own_dialect:NightShift"
"""

from __future__ import annotations

from tidegate.dialects import Draft, Fate, QueueConfig, Submission

QUEUE = "nightshift.example.com/queue"


class NightShift:
    """Reads a label on pods, and knows no gangs."""

    name = "nightshift"

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        return draft.on_pods(spec={"schedulerName": "nightshift"})

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        job_type = submission.job_type or draft.entry.job_type or "default"
        return draft.on_pods(labels={QUEUE: f"{submission.organisation}-{config.queue(job_type)}"})

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        return draft.noted(Fate.DROPPED, "gang", "nightshift starts pods one by one")
