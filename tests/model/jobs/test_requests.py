"""What a pod takes is the most it ever takes: the rule, against running the pod step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.jobs import pod_requests
from tidegate.model.jobs.pods.spark import spark_requests

Json = Any

_amount = st.integers(0, 8).map(str)
_requests = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), _amount, max_size=3)
_container = st.fixed_dictionaries({"resources": st.fixed_dictionaries({"requests": _requests, "limits": _requests})})
_init = st.builds(
    lambda container, sidecar: container | ({"restartPolicy": "Always"} if sidecar else {}), _container, st.booleans()
)


def _of(container: Json) -> dict[str, int]:
    stated = container["resources"]
    return {name: int(value) for name, value in (stated["limits"] | stated["requests"]).items()}


def _together(containers: list[Json]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        for name, amount in _of(container).items():
            total[name] = total.get(name, 0) + amount
    return total


def peak(pod: Json) -> dict[str, int]:
    """Start the init containers one by one, keep the sidecars, then start the rest; the most that ever ran together."""
    moments, kept = [], []
    for container in pod["initContainers"]:
        moments.append(_together([*kept, container]))
        if container.get("restartPolicy") == "Always":
            kept.append(container)
    moments.append(_together([*kept, *pod["containers"]]))
    names = {name for moment in moments for name in moment}
    most = {name: max(moment.get(name, 0) for moment in moments) for name in names}
    over = {name: int(value) for name, value in pod["overhead"].items()}
    return {name: most.get(name, 0) + over.get(name, 0) for name in most | over}


@given(
    st.fixed_dictionaries(
        {
            "containers": st.lists(_container, min_size=1, max_size=4),
            "initContainers": st.lists(_init, max_size=4),
            "overhead": _requests,
        }
    )
)
def test_a_pod_takes_the_most_it_ever_takes(pod: Json) -> None:
    expected = {name: str(amount) for name, amount in peak(pod).items() if amount}
    assert pod_requests(pod).quantities() == expected


def test_amounts_of_the_pod_as_a_whole_replace_the_sum() -> None:
    pod = {"containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}], "overhead": {"cpu": "100m"}}
    assert pod_requests(pod | {"resources": {"requests": {"cpu": "2"}}}).quantities() == {
        "cpu": "2100m",
        "memory": "1Gi",
    }


def test_nothing_that_is_said_of_the_pod_as_a_whole_is_nothing() -> None:
    """A request of 0 beside a limit was taken for none, and the limit was counted in its place."""
    limits = {"cpu": "1", "memory": "1Gi"}
    pod = {"containers": [{"name": "main"}], "resources": {"requests": {"cpu": "0"}, "limits": limits}}
    assert pod_requests(pod).quantities() == {"memory": "1Gi"}


def test_a_pod_that_is_resized_holds_the_larger_of_old_and_new() -> None:
    pod = {"containers": [{"name": "a", "resources": {"requests": {"cpu": "1"}}}]}
    status = {"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "3"}}]}
    assert pod_requests(pod, status=status).quantities() == {"cpu": "3"}


def test_numbers_without_quotes_are_quantities() -> None:
    assert pod_requests({"containers": [{"resources": {"requests": {"cpu": 0.5}}}]}).quantities() == {"cpu": "500m"}


def test_spark_gpus_and_sidecars_stand_beside_its_own_memory() -> None:
    app = {
        "type": "Scala",
        "executor": {
            "cores": 2,
            "memory": "1g",
            "gpu": {"name": "nvidia.com/gpu", "quantity": 1},
            "sidecars": [{"name": "s", "resources": {"requests": {"cpu": "100m"}}}],
        },
    }
    sized = spark_requests(app, "executor", ())
    assert sized.requests.quantities() == {"cpu": "2100m", "memory": "1408Mi", "nvidia.com/gpu": "1"}
    assert sized.written == {"cpu": "2100m", "memory": "1408Mi", "nvidia.com/gpu": "1"}


@pytest.mark.parametrize(
    ("app", "role", "memory", "cpu"),
    [
        ({"driver": {"memory": "1024"}, "type": "Java"}, "driver", "1408Mi", "1"),
        ({"driver": {"memory": "2g", "memoryOverhead": 600}}, "driver", "2648Mi", "1"),
        ({"driver": {"memory": "4g"}, "type": "Python"}, "driver", "5734Mi", "1"),
        ({"driver": {"memory": "2g"}, "sparkConf": {"spark.driver.memoryOverhead": "600"}}, "driver", "2648Mi", "1"),
        (
            {"executor": {"memory": "4g"}, "memoryOverheadFactor": "0.9",
             "sparkConf": {"spark.executor.memoryOverheadFactor": "0.25"}},
            "executor", "5120Mi", "1",
        ),
        (
            {"type": "Scala", "sparkConf": {"spark.executor.memory": "2g", "spark.executor.cores": "3"}},
            "executor", "2432Mi", "3",
        ),
        (
            {"type": "Scala", "executor": {"cores": 4, "memory": "1g"},
             "sparkConf": {"spark.kubernetes.executor.request.cores": "500m", "spark.executor.memory": "9g"}},
            "executor", "1408Mi", "500m",
        ),
        (
            {"type": "Scala", "executor": {"memory": "2g"},
             "sparkConf": {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "536870912"}},
            "executor", "2944Mi", "1",
        ),
    ],
)  # fmt: skip
def test_what_an_application_has_no_field_for_is_taken_from_its_settings(
    app: Json, role: str, memory: str, cpu: str
) -> None:
    """Pods were larger than what was reserved for them where sparkConf said so, and bare numbers, which are mebibytes
    to Spark (but for off-heap memory), were counted as bytes."""
    assert spark_requests(app, role, ()).written == {"cpu": cpu, "memory": memory}
