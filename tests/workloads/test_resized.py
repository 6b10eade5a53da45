"""Whoever makes an application larger that runs is heard, and given no more than was granted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import builtin, is_suspended, peek, podsets, put, with_suspend, without
from tidegate.workloads import (
    FLAVOR,
    WORKLOAD,
    Allowance,
    describe,
    granted_to,
    held_as_it_is,
    marked_as,
    remembering,
    restored,
    start,
    stop,
    within_grant,
)

Json = Any
few = settings(max_examples=20)
HELD = [kind for kind in KINDS if builtin().of(sample(kind)).suspend and builtin().of(sample(kind)).makes is None]
JOB = builtin().of(sample("Job"))
GATE = {"name": "tidegate.dev/quota"}
PARALLELISM = ("spec", "parallelism")
REPLICAS = ("spec", "workerGroupSpecs", 0, "replicas")


def held(kind: str) -> Json:
    return with_suspend(builtin().of(sample(kind)), sample(kind), True)


def granted(kind: str, obj: Json, data: st.DataObject) -> dict[str, Allowance]:
    """At most what it asks for, as whoever grants sees to."""
    shapes = podsets(builtin().of(obj), obj, find=builtin().find)
    most = {shape.name: shape.count - shape.reclaimed for shape in shapes}
    return {name: Allowance(count=data.draw(st.integers(0, count)), flavor="a100") for name, count in most.items()}


def job(parallelism: int, allowed: int) -> Json:
    obj = without(put(held("Job"), PARALLELISM, parallelism), ("spec", "completions"))
    return start(JOB, obj, "w", {"main": Allowance(count=allowed, flavor="a100")})


@pytest.mark.parametrize("kind", HELD)
@few
@given(data=st.data())
def test_what_tidegate_writes_itself_passes_unchanged(kind: str, data: st.DataObject) -> None:
    entry, obj = builtin().of(sample(kind)), held(kind)
    first = start(entry, obj, "w", granted(kind, obj, data))
    assert within_grant(entry, obj, first)[0] == first, "let go"
    second = start(entry, first, "w", granted(kind, obj, data))
    assert within_grant(entry, first, second)[0] == second, "grown or shrunk"


sizes = st.integers(1, 9)


@given(had=sizes, allowed=sizes, wanted=sizes, later=sizes)
def test_a_job_runs_with_what_was_granted_and_no_wish_is_lost(had: int, allowed: int, wanted: int, later: int) -> None:
    allowed = min(had, allowed)
    running = job(had, allowed)
    edited = put(running, PARALLELISM, wanted)
    kept, growth = within_grant(JOB, running, edited)
    # Who writes the number that is there says nothing: it is what we wrote.
    wish = had if wanted == allowed else wanted
    assert kept["spec"]["parallelism"] == min(wish, allowed)
    assert describe(JOB, kept).spec.pod_sets[0].count == wish
    assert bool(growth) is (wish > allowed)
    assert within_grant(JOB, running, kept)[0] == kept
    more = {"main": Allowance(count=min(wish, later), flavor="a100")}
    assert start(JOB, kept, "w", more) == start(JOB, edited, "w", more)
    assert stop(JOB, kept)["spec"]["parallelism"] == wish


def test_places_of_pods_that_ended_are_not_used_again() -> None:
    """Of four pods three have ended and one was still granted; four more are asked for. They would have run at once."""
    done = {"succeeded": 3}
    running = put(put(job(4, 4), ("spec", "completions"), 4), ("status",), done)
    edited = put(put(running, PARALLELISM, 8), ("spec", "completions"), 8)
    assert within_grant(JOB, running, edited)[0]["spec"]["parallelism"] == 1


def test_pods_of_a_kind_that_has_no_size_to_write_are_gated_from_then_on() -> None:
    entry, obj = builtin().of(sample("RayCluster")), held("RayCluster")
    shapes = podsets(entry, obj, find=builtin().find)
    running = start(entry, obj, "w", {each.name: Allowance(count=each.count, flavor="a100") for each in shapes})
    group = next(each for each in shapes if each.place and each.place.pod[1] == "workerGroupSpecs")
    assert group.place is not None
    assert peek(running, group.place.annotations)[FLAVOR] == "a100"
    edited = put(running, REPLICAS, peek(obj, REPLICAS) + 2)
    kept, growth = within_grant(entry, running, edited)
    marks = peek(kept, group.place.annotations)
    assert (marks[WORKLOAD], marks[FLAVOR], len(growth)) == ("w", "a100", 1)
    assert GATE in peek(kept, group.place.pod)["schedulingGates"]
    assert restored(kept) == restored(edited), "it is what its owner wrote, and asks for that"
    wanted = {each.name: each.count for each in podsets(entry, restored(kept), find=builtin().find)}
    more = {name: Allowance(count=count, flavor="a100") for name, count in wanted.items()}
    assert "schedulingGates" not in peek(start(entry, kept, "w", more), group.place.pod), "all of it is granted"


def test_a_group_that_was_added_waits_while_the_others_run() -> None:
    entry, obj = builtin().of(sample("RayCluster")), held("RayCluster")
    shapes = podsets(entry, obj, find=builtin().find)
    running = start(entry, obj, "w", {each.name: Allowance(count=each.count, flavor="a100") for each in shapes})
    groups = peek(obj, ("spec", "workerGroupSpecs"))
    added = {**groups[0], "groupName": "more"}
    edited = put(running, ("spec", "workerGroupSpecs"), [*peek(running, ("spec", "workerGroupSpecs")), added])
    kept, growth = within_grant(entry, running, edited)
    assert [each.shape.name for each in growth] == ["more"]
    marks = kept["spec"]["workerGroupSpecs"][-1]["template"]["metadata"]["annotations"]
    assert (marks[WORKLOAD], FLAVOR in marks) == ("w", False)
    assert describe(entry, kept).spec.pod_sets[-1].name == "more"
    assert restored(kept)["spec"] == put(restored(edited), ("spec", "suspend"), False)["spec"]


@pytest.mark.parametrize("kind", HELD)
def test_what_is_held_was_granted_nothing(kind: str) -> None:
    """It says so itself, so that whoever lets it go by hand cannot be mistaken for Tidegate."""
    entry, obj = builtin().of(sample(kind)), held(kind)
    shapes = podsets(entry, obj, find=builtin().find)
    running = start(entry, obj, "w", {each.name: Allowance(count=each.count) for each in shapes})
    again = held_as_it_is(entry, running)
    assert is_suspended(entry, again)
    assert granted_to(again) == {}
    assert stop(entry, again) == obj
    assert held_as_it_is(entry, obj) == obj


def test_notes_that_somebody_left_out_are_put_back_and_a_memory_of_his_own_is_not_taken() -> None:
    running = job(8, 4)
    replaced = put(put(job(8, 8), ("metadata", "annotations"), {"mine": "1"}), PARALLELISM, 9)
    again = marked_as(replaced, running)
    assert again["metadata"]["annotations"] == {**running["metadata"]["annotations"], "mine": "1"}
    forged = put(running, ("metadata", "annotations", "tidegate.dev/before"), '{"bare":false,"changes":[]}')
    assert remembering(forged, running) == running
    made_up = put(held("Job"), ("metadata", "annotations"), {"tidegate.dev/before": "{}"})
    assert remembering(made_up, held("Job"))["metadata"]["annotations"] == {}
