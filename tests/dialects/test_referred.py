"""A TrainJob's pods are described by its runtime: with the runtime at hand, both are rendered."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.dialects import Submission, render
from tidegate.model.jobs import builtin, podsets

Json = Any
POD: Json = {"spec": {"containers": [{"name": "node", "image": "busybox:1", "resources": {"requests": {"cpu": "1"}}}]}}
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


def job(name: str, step: str = "") -> Json:
    template: Json = {"spec": {"template": copy.deepcopy(POD)}}
    if step:
        template["metadata"] = {"labels": {STEP: step}}
    return {"name": name, "replicas": 1, "template": template}


def runtime() -> Json:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "torch", "labels": {"trainer.kubeflow.org/framework": "torch"}, "uid": "1"},
        "spec": {"template": {"spec": {"replicatedJobs": [job("data"), job("node", "trainer")]}}},
    }


def pods(rendered: Json) -> list[Json]:
    return [each["template"]["spec"]["template"] for each in rendered["spec"]["template"]["spec"]["replicatedJobs"]]


@pytest.mark.parametrize("scheduler", ["yunikorn", "volcano", "scheduler-plugins"])
def test_the_runtime_is_copied_for_the_scheduler_and_the_job_refers_to_the_copy(scheduler: str) -> None:
    given, before = runtime(), runtime()
    done = render(sample("TrainJob"), Submission(organisation="org", id="1"), scheduler, referred=given)
    assert given == before, "what was given is never changed"
    copied = next(each for each in done.others if each["kind"] == "TrainingRuntime")
    wanted = {"name": f"train-{scheduler}", "namespace": "team-a", "labels": before["metadata"]["labels"]}
    assert copied["metadata"] == wanted
    named = {key: done.object["spec"]["runtimeRef"][key] for key in ("kind", "name")}
    assert named == {"kind": "TrainingRuntime", "name": f"train-{scheduler}"}
    assert "referred" not in done.object
    for pod in pods(copied):
        assert scheduler in pod["spec"]["schedulerName"]
        assert pod["metadata"]
    assert any(note.about == "ClusterTrainingRuntime torch" for note in done.notes)
    shapes = {shape.name: shape.count for shape in podsets(builtin().of(done.object), done.object, referred=copied)}
    assert shapes == {"data": 1, "node": 3}, "it asks for what it asked before"


def test_its_gang_has_every_job_of_the_runtime() -> None:
    done = render(sample("TrainJob"), {"id": "1"}, "yunikorn", referred=runtime())
    (copied,) = done.others
    groups = json.loads(pods(copied)[1]["metadata"]["annotations"]["yunikorn.apache.org/task-groups"])
    assert {group["name"]: group["minMember"] for group in groups} == {"data": 1, "node": 3}
    group = next(
        each
        for each in render(sample("TrainJob"), {}, "volcano", referred=runtime()).others
        if each["kind"] == "PodGroup"
    )
    assert group["spec"]["minMember"] == 4


@pytest.mark.parametrize("scheduler", ["kueue", "tidegate"])
def test_who_reads_the_job_itself_leaves_the_runtime_alone(scheduler: str) -> None:
    assert render(sample("TrainJob"), {}, scheduler, referred=runtime()) == render(sample("TrainJob"), {}, scheduler)
