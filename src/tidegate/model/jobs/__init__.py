"""Kinds of jobs as data: where each kind keeps its pods, counts, suspend field and outcome.

`kinds.yaml` is the table; a user's own file has the same form and needs no Python. Functions here read objects by an
entry and give new objects back. What is done with them (a Workload, another scheduler's labels) is not known here.
"""

from __future__ import annotations

from tidegate.model.jobs.entry import JobKind, parse_kinds
from tidegate.model.jobs.language.edit import inside, merge, peek, put, without
from tidegate.model.jobs.language.paths import JobError, Obj, Scope, mapping, sequence
from tidegate.model.jobs.pods.places import Form, PodPlace
from tidegate.model.jobs.pods.requests import container_requests, pod_requests
from tidegate.model.jobs.pods.shapes import MAX_COUNT, MIN_COUNT, PodSetShape, fit_name, podsets
from tidegate.model.jobs.state import (
    Outcome,
    PodGroup,
    children,
    is_at_rest,
    is_finished,
    is_gated,
    is_suspended,
    max_run_seconds,
    never_started,
    outcome,
    pod_group,
    priority_class,
    queue_name,
    refusal,
    with_suspend,
)
from tidegate.model.jobs.table import Kinds, builtin, templates

__all__ = [
    "MAX_COUNT",
    "MIN_COUNT",
    "Form",
    "JobError",
    "JobKind",
    "Kinds",
    "Obj",
    "Outcome",
    "PodGroup",
    "PodPlace",
    "PodSetShape",
    "Scope",
    "builtin",
    "children",
    "container_requests",
    "fit_name",
    "inside",
    "is_at_rest",
    "is_finished",
    "is_gated",
    "is_suspended",
    "mapping",
    "max_run_seconds",
    "merge",
    "never_started",
    "outcome",
    "parse_kinds",
    "peek",
    "pod_group",
    "pod_requests",
    "podsets",
    "priority_class",
    "put",
    "queue_name",
    "refusal",
    "sequence",
    "templates",
    "with_suspend",
    "without",
]
