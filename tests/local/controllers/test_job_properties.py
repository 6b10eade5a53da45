"""Whatever happens to the pods of a Job, its counts are right in the end."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.local.controllers.job_world import World, job_of
from tidegate.local.controllers.job.objects import index_of
from tidegate.model.indexes import format_indexes, parse_indexes

POLICIES: list[dict[str, Any] | None] = [
    None,
    {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [3]}}]},
    {"rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [3]}}]},
    {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [4]}}]},
]


@st.composite
def shapes(draw: st.DrawFn) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "parallelism": draw(st.integers(0, 4)),
        "completions": draw(st.one_of(st.none(), st.integers(0, 6))),
        "backoffLimit": draw(st.integers(0, 8)),
        "podReplacementPolicy": draw(st.sampled_from(["TerminatingOrFailed", "Failed"])),
        "suspend": draw(st.booleans()),
    }
    if spec["completions"] is not None and draw(st.booleans()):
        spec["completionMode"] = "Indexed"
        if draw(st.booleans()):
            spec |= {"backoffLimitPerIndex": draw(st.integers(0, 2)), "backoffLimit": 2**31 - 1}
            spec["maxFailedIndexes"] = draw(st.one_of(st.none(), st.integers(0, 3)))
        if draw(st.booleans()):
            spec["successPolicy"] = {"rules": [{"succeededCount": draw(st.integers(1, 4))}]}
    if policy := draw(st.sampled_from(POLICIES)):
        spec["podFailurePolicy"] = policy
        spec["podReplacementPolicy"] = "Failed"
    return {key: value for key, value in spec.items() if value is not None}


class JobHistory(RuleBasedStateMachine):
    """Any Job, any history of its pods, and a controller that may die after any write."""

    world: World

    @initialize(shape=shapes())
    def begin(self, shape: dict[str, Any]) -> None:
        self.world = World(job_of(**shape))

    @rule()
    def look(self) -> None:
        self.world.look()

    @rule(writes=st.integers(0, 6))
    def look_and_die(self, writes: int) -> None:
        self.world.look(writes=writes)

    @rule(releases=st.integers(0, 2))
    def look_and_die_while_counting(self, releases: int) -> None:
        """The moment that matters most: the status is written, some finalizers are off and others are not."""
        if not self.world.job.finished:
            plan = self.world_plan()
            pods = len(plan.create) + len(plan.delete) + 2 * len(plan.drop)
            self.world.look(writes=pods + 1 + releases)

    @precondition(lambda self: self.world.running)
    @rule(data=st.data())
    def start(self, data: st.DataObject) -> None:
        self.world.start(data.draw(st.sampled_from(self.world.running)))

    @precondition(lambda self: self.world.running)
    @rule(data=st.data())
    def succeed(self, data: st.DataObject) -> None:
        self.world.succeed(data.draw(st.sampled_from(self.world.running)))

    @precondition(lambda self: self.world.running)
    @rule(data=st.data(), exit_code=st.sampled_from([1, 3, 4]))
    def fail(self, data: st.DataObject, exit_code: int) -> None:
        self.world.fail(data.draw(st.sampled_from(self.world.running)), exit_code)

    @precondition(lambda self: self.world.pods)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        self.world.delete(data.draw(st.sampled_from(list(self.world.pods))))

    @rule(seconds=st.sampled_from([1, 15, 700]))
    def pass_time(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    @rule(suspend=st.booleans())
    def suspend_or_resume(self, suspend: bool) -> None:
        self.world.change(suspend=suspend)

    @rule(parallelism=st.integers(0, 4))
    def change_parallelism(self, parallelism: int) -> None:
        self.world.change(parallelism=parallelism)

    @precondition(lambda self: self.world.job.indexed and not self.world.decided)
    @rule(completions=st.integers(1, 6))
    def grow_or_shrink(self, completions: int) -> None:
        """Elastic Indexed Jobs: completions follow parallelism."""
        self.world.change(completions=completions, parallelism=completions)

    @invariant()
    def never_more_than_parallelism(self) -> None:
        if not hasattr(self, "world") or self.world.job.finished:
            return
        plan = self.world_plan()
        job = self.world.job
        staying = len(self.world.active) - len(plan.delete) - len(plan.drop)
        assert not plan.create or staying + len(plan.create) <= job.spec.parallelism
        if job.spec.completions is not None and plan.create and not job.indexed:
            assert job.status.succeeded + staying + len(plan.create) <= job.spec.completions

    @invariant()
    def no_index_runs_twice(self) -> None:
        if not hasattr(self, "world") or not self.world.job.indexed or self.world.job.finished:
            return
        plan = self.world_plan()
        leaving = {pod.uid for pod in (*plan.delete, *plan.drop)}
        staying = [index_of(self.world.pods[uid]) for uid in self.world.active if uid not in leaving]
        started = [*staying, *(new.index for new in plan.create)]
        if plan.create:
            assert len(started) == len(set(started))
            assert not {new.index for new in plan.create} & parse_indexes(
                self.world.job.status.completed_indexes, self.world.job.spec.completions or 0
            )

    def world_plan(self) -> Any:
        from tidegate.local.controllers.job.plan import plan_job

        return plan_job(self.world.job, self.world.pods.values(), self.world.now, backoff=self.world.backoff)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            run_to_the_end(self.world)


def run_to_the_end(world: World) -> None:
    """From here on everything goes well; the Job must finish, and its status must tell the truth."""
    if world.job.spec.parallelism == 0:
        world.change(parallelism=1)
    world.change(suspend=False)
    for _ in range(60):
        world.settle()
        if world.job.finished:
            break
        for uid in world.running:
            world.succeed(uid)
        world.pass_time(700)
    job, status = world.job, world.job.status
    assert job.finished, world.conditions()
    assert (status.active, status.terminating) == (0, 0)
    assert status.uncounted_terminated_pods is None or status.uncounted_terminated_pods.empty
    kinds = world.conditions()
    assert ("Complete" in kinds) != ("Failed" in kinds)
    if "Complete" in kinds:
        assert kinds["Complete"] == kinds["SuccessCriteriaMet"]
        assert status.completion_time is not None
        if job.indexed and not job.spec.success_policy:
            assert status.completed_indexes == format_indexes(range(job.spec.completions or 0))
        elif job.spec.success_policy is None:
            assert status.succeeded >= (1 if job.spec.completions is None else job.spec.completions)
    else:
        assert kinds["Failed"] == kinds["FailureTarget"]
    assert not any("batch.kubernetes.io/job-tracking" in pod.metadata.finalizers for pod in world.pods.values())


JobHistory.TestCase.settings = settings(
    max_examples=int(os.environ.get("JOB_EXAMPLES", "60")),
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestJobHistory = JobHistory.TestCase
