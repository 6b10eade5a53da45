"""Queue trees in the words of other schedulers, Kueue's trees in Tidegate's, and where a live one has drifted.

Only quotas and tree: jobs are rendered next door, in `targets`.
"""

from __future__ import annotations

from tidegate.dialects.queues.drift import Drift, drifts
from tidegate.dialects.queues.from_kueue import from_kueue
from tidegate.dialects.queues.rendering import QueueRendering
from tidegate.dialects.queues.to_kueue import to_kueue
from tidegate.dialects.queues.to_tidegate import to_tidegate
from tidegate.dialects.queues.to_volcano import to_volcano
from tidegate.dialects.queues.to_yunikorn import to_yunikorn
from tidegate.dialects.queues.tree import QueueTree, parse_tree

TARGETS = {"kueue": to_kueue, "yunikorn": to_yunikorn, "volcano": to_volcano, "tidegate": to_tidegate}
"""How a tree is written for a scheduler that has queues."""

__all__ = ["TARGETS", "Drift", "QueueRendering", "QueueTree", "drifts", "from_kueue", "parse_tree"]
