"""Whose a pod is: its owner's, if it says what its owner says of its pods; nobody's otherwise, whoever it names."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.controller.kinds.played import owner_of, pods_for
from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import builtin, inside, is_gated, podsets, put, with_suspend
from tidegate.workloads import (
    FLAVOR,
    WORKLOAD,
    Allowance,
    belongs,
    hold_pods,
    is_granted,
    is_run_here,
    start,
    workload_name,
)

Json = Any
TABLE = builtin()
MAKERS_OF_PODS = [
    kind
    for kind in KINDS
    if kind != "Pod" and (entry := TABLE.of(sample(kind))).makes is None and not is_run_here(entry)
]
MARKED = [kind for kind in MAKERS_OF_PODS if TABLE.of(sample(kind)).refers is None]
JOB = "job-app"


def stored(obj: Json, uid: str = "u-1") -> Json:
    """As a server has it; of a Job it has put the uid among the labels of its pods."""
    meta = {**obj["metadata"], "name": "app", "namespace": "n", "uid": uid}
    obj = {**obj, "metadata": meta}
    return put(obj, ("spec", "template", "metadata", "labels"), {"controller-uid": uid}) if is_job(obj) else obj


def is_job(obj: Json) -> bool:
    return bool(obj["kind"] == "Job")


def waiting(kind: str) -> Json:
    """Queued, and granted nothing."""
    obj, entry = stored(sample(kind)), TABLE.of(sample(kind))
    if is_gated(entry):
        return hold_pods(entry, obj, workload_name(TABLE.prefix(entry), "app"), {}, kinds=TABLE)
    return with_suspend(entry, obj, True)


def let_go(kind: str) -> Json:
    """Queued, and granted everything."""
    obj, entry = waiting(kind), TABLE.of(sample(kind))
    if is_gated(entry):
        return obj
    shapes = podsets(entry, obj, find=TABLE.find)
    allowed = {shape.name: Allowance(count=shape.count, flavor="default") for shape in shapes}
    return start(entry, obj, workload_name(TABLE.prefix(entry), "app"), allowed, kinds=TABLE)


def above(*objects: Json) -> Json:
    return {obj["metadata"]["uid"]: obj for obj in objects}


def marks(pod: Json) -> Json:
    return inside(pod, ("metadata", "annotations"))


def unmarked(pod: Json) -> Json:
    return put(pod, ("metadata", "annotations"), {})


def by_hand(obj: Json, **annotations: str) -> Json:
    """A pod that somebody makes, and that names an application of his."""
    pod = stored(sample("Pod"), "p-1")
    pod["metadata"] = {"name": "mine", "namespace": "n", "uid": "p-1", "ownerReferences": [owner_of(obj)]}
    return put(pod, ("metadata", "annotations"), dict(annotations)) if annotations else pod


@pytest.mark.parametrize("kind", MAKERS_OF_PODS)
def test_what_an_application_makes_is_its_own_for_every_kind(kind: str) -> None:
    obj, entry = let_go(kind), TABLE.of(sample(kind))
    made = pods_for(entry, obj)
    assert made
    for pod in made:
        assert belongs(pod, above(obj), TABLE)
        assert is_granted(pod, above(obj), TABLE) == (FLAVOR in marks(pod))


@pytest.mark.parametrize("kind", MAKERS_OF_PODS)
def test_while_it_is_held_nothing_is_its_own_but_what_its_template_marks(kind: str) -> None:
    obj, entry = waiting(kind), TABLE.of(sample(kind))
    assert not belongs(by_hand(obj), above(obj), TABLE)
    for pod in pods_for(entry, obj):
        assert belongs(pod, above(obj), TABLE) == (WORKLOAD in marks(pod))
        assert not is_granted(pod, above(obj), TABLE)


@pytest.mark.parametrize("kind", MARKED)
def test_a_pod_that_does_not_say_what_its_template_says_is_nobodys(kind: str) -> None:
    obj, entry = let_go(kind), TABLE.of(sample(kind))
    assert not belongs(by_hand(obj), above(obj), TABLE)
    for pod in pods_for(entry, obj):
        assert not belongs(unmarked(pod), above(obj), TABLE)
        other = put(pod, ("metadata", "annotations", WORKLOAD), "job-of-somebody-else")
        assert not belongs(other, above(obj), TABLE)


@pytest.mark.parametrize("kind", MAKERS_OF_PODS)
def test_an_owner_that_is_not_there_answers_for_nobody(kind: str) -> None:
    obj, entry = let_go(kind), TABLE.of(sample(kind))
    another = {**obj, "metadata": {**obj["metadata"], "uid": "u-2"}}
    for pod in pods_for(entry, obj):
        assert not belongs(pod, {}, TABLE)
        assert not belongs(pod, above(another), TABLE), "one of the same name that came later"


@pytest.mark.parametrize("kind", MARKED)
def test_what_ran_before_anybody_could_hold_it_and_what_nobody_queues_goes_on(kind: str) -> None:
    """Its templates say nothing, and neither do its pods."""
    entry = TABLE.of(sample(kind))
    obj = stored(sample(kind))
    obj = obj if entry.suspend is None else with_suspend(entry, obj, False)
    for pod in pods_for(entry, obj):
        assert belongs(pod, above(obj), TABLE)
        forged = put(pod, ("metadata", "annotations"), {WORKLOAD: JOB, FLAVOR: "default"})
        assert not belongs(forged, above(obj), TABLE)


def test_a_flavor_that_the_template_does_not_tell_was_not_granted() -> None:
    """Of a Deployment each pod waits for its own; one that comes with a flavor has given it to itself."""
    obj = let_go("StatefulSet")
    (pod, *_) = pods_for(TABLE.of(obj), obj)
    forged = put(pod, ("metadata", "annotations", FLAVOR), "default")
    assert belongs(forged, above(obj), TABLE)
    assert not is_granted(forged, above(obj), TABLE)


def test_a_copy_of_all_marks_is_a_jobs_only_if_its_controller_takes_it_for_its_own() -> None:
    """Controllers know their pods by labels. Without these it would stay beside all that they make."""
    obj = let_go("Job")
    (pod, *_) = pods_for(TABLE.of(obj), obj)
    assert belongs(by_hand(obj, **marks(pod)), above(obj), TABLE) is False
    assert belongs(pod, above(obj), TABLE)


def test_what_makes_applications_makes_no_pods() -> None:
    obj = stored(sample("CronJob"))
    assert not belongs(by_hand(obj), above(obj), TABLE)


def test_the_pods_of_a_driver_are_its_applications_and_those_of_any_other_pod_nobodys() -> None:
    """A Spark driver makes executors, which its application was granted. A single pod was granted itself, and so was
    one that a Job has made."""
    driver = by_hand(stored(sample("SparkApplication")), **{WORKLOAD: "sparkapplication-app", FLAVOR: "default"})
    executor = by_hand({**driver, "kind": "Pod", "apiVersion": "v1"}, **{WORKLOAD: "sparkapplication-app"})
    assert belongs(executor, above(driver), TABLE)
    assert not belongs(unmarked(executor), above(driver), TABLE)
    for mark in ("pod-mine", "podgroup-gang", "job-app", "queuejob-app", "raycluster-app"):
        single = put(driver, ("metadata", "annotations", WORKLOAD), mark)
        assert not belongs(put(executor, ("metadata", "annotations", WORKLOAD), mark), above(single), TABLE)
        assert not belongs(unmarked(executor), above(single), TABLE)
    waits = put(unmarked(driver), ("spec", "schedulingGates"), [{"name": "tidegate.dev/quota"}])
    assert not belongs(unmarked(executor), above(waits), TABLE)
    assert belongs(unmarked(executor), above(unmarked(driver)), TABLE), "nobody queues the driver"


def test_a_queue_job_answers_for_the_pods_that_are_made_for_it() -> None:
    obj = stored(sample("QueueJob"))
    assert belongs(by_hand(obj, **{WORKLOAD: "queuejob-app", FLAVOR: "default"}), above(obj), TABLE)
    assert not belongs(by_hand(obj), above(obj), TABLE)
    assert not belongs(by_hand(obj, **{WORKLOAD: "queuejob-other"}), above(obj), TABLE)


def test_a_job_that_says_that_it_is_a_part_of_another_application_hides_no_pods() -> None:
    """Parts of applications are not held. So whoever names a JobSet as the owner of his Job could have it run, and each
    of its pods would name that Job: it answers for them only as far as the JobSet lets it."""
    job = put(stored(sample("Job"), "j-1"), ("spec", "suspend"), False)
    for whole in (waiting("JobSet"), let_go("JobSet")):
        part = copy.deepcopy(job)
        part["metadata"]["ownerReferences"] = [owner_of(whole)]
        for pod in pods_for(TABLE.of(job), part):
            assert not belongs(pod, above(part, whole), TABLE)
            assert not belongs(pod, above(part), TABLE), "the JobSet is not there"
            assert belongs(pod, above(job), TABLE)
