"""What a dialect is. Those of third parties are found by the entry point group `tidegate.dialects`.

A dialect has no state: what it knows of a submission comes in as arguments and goes out in the draft. One instance may
serve any number of threads.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from tidegate.dialects.draft import Draft
from tidegate.dialects.intent.config import QueueConfig
from tidegate.dialects.intent.submission import Submission


@runtime_checkable
class Dialect(Protocol):
    """The same intent in the words of one scheduler. The steps are called in this order."""

    name: str
    """What `scheduler` in a queueconfig, and `--for`, call it."""

    def set_scheduler_name(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        """With the pods given to the scheduler, where it is one that places pods."""
        ...

    def create_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        """With queue, user and application where the scheduler reads them."""
        ...

    def create_group_labels(self, draft: Draft, submission: Submission, config: QueueConfig) -> Draft:
        """With what makes its pods a gang."""
        ...
