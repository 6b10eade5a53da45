"""Held, over, in a gang: what objects say of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import (
    JobError,
    PodGroup,
    builtin,
    is_finished,
    is_suspended,
    max_run_seconds,
    outcome,
    pod_group,
    priority_class,
    with_suspend,
)

HELD = [entry.kind for entry in builtin().entries if entry.suspend is not None]


@pytest.mark.parametrize("kind", HELD)
def test_holding_and_letting_go_is_seen_and_changes_nothing_given(kind: str) -> None:
    obj = sample(kind)
    entry = builtin().of(obj)
    held = with_suspend(entry, obj, True)
    assert is_suspended(entry, held)
    assert not is_suspended(entry, with_suspend(entry, held, False))
    assert obj == sample(kind)


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(HELD)))
def test_what_has_no_field_to_hold_it_says_so(kind: str) -> None:
    obj = sample(kind)
    assert not is_suspended(builtin().of(obj), obj)
    with pytest.raises(JobError, match="scheduling gate"):
        with_suspend(builtin().of(obj), obj, True)


def _condition(kind: str) -> dict[str, Any]:
    return {"conditions": [{"type": "Other", "status": "True"}, {"type": kind, "status": "True"}]}


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("Job", _condition("Complete"), "Succeeded"),
        ("Job", _condition("Failed"), "Failed"),
        ("Job", _condition("FailureTarget"), None),
        ("JobSet", _condition("Completed"), "Succeeded"),
        ("TFJob", _condition("Succeeded"), "Succeeded"),
        ("MPIJob", _condition("Failed"), "Failed"),
        ("TrainJob", _condition("Complete"), "Succeeded"),
        ("RayJob", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}, "Succeeded"),
        ("RayJob", {"jobDeploymentStatus": "Complete", "jobStatus": "FAILED"}, "Failed"),
        ("RayJob", {"jobDeploymentStatus": "Running"}, None),
        ("RayCluster", {"state": "ready"}, None),
        ("SparkApplication", {"applicationState": {"state": "COMPLETED"}}, "Succeeded"),
        ("SparkApplication", {"applicationState": {"state": "FAILED"}}, "Failed"),
        ("SparkApplication", {"applicationState": {"state": "FAILING"}}, None),
        ("AppWrapper", {"phase": "Failed"}, "Failed"),
        ("AppWrapper", {"phase": "Failed"} | _condition("ResourcesDeployed"), None),
        ("DaskJob", {"jobStatus": "Successful"}, "Succeeded"),
        ("Pod", {"phase": "Failed"}, "Failed"),
    ],
)
def test_how_an_object_ended(kind: str, status: dict[str, Any], expected: str | None) -> None:
    obj = sample(kind) | {"status": status}
    assert outcome(builtin().of(obj), obj) == expected
    assert is_finished(builtin().of(obj), obj) is (expected is not None)


def test_single_pods_form_a_gang_by_name_and_size() -> None:
    pod = sample("Pod")
    entry = builtin().of(pod)
    assert pod_group(entry, pod) is None
    pod["metadata"] |= {
        "labels": {"tidegate.dev/pod-group": "g"},
        "annotations": {"tidegate.dev/pod-group-size": "3"},
    }
    assert pod_group(entry, pod) == PodGroup("g", 3)
    pod["metadata"]["annotations"] = {}
    with pytest.raises(JobError, match="is not the size of a pod group"):
        pod_group(entry, pod)


def test_priority_and_longest_run_are_read() -> None:
    job = sample("PyTorchJob")
    job["spec"]["runPolicy"] = {"schedulingPolicy": {"priorityClass": "high"}, "activeDeadlineSeconds": 60}
    assert priority_class(builtin().of(job), job) == "high"
    assert max_run_seconds(builtin().of(job), job) == 60


def test_a_run_longer_than_anybody_can_say_is_as_long_as_can_be_said() -> None:
    """Kubernetes takes 64 bits of seconds. Such a Job got no Workload at all, waited for ever, and nobody said why."""
    job = sample("PyTorchJob")
    job["spec"]["runPolicy"] = {"activeDeadlineSeconds": 2**40}
    assert max_run_seconds(builtin().of(job), job) == 2**31 - 1


def test_an_unknown_kind_is_named_and_told_what_to_do() -> None:
    with pytest.raises(JobError, match=r"example.com/v1 Thing is not a known kind of job; use one of"):
        builtin().of({"apiVersion": "example.com/v1", "kind": "Thing"})


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        (
            {"apiVersion": "ray.io/v1alpha1", "kind": "RayCluster"},
            "ray.io/v1alpha1 is not a version of RayCluster",
        ),
        ({"kind": "RayCluster"}, "apiVersion: is missing; write ray.io/v1"),
        ({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job"}, "batch.volcano.sh/v1alpha1 Job is not a known"),
        ({"apiVersion": "v1"}, "kind: is missing; write"),
    ],
)
def test_a_known_kind_with_a_wrong_version_is_told_the_right_one(obj: dict[str, str], said: str) -> None:
    with pytest.raises(JobError) as caught:
        builtin().of(obj)
    assert said in str(caught.value)
