"""The translators: an application of any kind of the table to its Workload, and what was granted back into it.

    application ─► describe ─► Workload            who asks, for how many pods, of what size
    granted     ─► start    ─► application         let go: counts, node selectors and tolerations written in
                   within_grant                    somebody wants it larger: as large as it may be until then
                   stop     ─► application         held again, with all of that taken out

Pure: objects in, new objects out; nothing given is ever changed. Which Workload is admitted, and when anything is
written to an API server, is not known here.
"""

from tidegate.workloads.belonging import Above, belongs, is_granted
from tidegate.workloads.changes import marked_as, remembering, restored, unmarked
from tidegate.workloads.defaults import PodDefaults, pod_defaults
from tidegate.workloads.describe import classes_of_pods, describe, ended_pods, group_of, is_run_here, with_live
from tidegate.workloads.family import inheriting, is_part, maker_of, owners_named
from tidegate.workloads.let_go import LetGo, Written, flavors_noted, granted_to, let_go, said_active, written_into
from tidegate.workloads.names import (
    FLAVOR,
    GATE,
    GRANTED,
    POD_DEFAULTS,
    POD_SET,
    PRIORITY_CLASS,
    QUEUE,
    REQUESTS,
    SUBMITTER,
    WORKLOAD,
    queue_of,
    workload_name,
)
from tidegate.workloads.pods import PodFacts, asks_as, gated, lifted, pod_facts, pod_set_of
from tidegate.workloads.resized import Growth, held_as_it_is, holds, within_grant
from tidegate.workloads.start import Allowance, hold_pods, next_step, start, stop

__all__ = [
    "FLAVOR",
    "GATE",
    "GRANTED",
    "POD_DEFAULTS",
    "POD_SET",
    "PRIORITY_CLASS",
    "QUEUE",
    "REQUESTS",
    "SUBMITTER",
    "WORKLOAD",
    "Above",
    "Allowance",
    "Growth",
    "LetGo",
    "PodDefaults",
    "PodFacts",
    "Written",
    "asks_as",
    "belongs",
    "classes_of_pods",
    "describe",
    "ended_pods",
    "flavors_noted",
    "gated",
    "granted_to",
    "group_of",
    "held_as_it_is",
    "hold_pods",
    "holds",
    "inheriting",
    "is_granted",
    "is_part",
    "is_run_here",
    "let_go",
    "lifted",
    "maker_of",
    "marked_as",
    "next_step",
    "owners_named",
    "pod_defaults",
    "pod_facts",
    "pod_set_of",
    "queue_of",
    "remembering",
    "restored",
    "said_active",
    "start",
    "stop",
    "unmarked",
    "with_live",
    "within_grant",
    "workload_name",
    "written_into",
]
