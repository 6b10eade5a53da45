"""What the table reads from an object of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import JobError, PodSetShape, builtin, podsets, templates

Json = Any

ONE = {"cpu": "1", "memory": "1Gi"}

# kind: {pod set: (count, floor, ceiling, step)}
EXPECTED: dict[str, dict[str, tuple[int, int, int | None, int]]] = {
    "Job": {"main": (4, 4, None, 1)},
    "CronJob": {"main": (2, 2, None, 1)},
    "JobSet": {"leader": (1, 1, None, 1), "workers": (6, 6, None, 1)},
    "PyTorchJob": {"master": (1, 1, None, 1), "worker": (3, 1, 5, 1)},
    "TFJob": {"chief": (1, 1, None, 1), "ps": (2, 2, None, 1), "worker": (4, 4, None, 1)},
    "XGBoostJob": {"master": (1, 1, None, 1), "worker": (2, 2, None, 1)},
    "PaddleJob": {"worker": (2, 2, None, 1)},
    "JAXJob": {"worker": (2, 2, None, 1)},
    "MPIJob": {"launcher": (1, 1, None, 1), "worker": (2, 2, None, 1)},
    "TrainJob": {"node": (3, 3, None, 1)},
    "RayCluster": {"headgroup": (1, 1, None, 1), "small": (4, 2, 8, 2), "big": (1, 1, 1, 1)},
    "RayJob": {
        "headgroup": (1, 1, None, 1),
        "small": (4, 2, 8, 2),
        "big": (1, 1, 1, 1),
        "submittergroup": (1, 1, None, 1),
    },
    "RayService": {"headgroup": (1, 1, None, 1), "small": (4, 2, 8, 2), "big": (1, 1, 1, 1)},
    "SparkApplication": {"driver": (1, 1, None, 1), "executor": (3, 3, None, 1)},
    "ScheduledSparkApplication": {"driver": (1, 1, None, 1), "executor": (3, 3, None, 1)},
    "LeaderWorkerSet": {"leader": (2, 2, None, 1), "worker": (6, 6, None, 3)},
    "AppWrapper": {"component-0-main": (2, 2, None, 1), "component-1": (3, 3, None, 1)},
    "DaskCluster": {"scheduler": (1, 1, None, 1), "worker": (3, 3, None, 1)},
    "DaskJob": {"job-runner": (1, 1, None, 1), "scheduler": (1, 1, None, 1), "worker": (3, 3, None, 1)},
    "Deployment": {"main": (3, 0, None, 1)},
    "StatefulSet": {"main": (2, 2, None, 1)},
    "Pod": {"main": (1, 1, None, 1)},
    "QueueJob": {"ps": (1, 1, None, 1), "worker": (4, 2, None, 1)},
}


def shapes(obj: dict[str, object], **more: object) -> dict[str, PodSetShape]:
    read = podsets(builtin().of(obj), obj, find=builtin().find, **more)  # type: ignore[arg-type]
    return {shape.name: shape for shape in read}


def test_every_kind_of_the_table_has_a_sample() -> None:
    assert {entry.kind for entry in builtin().entries} == set(KINDS) == set(EXPECTED)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_floors_ceilings_and_steps_are_read(kind: str) -> None:
    read = shapes(sample(kind))
    assert {n: (s.count, s.floor, s.ceiling, s.step) for n, s in read.items()} == EXPECTED[kind]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"TrainJob"}))
def test_every_pod_set_is_described_somewhere_in_the_object(kind: str) -> None:
    obj = sample(kind)
    assert len(templates(builtin().of(obj), obj)) == len(EXPECTED[kind])


def test_ray_heads_hold_the_autoscaler_that_is_added_to_them() -> None:
    ray = sample("RayCluster")
    assert shapes(ray)["headgroup"].requests.quantities() == {"cpu": "1500m", "memory": "1536Mi"}
    ray["spec"]["autoscalerOptions"] = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    assert shapes(ray)["headgroup"].requests.quantities() == {"cpu": "2", "memory": "2Gi"}
    ray["spec"]["enableInTreeAutoscaling"] = False
    assert shapes(ray)["headgroup"].requests.quantities() == ONE


def test_what_is_added_to_a_head_runs_after_its_init_containers() -> None:
    """The autoscaler was added to the largest init container, although the two never run at once."""
    ray = sample("RayCluster")
    first = {"name": "first", "resources": {"requests": {"cpu": "1200m", "memory": "4Gi"}}}
    ray["spec"]["headGroupSpec"]["template"]["spec"]["initContainers"] = [first]
    assert shapes(ray)["headgroup"].requests.quantities() == {"cpu": "1500m", "memory": "4Gi"}


def test_ray_workers_take_at_least_what_waiting_for_the_head_takes() -> None:
    ray = sample("RayCluster")
    worker = ray["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]
    worker["resources"] = {"requests": {"cpu": "100m", "memory": "1Gi"}}
    assert shapes(ray)["small"].requests.quantities() == {"cpu": "200m", "memory": "1Gi"}


def test_ray_groups_without_autoscaler_are_gangs_of_all_and_suspended_ones_have_no_pods() -> None:
    ray = sample("RayCluster")
    ray["spec"]["enableInTreeAutoscaling"] = False
    assert (shapes(ray)["small"].count, shapes(ray)["small"].floor, shapes(ray)["small"].ceiling) == (4, 4, None)
    ray["spec"]["workerGroupSpecs"][0]["suspend"] = True
    assert (shapes(ray)["small"].count, shapes(ray)["small"].floor) == (0, 0)


@pytest.mark.parametrize(("mode", "there"), [("K8sJobMode", True), ("HTTPMode", False), ("SidecarMode", False)])
def test_a_ray_submitter_is_a_pod_of_its_own_in_one_mode_only(mode: str, there: bool) -> None:
    job = sample("RayJob")
    job["spec"]["submissionMode"] = mode
    assert ("submittergroup" in shapes(job)) is there
    beside = {"cpu": "2", "memory": "1736Mi"} if mode == "SidecarMode" else {"cpu": "1500m", "memory": "1536Mi"}
    assert shapes(job)["headgroup"].requests.quantities() == beside


def test_spark_with_dynamic_allocation_grows_from_its_minimum() -> None:
    spark = sample("SparkApplication")
    spark["spec"]["dynamicAllocation"] = {
        "enabled": True, "initialExecutors": 8, "minExecutors": 2, "maxExecutors": 20,
    }  # fmt: skip
    executor = shapes(spark)["executor"]
    assert (executor.count, executor.floor, executor.ceiling) == (8, 2, 20)
    del spark["spec"]["dynamicAllocation"]
    spark["spec"]["sparkConf"] = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.minExecutors": "4",
    }
    executor = shapes(spark)["executor"]
    assert (executor.count, executor.floor, executor.ceiling) == (4, 4, 2**31 - 1)


def test_scheduled_runs_and_text_in_any_case_are_read_like_any_other() -> None:
    """A scheduled application that grows by its settings was taken for one of fixed size, and "False" for true."""
    spark = sample("ScheduledSparkApplication")
    conf = spark["spec"]["template"]["sparkConf"] = {
        "spark.dynamicAllocation.enabled": "True",
        "spark.dynamicAllocation.minExecutors": "4",
    }
    executor = shapes(spark)["executor"]
    assert (executor.count, executor.floor, executor.ceiling) == (4, 4, 2**31 - 1)
    conf["spark.dynamicAllocation.enabled"] = "False"
    assert shapes(spark)["executor"].ceiling is None


def test_in_client_mode_spark_has_no_driver_pod() -> None:
    spark = sample("SparkApplication")
    spark["spec"]["mode"] = "client"
    assert set(shapes(spark)) == {"executor"}
    assert not shapes(spark)["executor"].later


@pytest.mark.parametrize(
    ("stated", "count"),
    [({}, 1), ({"completions": 5}, 1), ({"parallelism": 3}, 3), ({"parallelism": 4, "completions": 2}, 2)],
)
@pytest.mark.parametrize("kind", ["Job", "CronJob", "JobSet"])
def test_without_parallelism_pods_run_one_by_one(kind: str, stated: Json, count: int) -> None:
    """Kubernetes' default is 1 whatever the completions; all of them were reserved at once."""
    obj = sample(kind)
    spec = {"Job": lambda: obj["spec"], "CronJob": lambda: obj["spec"]["jobTemplate"]["spec"]}.get(
        kind, lambda: obj["spec"]["replicatedJobs"][0]["template"]["spec"]
    )()
    for name in ("parallelism", "completions"):
        spec.pop(name, None)
    spec |= stated
    if kind == "JobSet":
        obj["spec"]["replicatedJobs"][0]["replicas"] = 1
    assert next(iter(shapes(obj).values())).count == count


def test_a_train_jobs_pods_are_those_of_its_runtime_when_that_is_known() -> None:
    template = sample("Job")["spec"]["template"]
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    node = {"metadata": {"labels": labels}, "spec": {"template": template}}
    jobs = [{"name": "init", "template": {"spec": {"template": template}}}, {"name": "node", "template": node}]
    read = shapes(sample("TrainJob"), referred={"spec": {"template": {"spec": {"replicatedJobs": jobs}}}})
    assert {name: shape.count for name, shape in read.items()} == {"init": 1, "node": 3}
    assert all(shape.place is None for shape in read.values()), "another object's pods cannot be written here"


def test_annotations_state_floors_and_ceilings() -> None:
    job = sample("Job")
    job["metadata"]["annotations"] = {"tidegate.dev/min-count": "2", "tidegate.dev/max-count": "9"}
    assert (shapes(job)["main"].floor, shapes(job)["main"].ceiling) == (2, 9)
    tf = sample("TFJob")
    tf["metadata"]["annotations"] = {"tidegate.dev/min-count.ps": "1"}
    assert (shapes(tf)["ps"].floor, shapes(tf)["worker"].floor) == (1, 4)
    job["metadata"]["annotations"] = {"tidegate.dev/min-count": "two"}
    with pytest.raises(JobError, match=r'metadata.annotations\[tidegate.dev/min-count\]: "two" is not a count'):
        shapes(job)


def test_pods_that_ended_well_give_their_quota_back() -> None:
    job = sample("Job")
    job["status"] = {"succeeded": 5}
    assert shapes(job)["main"].reclaimed == 1, "3 are left to do, so one of 4 is not needed again"
    job["spec"]["completionMode"] = "Indexed"
    job["status"] = {"succeeded": 6, "completedIndexes": "0-4", "failedIndexes": "5"}
    assert shapes(job)["main"].reclaimed == 2
    jobset = sample("JobSet")
    jobset["status"] = {"replicatedJobsStatus": [{"name": "workers", "succeeded": 1}]}
    assert shapes(jobset)["workers"].reclaimed == 3


@pytest.mark.parametrize(
    ("kind", "path", "value", "said"),
    [
        ("Job", ("spec", "parallelism"), "many", 'spec.parallelism: "many" is not a count of pods'),
        ("Job", ("spec", "parallelism"), -1, 'spec.parallelism: "-1" is not a count of pods'),
        ("Job", ("spec", "parallelism"), "4", 'spec.parallelism: "4" is not a count of pods; write a whole number'),
        ("RayCluster", ("spec", "workerGroupSpecs"), {"a": {}}, "spec.workerGroupSpecs: \"{'a': {}}\" is not a list"),
        ("RayCluster", ("spec", "workerGroupSpecs"), ["a"], 'spec.workerGroupSpecs[0]: "a" is not a mapping'),
        ("TFJob", ("spec", "tfReplicaSpecs"), [1], 'spec.tfReplicaSpecs: "[1]" is not a mapping'),
        ("SparkApplication", ("spec", "driver", "cores"), "few", 'spec.driver.cores: "few" is not a quantity'),
        ("SparkApplication", ("spec", "driver", "memory"), "1 GB", 'spec.driver.memory: "1 GB" is not memory as Spark'),
        ("SparkApplication", ("spec", "memoryOverheadFactor"), "x", 'spec.memoryOverheadFactor: "x" is not a factor'),
        ("Job", ("spec", "template"), "text", "spec.template: is not a mapping"),
        ("Pod", ("spec", "containers"), [{"resources": {"requests": {"cpu": "x"}}}], '.requests.cpu: "x" is not a qu'),
    ],
)
def test_what_cannot_be_read_is_named(kind: str, path: tuple[str, ...], value: object, said: str) -> None:
    obj = sample(kind)
    inside = obj
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    with pytest.raises(JobError) as caught:
        shapes(obj)
    assert said in str(caught.value)


def test_long_lists_of_indexes_are_counted_without_writing_them_out() -> None:
    job = sample("Job")
    job["spec"] |= {"completionMode": "Indexed", "completions": 2**31 - 1, "parallelism": 10}
    job["status"] = {"completedIndexes": "0-2147483640,5-9,7", "failedIndexes": "3"}
    assert shapes(job)["main"].reclaimed == 4


def test_braces_of_others_are_left_alone() -> None:
    ray = sample("RayJob")
    image = "registry/${REGION}/ray:{x}"
    ray["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["image"] = image
    place = shapes(ray)["submittergroup"].place
    assert place is not None
    assert place.pod_content["containers"][0]["image"] == image
