"""A Job as its controller sees it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tidegate.kube.wire import Resource
from tidegate.local.controllers.objects import Condition, Meta, Struct
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.selectors import LabelSelector

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
INDEX_IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
CONTROLLER_NAME = "kubernetes.io/job-controller"


class OnExitCodes(Struct, frozen=True):
    operator: str
    values: tuple[int, ...] = ()
    container_name: str | None = None


class OnPodCondition(Struct, frozen=True):
    type: str
    status: str = "True"


class FailureRule(Struct, frozen=True):
    action: str
    on_exit_codes: OnExitCodes | None = None
    on_pod_conditions: tuple[OnPodCondition, ...] = ()


class FailurePolicy(Struct, frozen=True):
    rules: tuple[FailureRule, ...] = ()


class SuccessRule(Struct, frozen=True):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(Struct, frozen=True):
    rules: tuple[SuccessRule, ...] = ()


class JobSpec(Struct, frozen=True):
    template: dict[str, Any] = msgspec.field(default_factory=dict)
    selector: LabelSelector | None = None
    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    pod_failure_policy: FailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    pod_replacement_policy: str = "TerminatingOrFailed"
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    managed_by: str = CONTROLLER_NAME


class Uncounted(Struct, frozen=True):
    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.succeeded and not self.failed


class JobStatus(Struct, frozen=True):
    conditions: tuple[Condition, ...] = ()
    start_time: datetime | None = None
    completion_time: datetime | None = None
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    ready: int | None = None
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: Uncounted | None = None


class Job(Struct, frozen=True):
    metadata: Meta
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def indexed(self) -> bool:
        return self.spec.completion_mode == "Indexed"

    @property
    def per_index(self) -> bool:
        """Whether each index has a back-off limit of its own."""
        return self.indexed and self.spec.backoff_limit_per_index is not None

    @property
    def replaces_only_failed(self) -> bool:
        """Whether a terminating pod is replaced only once it has failed; a failure policy needs its exit code first."""
        return self.spec.pod_replacement_policy == "Failed" or self.spec.pod_failure_policy is not None

    @property
    def ours(self) -> bool:
        return self.spec.managed_by == CONTROLLER_NAME

    @property
    def finished(self) -> bool:
        return any(each.type in {"Complete", "Failed"} and each.true for each in self.status.conditions)


JOBS = Resource("batch", "v1", "jobs", "Job", type=Job)


def index_of(pod: Pod) -> int | None:
    """Its completion index; None if it has none that is one."""
    text = pod.metadata.annotations.get(INDEX, "")
    return int(text) if text.isascii() and text.isdecimal() else None


def annotated_count(pod: Pod, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 else 0


def failed(pod: Pod, job: Job) -> bool:
    """A pod that is being deleted counts as failed, for it may never come to say so, unless the Job waits for that."""
    if pod.status.phase == "Failed":
        return True
    return pod.terminating and not job.replaces_only_failed


def tracked(pod: Pod) -> bool:
    return TRACKING in pod.metadata.finalizers


def template_policy(job: Job) -> str:
    """The restartPolicy of its pods."""
    return str(job.spec.template.get("spec", {}).get("restartPolicy", ""))


def copied(template: dict[str, Any]) -> dict[str, Any]:
    """A deep copy: the template in the cache is shared."""
    copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(template))
    return copy
