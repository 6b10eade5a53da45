"""The Workload of an application says what the application says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.jobs.samples import KINDS, sample
from tidegate.model.codec import decode, encode
from tidegate.model.jobs import JobError, builtin, put
from tidegate.workloads import QUEUE, describe, ended_pods, group_of, workload_name

Json = Any


def job(**metadata: Json) -> Json:
    obj = sample("Job")
    return obj | {"metadata": obj["metadata"] | {"uid": "u-1"} | metadata}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_a_manifest_that_the_schema_takes(kind: str) -> None:
    obj = sample(kind)
    workload = describe(builtin().of(obj), obj)
    assert decode(encode(workload)) == workload
    assert workload.metadata.name == f"{kind.lower()}-{obj['metadata']['name']}"
    assert all(pod_set.requests for pod_set in workload.spec.pod_sets if pod_set.count)


def test_a_job_is_named_owned_and_queued() -> None:
    labels = {QUEUE: "gpu", "tidegate.dev/priority-class": "high"}
    workload = describe(builtin().of(job()), job(labels=labels))
    (owner,) = workload.metadata.owner_references
    assert (owner.kind, owner.uid, owner.controller) == ("Job", "u-1", True)
    assert workload.spec.queue == "gpu"
    assert workload.spec.priority_class_name == "high"
    assert describe(builtin().of(job()), job()).spec.queue == "default"


def test_a_floor_counts_where_fewer_pods_can_be_run() -> None:
    annotations = {"tidegate.dev/min-count": "2", "tidegate.dev/max-count": "3"}
    (pods,) = describe(builtin().of(job()), job(annotations=annotations)).spec.pod_sets
    assert (pods.count, pods.min_count, pods.max_count, pods.mixes) == (4, 2, 3, False)
    pytorch = sample("PyTorchJob")
    workers = describe(builtin().of(pytorch), pytorch).spec.pod_sets[1]
    assert workers.floor == workers.count, "its operator would run all of them whatever was granted"


def test_a_ceiling_below_all_is_heard_without_a_floor_and_is_refused_below_one() -> None:
    """A Job of four pods with a ceiling of two was a gang of four, without a word."""
    (pods,) = describe(builtin().of(job()), job(annotations={"tidegate.dev/max-count": "2"})).spec.pod_sets
    assert (pods.count, pods.floor, pods.desired) == (4, 2, 2)
    wrong = job(annotations={"tidegate.dev/min-count": "3", "tidegate.dev/max-count": "2"})
    with pytest.raises(JobError, match=r"max-count.*2 is less than the 3 that it starts with"):
        describe(builtin().of(wrong), wrong)


@pytest.mark.parametrize(
    ("parallelism", "completions", "succeeded", "ended"),
    [(4, 4, 1, 1), (3, 5, 2, 0), (3, 5, 3, 1), (3, 5, 5, 3), (1, 1, 0, 0)],
)
def test_quota_comes_back_as_pods_are_no_longer_needed(
    parallelism: int, completions: int, succeeded: int, ended: int
) -> None:
    """Pods that succeeded free their place once fewer are left to do than run at once."""
    obj = put(put(job(), ("spec", "parallelism"), parallelism), ("status", "succeeded"), succeeded)
    obj = put(obj, ("spec", "completions"), completions)
    assert ended_pods(builtin().of(obj), obj) == {"main": ended}


@pytest.mark.parametrize(
    ("status", "ended"),
    [({}, 0), ({"active": 4}, 0), ({"active": 3, "succeeded": 1}, 1), ({"active": 1, "succeeded": 1}, 3)],
)
def test_of_pods_that_share_a_list_of_work_those_that_run_are_the_last_once_one_ended_well(
    status: Json, ended: int
) -> None:
    """Without `completions` no pod is started after that. A Job that ran two of its four held the place of the first
    that had ended, for a pod that never came."""
    obj = put(put(job(), ("spec", "completions"), None), ("status",), status)
    assert ended_pods(builtin().of(obj), obj) == {"main": ended}


def test_failed_pods_free_nothing() -> None:
    obj = put(job(), ("status",), {"failed": 3, "succeeded": 0, "active": 1})
    assert ended_pods(builtin().of(obj), obj) == {"main": 0}


def test_pods_of_a_gang_are_sorted_by_shape() -> None:
    def pod(name: str, cpu: str) -> Json:
        obj = put(sample("Pod"), ("metadata",), {"name": name, "namespace": "a", "uid": name})
        return put(obj, ("spec", "containers"), [{"name": "c", "resources": {"requests": {"cpu": cpu}}}])

    pods = [pod("c", "1"), pod("a", "1"), pod("b", "2")]
    workload, members = group_of(builtin().of(pods[0]), "gang", pods)
    assert workload.metadata.name == "podgroup-gang"
    assert sorted(one.count for one in workload.spec.pod_sets) == [1, 2]
    assert members["a"] == members["c"] != members["b"]
    assert len(workload.metadata.owner_references) == 3
    assert group_of(builtin().of(pods[0]), "gang", pods[::-1])[1] == members


def test_what_has_no_pods_is_refused() -> None:
    empty = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": {"name": "x"}}
    with pytest.raises(JobError, match="describes no pods"):
        describe(builtin().of(empty), empty)


def test_long_names_stay_apart_and_fit() -> None:
    one, other = workload_name("Job", "x" * 260), workload_name("Job", "x" * 261)
    assert len(one) <= 253
    assert one != other
