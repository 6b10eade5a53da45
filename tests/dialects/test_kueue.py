"""Kueue's words, and what it cannot take."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.dialects import DialectError, Fate, Submission, render
from tidegate.model.jobs import without

Json = Any
PREFIX = "kueue.x-k8s.io"


def test_queue_and_priority_are_labels_of_the_object() -> None:
    job = sample("Job")
    job["metadata"]["labels"] = {"tidegate.dev/priority-class": "high"}
    done = render(job, Submission(organisation="org1", job_type="ray"), "kueue")
    assert (
        done.object["metadata"]["labels"] | {f"{PREFIX}/queue-name": "ray", f"{PREFIX}/priority-class": "high"}
        == (done.object["metadata"]["labels"])
    )
    assert any("ClusterQueue org1" in note.message for note in done.notes)


def test_the_queue_a_tidegate_user_named_is_the_local_queue() -> None:
    job = sample("Job")
    job["metadata"]["labels"] = {"tidegate.dev/queue": "nightly"}
    assert render(job, {}, "kueue").object["metadata"]["labels"][f"{PREFIX}/queue-name"] == "nightly"
    assert render(sample("Job"), {}, "kueue").object["metadata"]["labels"][f"{PREFIX}/queue-name"] == "default"


@pytest.mark.parametrize("where", ["dynamicAllocation", "sparkConf"])
@pytest.mark.parametrize("kind", ["SparkApplication", "ScheduledSparkApplication"])
def test_dynamic_allocation_is_refused_with_what_to_do(kind: str, where: str) -> None:
    spark = sample(kind)
    spec = spark["spec"] if kind == "SparkApplication" else spark["spec"]["template"]
    spec[where] = {"enabled": True} if where == "dynamicAllocation" else {"spark.dynamicAllocation.enabled": "true"}
    with pytest.raises(
        DialectError, match=r"dynamicAllocation is on, and Kueue takes only .* fixed size; switch it off"
    ):
        render(spark, {}, "kueue")


def _ray_job(**spec: Json) -> Json:
    job = sample("RayJob")
    job["spec"] |= spec
    return job


def _spark(mode: str) -> Json:
    spark = sample("SparkApplication")
    spark["spec"]["mode"] = mode
    return spark


def _wide() -> Json:
    jobset = sample("JobSet")
    one = jobset["spec"]["replicatedJobs"][0]
    jobset["spec"]["replicatedJobs"] = [one | {"name": f"j{index}"} for index in range(19)]
    return jobset


def _headed() -> Json:
    ray = sample("RayCluster")
    ray["spec"]["workerGroupSpecs"][0]["groupName"] = "head"
    return ray


@pytest.mark.parametrize(
    ("obj", "said"),
    [
        (_ray_job(clusterSelector={"ray.io/cluster": "x"}), "names a running cluster"),
        (_ray_job(rayClusterSpec=None), "rayClusterSpec is missing"),
        (_spark("client"), "takes only cluster mode"),
        (_wide(), "has 19 pod sets, and Kueue takes at most 18"),
        (_headed(), 'a worker group is called "head"'),
    ],
)
def test_what_kueues_webhooks_refuse_is_refused_before(obj: Json, said: str) -> None:
    with pytest.raises(DialectError) as caught:
        render(obj, {}, "kueue")
    assert said in str(caught.value)


def test_autoscaled_ray_is_elastic_and_gated() -> None:
    done = render(without(sample("RayJob"), ("spec", "shutdownAfterJobFinishes")), {}, "kueue")
    assert done.object["metadata"]["annotations"][f"{PREFIX}/elastic-job"] == "true"
    cluster = done.object["spec"]["rayClusterSpec"]
    gate = [{"name": f"{PREFIX}/elastic-job"}]
    assert cluster["headGroupSpec"]["template"]["spec"]["schedulingGates"] == gate
    assert all(group["template"]["spec"]["schedulingGates"] == gate for group in cluster["workerGroupSpecs"])
    assert done.object["spec"]["shutdownAfterJobFinishes"] is True
    assert any(note.about == "spec.shutdownAfterJobFinishes" for note in done.notes)


def test_a_jobs_floor_is_partial_admission_and_its_ceiling_makes_it_elastic() -> None:
    job = sample("Job")
    job["metadata"]["annotations"] = {"tidegate.dev/min-count": "2"}
    annotations = render(job, {}, "kueue").object["metadata"]["annotations"]
    assert annotations[f"{PREFIX}/job-min-parallelism"] == "2"
    job["metadata"]["annotations"] = {"tidegate.dev/max-count": "8"}
    annotations = render(job, {}, "kueue").object["metadata"]["annotations"]
    assert annotations[f"{PREFIX}/elastic-job"] == "true"
    assert f"{PREFIX}/job-min-parallelism" not in annotations, "Kueue refuses both together"


def test_floors_that_kueue_does_not_know_are_noted() -> None:
    done = render(sample("PyTorchJob"), {}, "kueue")
    assert [note.about for note in done.dropped] == ["floor of worker"]


def test_dask_is_one_group_that_may_start_and_end() -> None:
    dask = render(sample("DaskJob"), {}, "kueue").object
    worker = dask["spec"]["cluster"]["spec"]["worker"]["metadata"]
    assert worker["labels"][f"{PREFIX}/pod-group-name"] == "daskjob"
    assert worker["annotations"] == {
        f"{PREFIX}/pod-group-total-count": "5",
        f"{PREFIX}/pod-group-fast-admission": "true",
        f"{PREFIX}/retriable-in-group": "false",
    }


def test_a_cron_jobs_label_goes_to_its_jobs() -> None:
    done = render(sample("CronJob"), {}, "kueue").object
    assert done["spec"]["jobTemplate"]["metadata"]["labels"] == {f"{PREFIX}/queue-name": "default"}
    assert "labels" not in done["metadata"]


def test_plain_pods_keep_their_gang() -> None:
    pod = sample("Pod")
    pod["metadata"]["labels"] = {"tidegate.dev/pod-group": "g", "tidegate.dev/pod-group-size": "3"}
    metadata = render(pod, {}, "kueue").object["metadata"]
    assert metadata["labels"][f"{PREFIX}/pod-group-name"] == "g"
    assert metadata["annotations"][f"{PREFIX}/pod-group-total-count"] == "3"


def test_users_and_preemption_have_no_place_and_that_is_said() -> None:
    config = {"scheduler": "kueue", "jobs": [{"type": "job", "allow-preemption": False, "gangscheduling": ""}]}
    done = render(sample("Job"), Submission(user="u", job_type="job"), config)
    assert {note.about for note in done.notes if note.fate is Fate.DROPPED} == {"user", "allow-preemption"}


@pytest.mark.parametrize("kind", ["SparkApplication", "ScheduledSparkApplication"])
def test_what_kueue_would_not_count_of_spark_is_spelled_out(kind: str) -> None:
    """Kueue counted no cores and no executors where the application leaves them to Spark's defaults."""
    spark = sample(kind)
    inner = spark["spec"].get("template", spark["spec"])
    inner["driver"], inner["executor"] = {"memory": "1g"}, {"cores": 2, "memory": "1g"}
    done = render(spark, {}, "kueue")
    written = done.object["spec"].get("template", done.object["spec"])
    assert written["driver"]["coreRequest"] == "1"
    assert (written["executor"]["coreRequest"], written["executor"]["instances"]) == ("2", 2)
    assert any(note.about.endswith("executor.memory") and "1433Mi" in note.message for note in done.notes)
    assert render(done.object, {}, "kueue").object == done.object
