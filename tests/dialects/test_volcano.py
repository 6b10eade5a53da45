"""Volcano's PodGroups, beyond the worked inputs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from tests.dialects.trees import queue_objects
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import DialectError, Submission, render
from tidegate.dialects.queues import TARGETS, parse_tree
from tidegate.model.quantity import ZERO, Quantity

Json = Any


def _group(obj: Json, submission: Submission | None = None, config: Json = "volcano") -> Json:
    (made,) = render(obj, submission, config).others
    return made


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"TrainJob"}))
def test_pods_name_the_pod_group_that_is_made(kind: str) -> None:
    done = render(sample(kind), Submission(organisation="org1"), "volcano")
    (group,) = done.others
    assert group["kind"] == "PodGroup"
    assert group["metadata"]["namespace"] == "team-a"
    assert f"'scheduling.k8s.io/group-name': '{group['metadata']['name']}'" in str(done.object)
    assert group["spec"]["queue"].startswith("org1-")
    assert 0 <= group["spec"]["minMember"] < 2**31


def test_names_are_those_the_operators_would_give() -> None:
    names = {
        kind: _group(sample(kind))["metadata"]["name"] for kind in ("RayCluster", "SparkApplication", "TFJob", "Job")
    }
    assert names == {
        "RayCluster": "ray-ray-pg",
        "SparkApplication": "spark-spark-pg",
        "TFJob": "tf",
        "Job": "job-pg",
    }


def test_a_driver_does_not_wait_for_executors_that_it_must_make() -> None:
    spec = _group(sample("SparkApplication"))["spec"]
    assert spec["minMember"] == 1
    assert spec["minResources"] == {"cpu": "4", "memory": "3584Mi"}


def test_training_jobs_bring_their_own_policy() -> None:
    job = sample("TFJob")
    policy = {"minAvailable": 3, "queue": "nightly", "priorityClass": "high"}
    job["spec"]["runPolicy"] = {"schedulingPolicy": policy}
    spec = _group(job)["spec"]
    assert (spec["minMember"], spec["queue"], spec["priorityClassName"]) == (3, "nightly", "high")
    assert spec["minResources"] == {"cpu": "3", "memory": "3Gi"}


def test_with_a_floor_every_role_has_its_own() -> None:
    assert _group(sample("PyTorchJob"))["spec"]["minTaskMember"] == {"master": 1, "worker": 1}
    assert "minTaskMember" not in _group(sample("TFJob"))["spec"]


def test_an_object_that_is_there_owns_its_pod_group() -> None:
    job = sample("Job")
    job["metadata"]["uid"] = "1-2"
    (owner,) = _group(job)["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "batch/v1", "kind": "Job", "name": "job", "uid": "1-2"}


def test_preemption_is_written_to_pods() -> None:
    config = {"scheduler": "volcano", "jobs": [{"type": "job", "allow-preemption": False}]}
    done = render(sample("Job"), Submission(job_type="job"), config)
    annotations = done.object["spec"]["template"]["metadata"]["annotations"]
    assert annotations["volcano.sh/preemptable"] == "false"
    assert not done.others, "no gang was asked for"


def test_pods_that_come_one_after_another_are_not_waited_for_together() -> None:
    """An ordered StatefulSet makes its second pod when the first runs; a gang of both would never start."""
    ordered = sample("StatefulSet")
    assert _group(ordered)["spec"]["minMember"] == 1
    ordered["spec"]["podManagementPolicy"] = "Parallel"
    assert _group(ordered)["spec"]["minMember"] == 2
    assert _group(sample("DaskJob"))["spec"]["minMember"] == 4, "the runner starts when the cluster is there"
    jobset = sample("JobSet")
    jobset["spec"]["replicatedJobs"][1]["dependsOn"] = [{"name": "leader", "status": "Ready"}]
    assert _group(jobset)["spec"]["minMember"] == 1


@pytest.mark.parametrize("scheduler", ["yunikorn", "volcano", "scheduler-plugins", "kueue"])
def test_a_stated_ceiling_and_priority_are_not_lost_in_silence(scheduler: str) -> None:
    spark = sample("SparkApplication")
    spark["metadata"] |= {
        "annotations": {"tidegate.dev/max-count": "9"},
        "labels": {"tidegate.dev/priority-class": "high"},
    }
    done = render(spark, {}, scheduler)
    assert any(note.about == "tidegate.dev/max-count" for note in done.dropped)
    assert str((done.object, done.others)).count("high") > 1


@given(queue_objects())
def test_queues_of_volcano_keep_the_rules_that_its_webhook_and_its_capacity_plugin_have(objects: list[Json]) -> None:
    """Names are unique, weights positive, parents there first; what is kept <= what is deserved <= what may be used."""
    try:
        queues = TARGETS["volcano"](parse_tree(objects)).objects
    except DialectError as error:
        assert "would both be called" in str(error)
        return
    seen = {"root"}
    for queue in queues:
        name, spec = queue["metadata"]["name"], queue["spec"]
        assert name not in seen
        assert spec["parent"] in seen
        seen.add(name)
        assert 0 < spec["weight"] < 2**31
        kept, due = (spec.get("guarantee") or {}).get("resource") or {}, spec.get("deserved") or {}
        for resource, amount in kept.items():
            assert Quantity.parse(amount) <= Quantity.parse(due[resource])
        for resource, amount in (spec.get("capability") or {}).items():
            assert Quantity.parse(due.get(resource, "0")) <= Quantity.parse(amount)


def _parts(spec: Json) -> dict[str, dict[str, Quantity]]:
    """What is kept, deserved and allowed, by resource."""
    stated = {"guarantee": (spec.get("guarantee") or {}).get("resource"), "deserved": spec.get("deserved")}
    stated["capability"] = spec.get("capability")
    return {part: {name: Quantity.parse(one) for name, one in (found or {}).items()} for part, found in stated.items()}


@given(queue_objects())
def test_queues_of_volcano_fit_into_those_above_them(objects: list[Json]) -> None:
    """Volcano's webhook refused limits above a parent's, and children that keep what their parent does not keep."""
    try:
        queues = TARGETS["volcano"](parse_tree(objects)).objects
    except DialectError:
        return
    specs = {queue["metadata"]["name"]: _parts(queue["spec"]) for queue in queues}
    below: dict[str, list[str]] = {}
    for queue in queues:
        below.setdefault(queue["spec"]["parent"], []).append(queue["metadata"]["name"])
    for parent, children in below.items():
        if parent == "root":
            continue
        for part in ("guarantee", "deserved"):
            for name in {name for child in children for name in specs[child][part]}:
                together = sum((specs[child][part].get(name, ZERO) for child in children), ZERO)
                assert together <= specs[parent][part][name]
        for child in children:
            for name, limit in specs[child]["capability"].items():
                assert limit <= specs[parent]["capability"].get(name, limit)


def test_no_limit_is_above_one_higher_up() -> None:
    def node(name: str, quota: Json, **spec: Json) -> Json:
        quotas = [{"flavor": "default", "resources": {"cpu": quota}}]
        return {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": {"quotas": quotas, **spec}}

    child = node("child", {"nominalQuota": "4", "borrowingLimit": "20"}, parent="company")
    queues = TARGETS["volcano"](parse_tree([node("company", {"nominalQuota": "10"}), child])).objects
    assert [queue["spec"]["capability"] for queue in queues] == [{"cpu": "10"}, {"cpu": "10"}]


@pytest.mark.parametrize(("quota", "written"), [("2.5", "2"), ("3", "3")])
def test_what_is_counted_is_written_in_whole_units(quota: str, written: str) -> None:
    resources = {"nvidia.com/gpu": {"nominalQuota": quota}, "cpu": {"nominalQuota": "1500m"}}
    quotas = [{"flavor": "default", "resources": resources}]
    done = TARGETS["volcano"](
        parse_tree([{"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"quotas": quotas}}])
    )
    assert done.objects[0]["spec"]["deserved"] == {"cpu": "1500m", "nvidia.com/gpu": written}
    assert any(note.about.endswith(" nvidia.com/gpu") for note in done.notes) == (quota != written)


def test_a_tree_deeper_than_volcano_takes_says_so() -> None:
    nodes: list[Json] = [{"kind": "ClusterQueue", "metadata": {"name": "n0"}, "spec": {}}]
    nodes += [
        {"kind": "ClusterQueue", "metadata": {"name": f"n{level}"}, "spec": {"parent": f"n{level - 1}"}}
        for level in range(1, 5)
    ]
    assert "depth" not in {note.about for note in TARGETS["volcano"](parse_tree(nodes)).notes}
    door = {"kind": "Queue", "metadata": {"namespace": "a", "name": "q"}, "spec": {"clusterQueue": "n4"}}
    assert "depth" in {note.about for note in TARGETS["volcano"](parse_tree([*nodes, door])).notes}


def test_two_queues_that_volcano_would_call_alike_are_refused() -> None:
    nodes: list[Json] = [
        {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": {}} for name in ("org", "org-ray")
    ]
    door = {"kind": "Queue", "metadata": {"namespace": "a", "name": "ray"}, "spec": {"clusterQueue": "org"}}
    with pytest.raises(DialectError, match="both be called org-ray"):
        TARGETS["volcano"](parse_tree([*nodes, door]))
