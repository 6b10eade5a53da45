"""A world in memory for one Job: applies its plans as an API server and a kubelet would, and keeps its own books."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from tidegate.local.controllers.job.backoff import NO_FAILURES, Backoff
from tidegate.local.controllers.job.objects import TRACKING, Job, Uncounted, index_of, tracked
from tidegate.local.controllers.job.plan import JobPlan, plan_job
from tidegate.local.controllers.job.template import pod_for
from tidegate.local.controllers.pods import Pod
from tidegate.model.indexes import parse_indexes

START = datetime(2026, 1, 1, tzinfo=UTC)
TEMPLATE = {
    "metadata": {"labels": {"job": "j"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "host"}]},
}


def job_of(**spec: Any) -> Job:
    body = {
        "metadata": {"name": "j", "namespace": "n", "uid": "job-uid", "generation": 1},
        "spec": {"template": TEMPLATE, "selector": {"matchLabels": {"job": "j"}}, **spec},
    }
    return msgspec.convert(body, Job)


class Crash(Exception):
    """The controller dies here; what was written so far stays."""


@dataclass
class World:
    job: Job
    now: datetime = START
    pods: dict[str, Pod] = field(default_factory=dict)
    backoff: Backoff = NO_FAILURES
    dropped: set[str] = field(default_factory=set)
    listed_succeeded: set[str] = field(default_factory=set)
    listed_failed: set[str] = field(default_factory=set)
    done_indexes: set[int] = field(default_factory=set)
    """Indexes of which a pod has succeeded while it was tracked."""
    ended: dict[str, str] = field(default_factory=dict)
    """The last phase of every pod whose finalizer went after it was seen."""
    made: int = 0

    def look(self, *, writes: int | None = None) -> JobPlan | None:
        """One look of the controller, which dies after so many writes if a number is given."""
        if self.job.finished:
            return None
        plan = plan_job(self.job, self.pods.values(), self.now, backoff=self.backoff)
        try:
            self._apply(plan, Budget(writes))
        except Crash:
            self.backoff = NO_FAILURES
        return plan

    def settle(self, most: int = 200) -> None:
        """Looks until nothing is left to do at this moment."""
        for _ in range(most):
            before = (self.job, dict(self.pods))
            self.look()
            if before == (self.job, self.pods):
                return
        raise AssertionError("it never comes to rest")

    def _apply(self, plan: JobPlan, budget: Budget) -> None:
        for pod in plan.drop:
            budget.spend()
            self.dropped.add(pod.uid)
            self._strip(pod.uid)
        for pod in [*plan.delete, *plan.drop]:
            budget.spend()
            self.delete(pod.uid)
        for new in plan.create:
            budget.spend()
            self._create(pod_for(self.job, new))
        budget.spend()
        self._write_status(plan)
        self.backoff = plan.backoff
        for pod in plan.release:
            budget.spend()
            self.ended[pod.uid] = self.pods[pod.uid].status.phase
            self._strip(pod.uid)

    def _create(self, body: dict[str, Any]) -> None:
        self.made += 1
        metadata = body["metadata"] | {"name": f"p{self.made}", "namespace": "n", "uid": f"uid-{self.made:05}"}
        metadata["creationTimestamp"] = self.now.isoformat()
        pod = msgspec.convert(body | {"metadata": metadata, "status": {"phase": "Pending"}}, Pod)
        self.pods[pod.uid] = pod

    def _write_status(self, plan: JobPlan) -> None:
        uncounted = plan.status.uncounted_terminated_pods or Uncounted()
        self.listed_succeeded |= set(uncounted.succeeded)
        self.listed_failed |= set(uncounted.failed)
        self.job = replace(self.job, status=plan.status)
        self.check()

    def check(self) -> None:
        """The laws of counting, at every write of the status."""
        status, uncounted = self.job.status, self.job.status.uncounted_terminated_pods or Uncounted()
        assert not self.listed_succeeded & self.listed_failed
        assert status.failed == len(self.listed_failed - set(uncounted.failed))
        assert len(uncounted.failed) == len(set(uncounted.failed))
        assert not (self.listed_succeeded | self.listed_failed) & self.dropped
        if self.job.indexed:
            completions = self.job.spec.completions or 0
            told = parse_indexes(status.completed_indexes, completions)
            assert told <= self.done_indexes
            assert status.succeeded == len(told)
        else:
            assert status.succeeded == len(self.listed_succeeded - set(uncounted.succeeded))

    # What the kubelet and users do.

    def start(self, uid: str) -> None:
        self._status(uid, phase="Running", conditions=[{"type": "Ready", "status": "True"}])

    def succeed(self, uid: str) -> None:
        index = index_of(self.pods[uid])
        if tracked(self.pods[uid]) and index is not None:
            self.done_indexes.add(index)
        self._status(uid, phase="Succeeded", containerStatuses=[self._ended(0)])
        self._reap(uid)

    def fail(self, uid: str, exit_code: int = 1) -> None:
        self._status(uid, phase="Failed", containerStatuses=[self._ended(exit_code)])
        self._reap(uid)

    def delete(self, uid: str) -> None:
        pod = self.pods.get(uid)
        if pod is not None and pod.metadata.deletion_timestamp is None:
            self.pods[uid] = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=self.now))
            self._reap(uid)

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def change(self, **spec: Any) -> None:
        self.job = replace(self.job, spec=replace(self.job.spec, **spec))

    @property
    def running(self) -> list[str]:
        return [uid for uid, pod in self.pods.items() if not pod.finished]

    @property
    def active(self) -> list[str]:
        return [uid for uid, pod in self.pods.items() if pod.active]

    @property
    def decided(self) -> bool:
        """Whether the Job's end is certain, even if it has not come yet."""
        return bool(self.conditions().keys() & {"SuccessCriteriaMet", "FailureTarget"})

    def conditions(self) -> dict[str, tuple[str, str]]:
        return {each.type: (each.status, each.reason) for each in self.job.status.conditions}

    def _ended(self, exit_code: int) -> dict[str, Any]:
        finished = {"exitCode": exit_code, "finishedAt": self.now.isoformat()}
        return {"name": "main", "state": {"terminated": finished}}

    def _status(self, uid: str, **status: Any) -> None:
        pod = self.pods[uid]
        before = msgspec.to_builtins(pod.status)
        self.pods[uid] = msgspec.convert(msgspec.to_builtins(pod) | {"status": before | status}, Pod)

    def _strip(self, uid: str) -> None:
        if pod := self.pods.get(uid):
            left = tuple(name for name in pod.metadata.finalizers if name != TRACKING)
            self.pods[uid] = replace(pod, metadata=replace(pod.metadata, finalizers=left))
            self._reap(uid)

    def _reap(self, uid: str) -> None:
        """A deleted pod goes when it has ended (one that never started ends at once) and nothing holds it."""
        pod = self.pods[uid]
        gone = pod.finished or pod.status.phase == "Pending"
        if pod.metadata.deletion_timestamp and gone and not pod.metadata.finalizers:
            del self.pods[uid]


@dataclass
class Budget:
    left: int | None

    def spend(self) -> None:
        if self.left is not None:
            if self.left == 0:
                raise Crash
            self.left -= 1
