"""What Tidegate writes on other people's objects, and what it calls theirs: labels, annotations, gates and names."""

from __future__ import annotations

import hashlib

from tidegate.model.jobs import Obj, inside

QUEUE = "tidegate.dev/queue"
"""Label: the Queue. On pods that were granted, an annotation too: the Queue whose quota they use."""
PRIORITY_CLASS = "tidegate.dev/priority-class"
"""Label: the PriorityClass."""
WORKLOAD = "tidegate.dev/workload"
"""Annotation of applications and pods: the Workload."""
POD_SET = "tidegate.dev/pod-set"
"""Annotation of pods: the pod set of that Workload."""
FLAVOR = "tidegate.dev/flavor"
"""Annotation of pods: the flavor they were granted. Of applications whose pods another object describes, and which
cannot be marked: that of each pod set, as JSON."""
REQUESTS = "tidegate.dev/requests"
"""Annotation of pods that Tidegate makes itself: what each was granted, as JSON. What servers put into them besides
(a mesh's sidecars) is not among it."""
GRANTED = "tidegate.dev/granted"
"""Annotation of applications: granted counts as JSON."""
BEFORE = "tidegate.dev/before"
"""Annotation of applications: what was written into them, and what was there before."""
SUBMITTER = "tidegate.dev/submitter"
"""Annotation of applications: who created them, as JSON; written by the door alone."""
POD_DEFAULTS = "tidegate.dev/pod-defaults"
"""Annotation of Workloads: what the server filled into pods when it was asked for, as JSON, where that was anything."""
GATE = "tidegate.dev/quota"
"""Scheduling gate of pods that wait to be granted."""

_LONGEST = 253


def workload_name(prefix: str, name: str) -> str:
    """What the Workload of an application is called: `job-etl`. Names that would be too long end in a digest. The
    prefix is the kind, or what the table of kinds has for it where two groups have the same (`Kinds.prefix`)."""
    whole = f"{prefix.lower()}-{name}"
    if len(whole) <= _LONGEST:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:10]
    return f"{whole[: _LONGEST - 11].rstrip('-.')}-{digest}"


def queue_of(obj: Obj) -> str | None:
    """The Queue an object names; None where it names none."""
    named = inside(obj, ("metadata", "labels")).get(QUEUE)
    return str(named) if named else None
