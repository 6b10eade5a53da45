"""Seventeen inputs with what the operators and schedulers themselves make of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.dialects import DialectError, render
from tidegate.dialects.intent.gang import GangParameters, as_yunikorn_reads
from tidegate.model.jobs import builtin, podsets

Json = Any
GANG = {"ray.io/gang-scheduling-enabled": "true"}
TASK_GROUPS = "yunikorn.apache.org/task-groups"


def template(requests: Json, limits: Json | None = None) -> Json:
    resources = {"requests": requests} | ({"limits": limits} if limits else {})
    return {"spec": {"containers": [{"name": "c", "image": "i", "resources": resources}]}}


def ray(head: Json, groups: list[Json], labels: Json | None = None, **spec: Json) -> Json:
    metadata = {"name": "r", "namespace": "n", "labels": labels or {}}
    whole = {"headGroupSpec": {"rayStartParams": {}, "template": head}, "workerGroupSpecs": groups, **spec}
    return {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": metadata, "spec": whole}


def ray_job(cluster: Json, **spec: Json) -> Json:
    inner = {"entrypoint": "x", "rayClusterSpec": cluster["spec"], **spec}
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": cluster["metadata"], "spec": inner}


def group(each: Json, name: str = "worker-group-1", **counts: Json) -> Json:
    return {"groupName": name, "rayStartParams": {}, "template": each, **counts}


def of(cpu: str, memory: str, gpu: str = "") -> Json:
    return {"cpu": cpu, "memory": memory} | ({"nvidia.com/gpu": gpu} if gpu else {})


def groups_of(obj: Json, at: str = "headGroupSpec") -> dict[str, tuple[int, Json]]:
    """Task groups by name, after checking that every pod template has the same ones."""
    spec = render(obj, {}, "yunikorn").object["spec"]
    spec = spec.get("rayClusterSpec", spec)
    texts = {spec["headGroupSpec"]["template"]["metadata"]["annotations"][TASK_GROUPS]}
    texts |= {one["template"]["metadata"]["annotations"][TASK_GROUPS] for one in spec["workerGroupSpecs"]}
    (text,) = texts
    return {one["name"]: (one["minMember"], one["minResource"]) for one in json.loads(text)}


def test_1_a_groups_members_are_its_minimum_times_its_hosts() -> None:
    worker = group(template(of("2", "10Gi", "1")), minReplicas=2, numOfHosts=3, replicas=2)
    assert groups_of(ray(template(of("5", "5Gi")), [worker], GANG)) == {
        "headgroup": (1, of("5", "5Gi")),
        "worker-group-1": (6, of("2", "10Gi", "1")),
    }


def test_2_the_annotation_is_this_json() -> None:
    each = template(of("1", "1Gi"))
    rendered = render(ray(each, [group(each, minReplicas=1, replicas=1)], GANG), {}, "yunikorn").object
    text = rendered["spec"]["headGroupSpec"]["template"]["metadata"]["annotations"][TASK_GROUPS]
    assert json.loads(text) == json.loads(
        '[{"minResource":{"cpu":"1","memory":"1Gi"},"name":"headgroup","minMember":1},'
        '{"minResource":{"cpu":"1","memory":"1Gi"},"name":"worker-group-1","minMember":1}]'
    )


def test_3_a_ray_job_has_its_submitter_in_the_gang() -> None:
    cluster = ray(template(of("5", "5Gi")), [group(template(of("2", "10Gi")), minReplicas=1, replicas=1)], GANG)
    assert groups_of(ray_job(cluster))["submittergroup"] == (1, of("500m", "200Mi"))


def test_4_labels_for_kuberay_without_gang_give_labels_and_nothing_else() -> None:
    labels = {"yunikorn.apache.org/app-id": "job-1", "yunikorn.apache.org/queue": "root.default"}
    each = template(of("1", "1Gi"))
    spec = render(ray(each, [group(each, replicas=1)], labels), {}, "yunikorn").object["spec"]
    for pods in (spec["headGroupSpec"]["template"], spec["workerGroupSpecs"][0]["template"]):
        assert pods["metadata"] == {"labels": labels | {"applicationId": "job-1", "queue": "root.default"}}
        assert pods["spec"]["schedulerName"] == "yunikorn"


def volcano(obj: Json) -> tuple[int, Json]:
    (made,) = render(obj, {}, "volcano").others
    return made["spec"]["minMember"], made["spec"]["minResources"]


def small_ray(gpu: bool = True, autoscaling: bool = False, **counts: Json) -> Json:
    requests, limits = of("256m", "256Mi"), of("500m", "512Mi")
    worker = template(requests, limits | ({"nvidia.com/gpu": "1"} if gpu else {}))
    return ray(template(requests, limits), [group(worker, **counts)], enableInTreeAutoscaling=autoscaling)


def test_5_volcano_counts_requests_and_limits_where_there_is_no_request() -> None:
    assert volcano(small_ray(replicas=2, minReplicas=1, maxReplicas=4)) == (3, of("768m", "768Mi", "2"))


def test_6_volcano_counts_hosts() -> None:
    counted = volcano(small_ray(replicas=2, minReplicas=1, maxReplicas=4, numOfHosts=2))
    assert counted == (5, of("1280m", "1280Mi", "4"))


def test_7_volcano_counts_the_minimum_where_the_autoscaler_is_on() -> None:
    counted = volcano(small_ray(gpu=False, autoscaling=True, replicas=2, minReplicas=1, maxReplicas=4))
    assert counted == (2, of("512m", "512Mi"))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("K8sJobMode", of("1268m", "968Mi")),
        ("SidecarMode", of("1268m", "968Mi")),
        ("HTTPMode", of("768m", "768Mi")),
    ],
)
def test_8_volcano_reserves_for_the_submitter_and_does_not_wait_for_it(mode: str, expected: Json) -> None:
    job = ray_job(small_ray(gpu=False, replicas=2, minReplicas=1, maxReplicas=4), submissionMode=mode)
    assert volcano(job) == (3, expected)


def _two_groups(autoscaling: bool) -> Json:
    one = group(template(of("2", "100Mi")), "a", replicas=2, numOfHosts=2, minReplicas=1, maxReplicas=9)
    two = group(template(of("1", "200Mi")), "b", replicas=3, numOfHosts=1, minReplicas=0, maxReplicas=9)
    return ray(template(of("1", "100Mi")), [one, two], enableInTreeAutoscaling=autoscaling)


def test_9_wanted_and_least_resources() -> None:
    assert volcano(_two_groups(autoscaling=False)) == (8, of("12", "1100Mi"))
    assert volcano(_two_groups(autoscaling=True)) == (3, of("5", "300Mi"))


def test_10_a_suspended_group_counts_nothing() -> None:
    assert volcano(small_ray(replicas=2, minReplicas=1, maxReplicas=4, suspend=True)) == (1, of("256m", "256Mi"))


def spark(driver: Json, executor: Json, **spec: Json) -> Json:
    obj = sample("SparkApplication")
    obj["metadata"]["name"] = "test-app"
    obj["spec"] |= {"driver": driver, "executor": executor} | spec
    return obj


def spark_groups(obj: Json) -> dict[str, tuple[int, str, str]]:
    spec = render(obj, {}, "yunikorn").object["spec"]
    assert TASK_GROUPS not in spec["executor"]["annotations"], "the driver is there first"
    assert spec["executor"]["annotations"]["yunikorn.apache.org/task-group-name"] == "spark-executor"
    groups = json.loads(spec["driver"]["annotations"][TASK_GROUPS])
    return {one["name"]: (one["minMember"], *one["minResource"].values()) for one in groups}


def test_11_spark_in_scala() -> None:
    pod = {"cores": 1, "memory": "512m"}
    assert spark_groups(spark(pod, pod | {"instances": 2}, type="Scala")) == {
        "spark-driver": (1, "1", "896Mi"),
        "spark-executor": (2, "1", "896Mi"),
    }


def test_12_spark_in_python_with_factor_and_dynamic_allocation() -> None:
    driver = {"coreRequest": "2000m", "memory": "8g"}
    executor = {"cores": 8, "memory": "64g", "memoryOverhead": "2g", "instances": 4}
    dynamic = {"enabled": True, "initialExecutors": 8, "minExecutors": 2}
    obj = spark(driver, executor, type="Python", memoryOverheadFactor="0.3", dynamicAllocation=dynamic)
    assert spark_groups(obj) == {"spark-driver": (1, "2000m", "10649Mi"), "spark-executor": (8, "8", "67584Mi")}


def test_13_spark_in_python_has_more_overhead() -> None:
    pod = {"cores": 1, "memory": "1g"}
    assert spark_groups(spark(pod, pod | {"instances": 1}, type="Python"))["spark-driver"] == (1, "1", "1433Mi")


PYSPARK = {"spark.executor.pyspark.memory": "500m"}
OFF_HEAP = {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "400m"}


@pytest.mark.parametrize(
    ("conf", "expected"), [(PYSPARK, "1396Mi"), (OFF_HEAP, "1296Mi"), (PYSPARK | OFF_HEAP, "1796Mi")]
)
def test_14_executors_hold_python_and_off_heap_memory_too(conf: Json, expected: str) -> None:
    pod = {"cores": 1, "memory": "512m"}
    groups = spark_groups(spark(pod, pod | {"instances": 1}, type="Python", sparkConf=conf))
    assert (groups["spark-executor"][2], groups["spark-driver"][2]) == (expected, "896Mi")


def test_15_spark_for_scheduler_plugins() -> None:
    driver = {"cores": 1, "memory": "1Gi", "memoryOverhead": "256Mi"}
    executor = {"cores": 1, "memory": "2Gi", "memoryOverhead": "512Mi", "instances": 2}
    rendered = render(spark(driver, executor), {}, "scheduler-plugins")
    (made,) = rendered.others
    assert made["metadata"]["name"] == "test-app-pg"
    assert made["spec"] == {"minMember": 1, "minResources": {"cpu": "3", "memory": "6400Mi"}}
    for role in ("driver", "executor"):
        assert rendered.object["spec"][role]["labels"] == {"scheduling.x-k8s.io/pod-group": "test-app-pg"}
    with pytest.raises(DialectError, match=r'spec.driver.memory "1Gi" is Kubernetes. notation, which Spark does not'):
        render(spark(driver, executor), {}, "yunikorn")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x=y placeholderTimeoutInSeconds=50 gangSchedulingStyle=Hard=Soft", GangParameters(50, "Soft")),
        ("placeholderTimeoutInSeconds=oneSecond gangSchedulingStyle=Soft", GangParameters(0, "Soft")),
        ("gangSchedulingStyle=abc", GangParameters(0, "Soft")),
    ],
)
def test_16_what_yunikorn_makes_of_parameters(text: str, expected: GangParameters) -> None:
    assert as_yunikorn_reads(text) == expected
    each = template(of("1", "1Gi"))
    each["metadata"] = {"annotations": {"yunikorn.apache.org/schedulingPolicyParameters": text}}
    notes = render(ray(each, [], GANG), {}, "yunikorn").notes
    assert any(f"as {expected}" in note.message for note in notes), "kept as it is, and what becomes of it is said"


def test_17_kueue_counts_the_autoscaler_in_the_head() -> None:
    cluster = sample("RayCluster")
    head = podsets(builtin().of(cluster), cluster)[0]
    assert head.extra.quantities() == of("500m", "512Mi")
    rendered = render(cluster, {}, "kueue")
    assert rendered.object["metadata"]["annotations"] == {"kueue.x-k8s.io/elastic-job": "true"}
    assert any("500m cpu, 512Mi memory" in note.message for note in rendered.notes)
