"""YuniKorn's words, beyond the worked inputs."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.dialects import Submission, render

Json = Any
PREFIX = "yunikorn.apache.org"
CONFIG = {
    "scheduler": "yunikorn",
    "jobs": [{"type": "ray", "gangscheduling": "gangSchedulingStyle=Hard", "allow-preemption": False}, {"type": "job"}],
}


def _groups(annotations: Json) -> dict[str, Json]:
    return {group["name"]: group for group in json.loads(annotations[f"{PREFIX}/task-groups"])}


def test_a_ray_cluster_gets_everything_on_its_pods_and_nothing_on_itself() -> None:
    submission = Submission(
        organisation="org1", user="anna", groups=("a", "b"), job_type="ray", resource_type="task", id="42"
    )
    done = render(sample("RayCluster"), submission, CONFIG).object
    assert done["metadata"] == sample("RayCluster")["metadata"]
    head = done["spec"]["headGroupSpec"]["template"]
    assert head["metadata"]["labels"] == {
        "app": "x",
        f"{PREFIX}/app-id": "task-42",
        "applicationId": "task-42",
        f"{PREFIX}/queue": "root.org1.ray",
        "queue": "root.org1.ray",
    }
    annotations = head["metadata"]["annotations"]
    assert json.loads(annotations[f"{PREFIX}/user.info"]) == {"user": "anna", "groups": ["a", "b"]}
    assert annotations[f"{PREFIX}/schedulingPolicyParameters"] == "gangSchedulingStyle=Hard"
    assert annotations[f"{PREFIX}/allow-preemption"] == "false"
    assert annotations[f"{PREFIX}/task-group-name"] == "headgroup"
    assert {name: group["minMember"] for name, group in _groups(annotations).items()} == {
        "headgroup": 1,
        "small": 2,
        "big": 1,
    }
    assert _groups(annotations)["headgroup"]["minResource"] == {"cpu": "1500m", "memory": "1536Mi"}, "with autoscaler"


def test_types_without_gangscheduling_start_pod_by_pod_and_it_is_said() -> None:
    done = render(sample("Job"), Submission(organisation="o"), CONFIG)
    assert f"{PREFIX}/task-groups" not in str(done.object)
    assert any(note.about == "gang" for note in done.dropped)


def test_every_role_of_a_training_job_is_a_group() -> None:
    annotations = render(sample("TFJob"), {}, "yunikorn").object["spec"]["tfReplicaSpecs"]["PS"]["template"][
        "metadata"
    ]["annotations"]
    assert annotations[f"{PREFIX}/task-group-name"] == "ps"
    assert {name: group["minMember"] for name, group in _groups(annotations).items()} == {
        "chief": 1,
        "ps": 2,
        "worker": 4,
    }


def test_placeholders_wait_where_the_pods_will_run() -> None:
    job = sample("Job")
    where = {"nodeSelector": {"gpu": "a100"}, "tolerations": [{"operator": "Exists"}]}
    job["spec"]["template"]["spec"] |= where
    annotations = render(job, {}, "yunikorn").object["spec"]["template"]["metadata"]["annotations"]
    assert where.items() <= _groups(annotations)["main"].items()
    spark = sample("SparkApplication")
    spark["spec"] |= {"nodeSelector": {"a": "1", "b": "1"}}
    spark["spec"]["executor"]["nodeSelector"] = {"b": "2"}
    annotations = render(spark, {}, "yunikorn").object["spec"]["driver"]["annotations"]
    assert _groups(annotations)["spark-executor"]["nodeSelector"] == {"a": "1", "b": "2"}


def test_a_group_nobody_waits_for_is_left_out_instead_of_losing_the_gang() -> None:
    ray = sample("RayCluster")
    ray["spec"]["workerGroupSpecs"][0]["minReplicas"] = 0
    done = render(ray, {}, "yunikorn")
    annotations = done.object["spec"]["workerGroupSpecs"][0]["template"]["metadata"]["annotations"]
    assert set(_groups(annotations)) == {"headgroup", "big"}
    assert f"{PREFIX}/task-group-name" not in annotations
    assert any("minimum is 0" in note.message for note in done.notes)


def test_pods_of_one_gang_share_an_application() -> None:
    pods = []
    for name in ("one", "two"):
        pod = sample("Pod")
        pod["metadata"] |= {"name": name, "labels": {"tidegate.dev/pod-group": "g", "tidegate.dev/pod-group-size": "2"}}
        pods.append(render(pod, {}, "yunikorn").object["metadata"])
    assert pods[0]["labels"] == pods[1]["labels"]
    assert _groups(pods[0]["annotations"])["g"]["minMember"] == 2


def test_a_single_pod_is_no_gang() -> None:
    assert "annotations" not in render(sample("Pod"), {}, "yunikorn").object["metadata"]


def test_runs_of_a_scheduled_spark_application_keep_their_own_ids() -> None:
    done = render(sample("ScheduledSparkApplication"), {}, "yunikorn").object
    assert "applicationId" not in done["spec"]["template"]["driver"]["labels"]


def test_a_stated_floor_is_the_gang() -> None:
    spark = sample("SparkApplication")
    spark["metadata"]["annotations"] = {"tidegate.dev/min-count": "1"}
    annotations = render(spark, {}, "yunikorn").object["spec"]["driver"]["annotations"]
    assert _groups(annotations)["spark-executor"]["minMember"] == 1


PLACEHOLDER = re.compile(r"[a-z0-9-]+")


@pytest.mark.parametrize(
    ("submission", "expected"),
    [
        (Submission(resource_type="LAUNCH_PLAN", id="42"), "launch-plan-42"),
        (Submission(resource_type="task", id="42"), "task-42"),
        (Submission(resource_type="task", id="A_7"), "task-a-7-"),
        (Submission(resource_type="task", id="a.7"), "task-a-7-"),
    ],
)
def test_placeholders_can_be_named_after_the_application(submission: Submission, expected: str) -> None:
    """YuniKorn names placeholder pods after application and group; with capitals or underscores in them none could be
    made, and the gang waited for nothing. Flyte's resource types are written like that."""
    done = render(sample("RayCluster"), submission, CONFIG)
    labels = done.object["spec"]["headGroupSpec"]["template"]["metadata"]["labels"]
    assert labels[f"{PREFIX}/app-id"].startswith(expected)
    assert PLACEHOLDER.fullmatch(labels[f"{PREFIX}/app-id"])
    given = f"{submission.resource_type}-{submission.id}"
    assert any(note.about == "application" for note in done.notes) == (labels[f"{PREFIX}/app-id"] != given)
    again = render(done.object, submission, CONFIG).object
    assert again == done.object


def test_ids_that_differ_only_in_case_stay_different() -> None:
    written = [
        str(render(sample("RayCluster"), Submission(id=one), CONFIG).object) for one in ("A7", "a7", "a_7", "A-7")
    ]
    assert len(set(written)) == 4


def test_without_a_gang_an_id_stays_as_it_was_given() -> None:
    done = render(sample("Job"), Submission(resource_type="TASK", id="A_7"), CONFIG).object
    assert done["spec"]["template"]["metadata"]["labels"][f"{PREFIX}/app-id"] == "TASK-A_7"


def test_groups_that_are_not_called_like_pods_get_another_name() -> None:
    ray = sample("RayCluster")
    ray["spec"]["workerGroupSpecs"][0]["groupName"] = "GPU_Group"
    template = render(ray, {}, "yunikorn").object["spec"]["workerGroupSpecs"][0]["template"]
    annotations = template["metadata"]["annotations"]
    name = annotations[f"{PREFIX}/task-group-name"]
    assert name.startswith("gpu-group-")
    assert name in _groups(annotations)


def test_in_client_mode_executors_bring_the_gang() -> None:
    spark = sample("SparkApplication")
    spark["spec"]["mode"] = "client"
    annotations = render(spark, {}, "yunikorn").object["spec"]["executor"]["annotations"]
    assert set(_groups(annotations)) == {"spark-executor"}


def test_a_listed_type_has_its_queue_also_without_an_organisation() -> None:
    done = render(sample("RayCluster"), {}, CONFIG)
    assert f"'{PREFIX}/queue': 'root.ray'" in str(done.object)
    assert f"'{PREFIX}/queue': 'root.default'" in str(render(sample("DaskCluster"), {}, CONFIG).object)
