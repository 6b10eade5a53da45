"""Objects as their projects' own documentation shows them, with what is legal and rarely written: the pods that the
project makes of them are the pods that are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.jobs.samples import sample
from tidegate.model.jobs import JobError, builtin
from tidegate.workloads import Allowance, describe, start

Json = Any


def asked(obj: Json, referred: Json = None) -> dict[str, tuple[int, dict[str, str]]]:
    """By pod set: how many, and what each takes."""
    workload = describe(builtin().of(obj), obj, referred=referred)
    return {each.name: (each.count, each.requests.quantities()) for each in workload.spec.pod_sets}


def selectors(obj: Json, referred: Json = None) -> dict[str, dict[str, str]]:
    workload = describe(builtin().of(obj), obj, referred=referred)
    return {each.name: dict(each.node_selector) for each in workload.spec.pod_sets}


def container(name: str = "main", **requests: str) -> Json:
    return {"name": name, "image": "busybox:1", "resources": {"requests": requests}}


def spark(scheduled: bool = False, **spec: Json) -> tuple[Json, Json]:
    """A SparkApplication, perhaps in a schedule, and its spec."""
    obj = sample("ScheduledSparkApplication" if scheduled else "SparkApplication")
    inside = obj["spec"]["template"] if scheduled else obj["spec"]
    inside["type"] = "Scala"
    inside |= spec
    return obj, inside


@pytest.mark.parametrize("scheduled", [False, True])
def test_spark_settings_say_how_many_executors_where_no_field_does(scheduled: bool) -> None:
    """`spark.executor.instances` was not read: two executors were admitted, and the driver made ten."""
    obj, inside = spark(scheduled, sparkConf={"spark.executor.instances": "10"})
    del inside["executor"]["instances"]
    assert asked(obj)["executor"][0] == 10
    inside["executor"]["instances"] = 0
    assert asked(obj)["executor"][0] == 0, "a field counts before a setting, and 0 is a number"
    inside["sparkConf"] = {"spark.executor.instances": "ten"}
    del inside["executor"]["instances"]
    with pytest.raises(JobError, match=r'sparkConf\[spark.executor.instances\]: "ten" is not a count of pods'):
        asked(obj)


@pytest.mark.parametrize("scheduled", [False, True])
def test_spark_fields_and_settings_of_dynamic_allocation_are_read_together(scheduled: bool) -> None:
    """Where a field turned it on, what the settings said of it was not read."""
    conf = {"spark.dynamicAllocation.initialExecutors": "5", "spark.dynamicAllocation.minExecutors": "9"}
    obj, inside = spark(scheduled, sparkConf=conf, dynamicAllocation={"enabled": True, "minExecutors": 2})
    inside["executor"]["instances"] = 1
    assert asked(obj)["executor"][0] == 5


def test_containers_before_and_beside_sparks_own_are_counted() -> None:
    """Init containers of a role were not: the driver did not fit where it was admitted."""
    obj, inside = spark()
    inside["driver"] |= {
        "memory": "1g",
        "initContainers": [
            container("fetch", cpu="4", memory="8Gi"),
            {**container("log", cpu="100m"), "restartPolicy": "Always"},
        ],
        "sidecars": [container("proxy", cpu="200m")],
    }
    assert asked(obj)["driver"] == (1, {"cpu": "4", "memory": "8Gi"})
    inside["driver"]["initContainers"].pop(0)
    assert asked(obj)["driver"] == (1, {"cpu": "1300m", "memory": "1408Mi"})
    inside["driver"]["sidecars"] = [{"name": "proxy", "resources": {"requests": {"cpu": "lots"}}}]
    with pytest.raises(JobError, match=r"spec.driver.sidecars\[0\].resources.requests.cpu: "):
        asked(obj)


def test_a_template_of_sparks_pods_says_what_stands_beside_its_own_container() -> None:
    """Templates were not read at all. The operator puts no other field of the role into pods that have one, so what was
    granted is written to the template, too, or the pods would run anywhere."""
    obj, inside = spark(nodeSelector={"zone": "a"})
    template = {
        "spec": {
            "priorityClassName": "high",
            "nodeSelector": {"pool": "fast"},
            "overhead": {"cpu": "100m"},
            "initContainers": [container("fetch", memory="2Gi")],
            "containers": [
                container("proxy", cpu="200m"),
                container("spark-kubernetes-driver", cpu="64", **{"nvidia.com/gpu": "1"}),
            ],
        }
    }
    inside["driver"] |= {"memory": "1g", "template": template, "sidecars": [container("unheard", cpu="9")]}
    assert asked(obj)["driver"] == (1, {"cpu": "1300m", "memory": "2Gi", "nvidia.com/gpu": "1"})
    workload = describe(builtin().of(obj), obj)
    assert workload.spec.priority_class_name == "high"
    assert selectors(obj) == {"driver": {"zone": "a", "pool": "fast"}, "executor": {"zone": "a"}}
    allowed = Allowance(count=1, flavor="f", node_labels={"gpu": "a100"})
    started: Json = start(builtin().of(obj), obj, "w", {"driver": allowed, "executor": allowed})
    assert started["spec"]["driver"]["template"]["spec"]["nodeSelector"] == {"pool": "fast", "gpu": "a100"}
    assert "nodeSelector" not in started["spec"]["driver"]
    assert started["spec"]["executor"]["nodeSelector"] == {"gpu": "a100"}


def test_spark_settings_ask_for_devices_and_more_overhead() -> None:
    conf = {
        "spark.executor.resource.gpu.amount": "2",
        "spark.executor.resource.gpu.vendor": "nvidia.com",
        "spark.executor.minMemoryOverhead": "1g",
    }
    obj, inside = spark(sparkConf=conf)
    inside["executor"]["memory"] = "1g"
    assert asked(obj)["executor"] == (3, {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "2"})


def runtime(jobs: list[Json], **policy: Json) -> Json:
    return {"spec": {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": jobs}}}}


def replicated(name: str, *containers: Json, trainer: bool = False, **spec: Json) -> Json:
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"} if trainer else {}
    pod = {"containers": list(containers), "nodeSelector": {"pool": name}}
    return {"name": name, "template": {"metadata": {"labels": labels}, "spec": {"template": {"spec": pod}, **spec}}}


def test_a_runtime_says_how_many_nodes_where_its_train_job_does_not() -> None:
    """One node was admitted of the four that a runtime makes for a TrainJob that names no number."""
    train = sample("TrainJob")
    del train["spec"]["trainer"]["numNodes"]
    torch = runtime([replicated("node", container("node"), trainer=True, parallelism=7)], numNodes=4, torch={})
    assert asked(train, torch)["node"][0] == 4
    train["spec"]["trainer"]["numNodes"] = 2
    assert asked(train, torch)["node"][0] == 2
    del train["spec"]["trainer"]
    assert asked(train, runtime([replicated("node", container(), trainer=True, parallelism=7)]))["node"][0] == 7


def test_resources_of_a_train_job_are_those_of_one_container_of_its_nodes() -> None:
    """They replaced all the pod's containers: what runs beside and before the training was not counted."""
    train = sample("TrainJob")
    node = replicated("node", container("log", cpu="100m"), container("node", cpu="9"), trainer=True)
    node["template"]["spec"]["template"]["spec"]["initContainers"] = [container("fetch", memory="4Gi")]
    assert asked(train, runtime([node]))["node"] == (3, {"cpu": "1100m", "memory": "4Gi"})
    train["spec"]["trainer"]["resourcesPerNode"] = {}
    assert asked(train, runtime([node]))["node"] == (3, {"cpu": "9100m", "memory": "4Gi"})


@pytest.mark.parametrize(("launches", "nodes"), [(True, 3), (False, 4)])
def test_nodes_of_mpi_are_made_beside_their_launcher(launches: bool, nodes: int) -> None:
    """Every launcher was taken for one of the nodes, and of the nodes one was admitted."""
    train = sample("TrainJob")
    train["spec"]["trainer"]["numNodes"] = 4
    jobs = [replicated("node", container("node")), replicated("launcher", container("node"), trainer=True)]
    mpi = runtime(jobs, numNodes=1, mpi={"runLauncherAsNode": launches})
    assert {name: count for name, (count, _) in asked(train, mpi).items()} == {"node": nodes, "launcher": 1}


def test_where_a_train_jobs_pods_may_run_is_said_by_its_runtime_and_by_itself() -> None:
    """Neither was read, so they were granted flavors on whose nodes they cannot run."""
    train = sample("TrainJob")
    override = {"targetJobs": [{"name": "node"}], "nodeSelector": {"zone": "b"}}
    train["spec"]["podSpecOverrides"] = [override]
    jobs = [replicated("init", container()), replicated("node", container("node"), trainer=True)]
    assert selectors(train, runtime(jobs)) == {"init": {"pool": "init"}, "node": {"pool": "node", "zone": "b"}}


def test_a_train_jobs_job_that_succeeded_gives_back_all_its_pods() -> None:
    from tidegate.workloads import ended_pods

    train = sample("TrainJob") | {"status": {"jobsStatus": [{"name": "node", "succeeded": 1}]}}
    jobs = [replicated("init", container()), replicated("node", container("node"), trainer=True)]
    assert ended_pods(builtin().of(train), train, referred=runtime(jobs)) == {"init": 0, "node": 3}


def test_components_name_their_pods_by_items_of_lists() -> None:
    """A path with [0], as the documentation of AppWrapper has it, was said not to be there."""
    wrapper = sample("AppWrapper")
    groups = [{"template": {"spec": {"containers": [container(cpu=cpu)]}}} for cpu in ("1", "2")]
    own = {"apiVersion": "example.com/v1", "kind": "Own", "spec": {"groups": groups}}
    sets = [{"path": f"template.spec.groups[{index}].template", "replicas": index + 1} for index in (0, 1)]
    wrapper["spec"]["components"] = [{"template": own, "podSets": sets}]
    assert asked(wrapper) == {"component-0-0": (1, {"cpu": "1"}), "component-0-1": (2, {"cpu": "2"})}
    for path, said in (("template.spec.groups[*]", "is not a path"), ("template.spec.groups[5]", "is not there")):
        sets[0]["path"] = path
        with pytest.raises(JobError, match=said):
            asked(wrapper)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("schedulingGates", 7, 'spec.schedulingGates: "7" is not a list'),
        ("schedulingGates", ["mine"], 'spec.schedulingGates[0]: "mine" is not a mapping'),
        ("tolerations", {"key": "a"}, "is not a list"),
        ("nodeSelector", ["a"], "is not a mapping"),
    ],
)
@pytest.mark.parametrize("kind", ["RayCluster", "DaskCluster"])
def test_what_a_server_did_not_check_in_pods_is_named(kind: str, field: str, value: Json, said: str) -> None:
    """Operators whose kinds keep unknown fields take anything in a pod: it was a fault of ours, not of the object."""
    obj = sample(kind)
    place = obj["spec"]["worker"] if kind == "DaskCluster" else obj["spec"]["workerGroupSpecs"][0]["template"]
    place["spec"][field] = value
    entry = builtin().of(obj)
    allowed = Allowance(count=0, flavor="f", node_labels={"a": "b"}, tolerations=({"key": "x"},))
    with pytest.raises(JobError) as caught:
        start(entry, obj, "w", {each.name: allowed for each in describe(entry, obj).spec.pod_sets})
    assert said in str(caught.value)
