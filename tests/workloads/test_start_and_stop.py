"""What is written into an application when it is let go comes out again when it is held; for every kind there is."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import builtin, is_suspended, peek, podsets, put, with_suspend
from tidegate.workloads import GRANTED, POD_SET, WORKLOAD, Allowance, describe, restored, start, stop

Json = Any

words = st.text("abcxyz", min_size=1, max_size=4)
tolerations = st.fixed_dictionaries({"key": words, "operator": st.just("Exists")})
allowances = st.builds(
    Allowance,
    count=st.integers(0, 9),
    flavor=st.sampled_from(["default", "a100"]),
    node_labels=st.dictionaries(words, words, max_size=2),
    tolerations=st.lists(tolerations, max_size=2, unique_by=str).map(tuple),
)
few = settings(max_examples=15)
QUEUED = [kind for kind in KINDS if builtin().of(sample(kind)).makes is None]


def held(kind: str) -> Json:
    entry = builtin().of(sample(kind))
    return sample(kind) if entry.suspend is None else with_suspend(entry, sample(kind), True)


def allow(kind: str, obj: Json, data: st.DataObject) -> dict[str, Allowance]:
    entry = builtin().of(obj)
    return {shape.name: data.draw(allowances) for shape in podsets(entry, obj, find=builtin().find)}


@pytest.mark.parametrize("kind", QUEUED)
@few
@given(data=st.data(), decorated=st.booleans())
def test_start_then_stop_gives_the_application_back(kind: str, data: st.DataObject, decorated: bool) -> None:
    obj, entry = held(kind), builtin().of(sample(kind))
    if decorated:
        obj = put(obj, ("metadata", "annotations"), {"mine": "yes"})
    before = copy.deepcopy(obj)
    allowed = allow(kind, obj, data)
    started = start(entry, obj, "w", allowed)
    assert obj == before, "what was given is never changed"
    assert not is_suspended(entry, started)
    kept = copy.deepcopy(started)
    assert stop(entry, started) == before
    assert started == kept


@pytest.mark.parametrize("kind", QUEUED)
@few
@given(data=st.data())
def test_only_the_last_start_counts(kind: str, data: st.DataObject) -> None:
    obj, entry = held(kind), builtin().of(sample(kind))
    first, second = allow(kind, obj, data), allow(kind, obj, data)
    assert start(entry, start(entry, obj, "w", first), "w", second) == start(entry, obj, "w", second)


@pytest.mark.parametrize("kind", QUEUED)
@few
@given(data=st.data())
def test_a_started_application_asks_for_what_it_asked_before(kind: str, data: st.DataObject) -> None:
    obj, entry = held(kind), builtin().of(sample(kind))
    assert describe(entry, start(entry, obj, "w", allow(kind, obj, data))) == describe(entry, obj)


@pytest.mark.parametrize("kind", QUEUED)
def test_every_pod_set_is_marked_and_placed(kind: str) -> None:
    obj, entry = held(kind), builtin().of(sample(kind))
    shapes = podsets(entry, obj, find=builtin().find)
    allowance = Allowance(count=1, flavor="a100", node_labels={"gpu": "a100"}, tolerations=({"operator": "Exists"},))
    started = start(entry, obj, "w", {shape.name: allowance for shape in shapes})
    assert started["metadata"]["annotations"][WORKLOAD] == "w"
    assert json.loads(started["metadata"]["annotations"][GRANTED]) == {shape.name: 1 for shape in shapes}
    for shape in shapes:
        if shape.place is None:
            continue
        place = shape.place.for_grant
        assert peek(started, place.annotations)[POD_SET] == shape.name
        pod = peek(started, place.pod)
        assert pod["nodeSelector"]["gpu"] == "a100"
        assert {"operator": "Exists"} in pod["tolerations"]


def test_parallelism_is_lowered_to_what_is_granted_and_comes_back() -> None:
    job, entry = held("Job"), builtin().of(sample("Job"))
    started = start(entry, job, "w", {"main": Allowance(count=2)})
    assert started["spec"]["parallelism"] == 2
    assert stop(entry, started)["spec"]["parallelism"] == 4
    grown = start(entry, started, "w", {"main": Allowance(count=4)})
    assert grown["spec"]["parallelism"] == 4


def test_who_resizes_a_job_that_runs_is_heard() -> None:
    """Parallelism that is not what we wrote was written by somebody, and is what is wanted from then on."""
    job, entry = held("Job"), builtin().of(sample("Job"))
    resized = put(start(entry, job, "w", {"main": Allowance(count=2)}), ("spec", "parallelism"), 7)
    assert describe(entry, resized).spec.pod_sets[0].count == 7
    assert stop(entry, resized)["spec"]["parallelism"] == 7


def test_what_others_add_meanwhile_stays() -> None:
    job, entry = held("Job"), builtin().of(sample("Job"))
    selector = ("spec", "template", "spec", "nodeSelector")
    started = start(entry, job, "w", {"main": Allowance(count=4, node_labels={"gpu": "a100"})})
    theirs = put(started, selector, {"gpu": "a100", "zone": "1"})
    assert peek(stop(entry, theirs), selector) == {"zone": "1"}


@given(st.text())
def test_a_spoilt_memory_changes_nothing_else(text: str) -> None:
    job = put(held("Job"), ("metadata", "annotations"), {"tidegate.dev/before": text, "mine": "yes"})
    assert restored(job)["spec"] == job["spec"]
