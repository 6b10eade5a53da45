"""AppWrappers: what they carry stays as it was created, and what is granted stands beside it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.jobs.samples import sample
from tests.workloads.test_start_and_stop import allowances
from tidegate.model.jobs import JobError, builtin, podsets, put, with_suspend
from tidegate.workloads import Allowance, describe, let_go, start, stop, within_grant, written_into

Json = Any
WRAPPER = builtin().of(sample("AppWrapper"))
INFERRED = ["Pod", "Deployment", "StatefulSet", "Job", "JobSet", "PyTorchJob", "RayCluster", "RayJob"]
"""Kinds whose pods AppWrapper finds by itself: `InferPodSets`, v1.2.2."""


def wrapper(*kinds: str) -> Json:
    components = [{"template": sample(kind)} for kind in kinds]
    blank = {"apiVersion": "workload.codeflare.dev/v1beta2", "kind": "AppWrapper", "metadata": {"name": "x"}}
    return with_suspend(WRAPPER, {**blank, "spec": {"components": components}}, True)


def carried(obj: Json) -> Json:
    """What AppWrapper's webhook compares with what there was: nobody may change any of it."""
    return [(each["template"], each.get("podSets")) for each in obj["spec"]["components"]]


@pytest.mark.parametrize("kind", INFERRED)
@settings(max_examples=15)
@given(data=st.data())
def test_what_it_carries_is_never_written_to(kind: str, data: st.DataObject) -> None:
    """Node selectors and marks were written into the templates, and its webhook refused every admission."""
    obj = wrapper("Job", kind)
    names = [shape.name for shape in podsets(WRAPPER, obj, find=builtin().find)]
    first, second = ({name: data.draw(allowances) for name in names} for _ in range(2))
    started = start(WRAPPER, obj, "w", first, queue="default")
    again = start(WRAPPER, started, "w", second, queue="default")
    kept, _ = within_grant(WRAPPER, started, again)
    assert kept == again, "its door has nothing to add"
    assert carried(started) == carried(again) == carried(obj)
    assert stop(WRAPPER, again) == obj


def test_each_pod_set_has_an_item_of_its_number() -> None:
    """AppWrapper puts podSetInfos[i] of a component into the i-th of its pod sets, declared or inferred."""
    obj = put(wrapper("RayCluster", "Job"), ("spec", "components", 1, "podSets"), [{"path": "template.spec.template"}])
    shapes = podsets(WRAPPER, obj, find=builtin().find)
    allowed = {
        each.name: Allowance(count=each.count, flavor=f"f{n}", node_labels={"n": str(n)})
        for n, each in enumerate(shapes)
    }
    started = start(WRAPPER, obj, "w", allowed, queue="q")
    infos = [each["podSetInfos"] for each in started["spec"]["components"]]
    assert [[info["nodeSelector"]["n"] for info in each] for each in infos] == [["0", "1", "2"], ["3"]]
    assert infos[1][0]["annotations"] == {
        "tidegate.dev/workload": "w",
        "tidegate.dev/pod-set": "component-1",
        "tidegate.dev/queue": "q",
        "tidegate.dev/flavor": "f3",
    }
    assert {name: each.flavor for name, each in let_go(WRAPPER, started).items()} == {
        shape.name: f"f{n}" for n, shape in enumerate(shapes)
    }
    assert written_into(WRAPPER, started)["component-1"].node_labels == {"n": "3"}


def test_it_is_a_gang_of_all_whatever_floor_is_stated() -> None:
    """The size of a Job that it carried was lowered to what was granted, in the template."""
    obj = put(wrapper("Job"), ("metadata", "annotations"), {"tidegate.dev/min-count": "1"})
    [pods] = describe(WRAPPER, obj).spec.pod_sets
    assert (pods.floor, pods.count) == (4, 4)


@pytest.mark.parametrize("kind", ["MPIJob", "SparkApplication", "RayService"])
def test_pods_that_its_operator_does_not_find_must_be_declared(kind: str) -> None:
    """They would run unplaced and unmarked, beside the nodes that were granted."""
    with pytest.raises(JobError, match="declare them in its podSets"):
        describe(WRAPPER, wrapper("Job", kind))
    declared = put(
        wrapper("MPIJob"),
        ("spec", "components", 0, "podSets"),
        [
            {"path": "template.spec.mpiReplicaSpecs.Launcher.template"},
            {"path": "template.spec.mpiReplicaSpecs.Worker.template", "replicas": 2},
        ],
    )
    assert [each.count for each in describe(WRAPPER, declared).spec.pod_sets] == [1, 2]
