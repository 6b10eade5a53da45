"""The judgement: who gets what, who gives way, and why everybody else waits.

    Snapshot ─► plan(snapshot, now) ─► Plan

Read `cycle` first: it is the story. `snapshot` and `plan` are what goes in and comes out; `tree` is what there is,
`line` whose turn it is, `room` who gives way, `fair` what everybody deserves. `planner` keeps it all between cycles.

Everything here is pure: no clock, randomness, async, logging or I/O, no floats; it imports `tidegate.model` and nothing
else of ours. Entry points for policies are looked up by whoever calls `plan`.
"""

from tidegate.scheduler.plan import Cause, Eviction, Grant, Plan, Rule, Shrink, Standing, Start, Waiting
from tidegate.scheduler.planner import Planner, plan
from tidegate.scheduler.policies import BUILT_IN, Candidate, Policies, Policy
from tidegate.scheduler.reasons import message
from tidegate.scheduler.snapshot import Instant, Node, PodSet, Snapshot, Taint, Workload

__all__ = [
    "BUILT_IN",
    "Candidate",
    "Cause",
    "Eviction",
    "Grant",
    "Instant",
    "Node",
    "Plan",
    "Planner",
    "PodSet",
    "Policies",
    "Policy",
    "Rule",
    "Shrink",
    "Snapshot",
    "Standing",
    "Start",
    "Taint",
    "Waiting",
    "Workload",
    "message",
    "plan",
]
