"""What objects cost of a quota, and which quotas they count against."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.controllers.quota_usage import QuotaSpec, charge, pod_requests, quota_matches, total, usage_of
from tidegate.model.quantity import Quantity


def pod(*containers: dict[str, Any], init: tuple[dict[str, Any], ...] = (), phase: str = "Running", **spec: Any) -> Any:
    body = {"containers": list(containers), "initContainers": list(init), **spec}
    return {"metadata": {"name": "p", "namespace": "n"}, "spec": body, "status": {"phase": phase}}


def needs(sidecar: bool = False, **requests: str) -> dict[str, Any]:
    container = {"name": "c", "resources": {"requests": requests, "limits": requests}}
    return container | ({"restartPolicy": "Always"} if sidecar else {})


def shown(usage: dict[str, Quantity]) -> dict[str, str]:
    return {name: str(amount) for name, amount in usage.items()}


def quota(**spec: Any) -> QuotaSpec:
    return msgspec.convert(spec, QuotaSpec)


def test_a_pod_costs_its_requests_and_limits_under_every_name() -> None:
    usage = shown(usage_of("", "pods", pod(needs(cpu="100m", memory="1Gi"), needs(cpu="1"))))
    assert usage == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "1100m",
        "requests.cpu": "1100m",
        "limits.cpu": "1100m",
        "memory": "1Gi",
        "requests.memory": "1Gi",
        "limits.memory": "1Gi",
    }


def test_devices_are_counted_as_requests_only() -> None:
    usage = shown(usage_of("", "pods", pod(needs(**{"nvidia.com/gpu": "2"}))))
    assert usage == {"count/pods": "1", "pods": "1", "requests.nvidia.com/gpu": "2"}


def test_an_ended_pod_costs_only_its_count() -> None:
    for phase in ("Succeeded", "Failed"):
        assert shown(usage_of("", "pods", pod(needs(cpu="1"), phase=phase))) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("init", "expected"),
    [
        ((), "2"),
        ((needs(cpu="5"),), "5"),
        ((needs(cpu="1"), needs(cpu="1")), "2"),
        ((needs(True, cpu="1"),), "3"),
        ((needs(True, cpu="1"), needs(cpu="4")), "5"),
        ((needs(cpu="4"), needs(True, cpu="1")), "4"),
    ],
)
def test_init_containers_count_as_far_as_they_run_together(init: tuple[dict[str, Any], ...], expected: str) -> None:
    """Two containers of 1 cpu; init containers run before them, sidecars with whatever comes after."""
    from tidegate.local.controllers.quota_usage import as_pod

    whole = as_pod(pod(needs(cpu="1"), needs(cpu="1"), init=init))
    assert str(pod_requests(whole)["cpu"]) == expected


def test_overhead_comes_on_top() -> None:
    usage = shown(usage_of("", "pods", pod(needs(cpu="1"), overhead={"cpu": "250m", "memory": "64Mi"})))
    assert (usage["requests.cpu"], usage["requests.memory"]) == ("1250m", "64Mi")
    assert usage["limits.cpu"] == "1250m"
    assert "limits.memory" not in usage


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"type": "ClusterIP", "ports": [{"port": 1}]}, ("0", "0")),
        ({"type": "NodePort", "ports": [{"port": 1}, {"port": 2}]}, ("2", "0")),
        ({"type": "LoadBalancer", "ports": [{"port": 1}]}, ("1", "1")),
        ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False, "ports": [{"port": 1}]}, ("0", "1")),
    ],
)
def test_services_cost_their_node_ports(spec: dict[str, Any], expected: tuple[str, str]) -> None:
    usage = shown(usage_of("", "services", {"spec": spec}))
    assert (usage["services.nodeports"], usage["services.loadbalancers"]) == expected
    assert (usage["services"], usage["count/services"]) == ("1", "1")


def test_claims_cost_storage_in_all_and_by_class() -> None:
    claim = {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "10Gi"}}}}
    usage = shown(usage_of("", "persistentvolumeclaims", claim))
    assert usage["requests.storage"] == usage["fast.storageclass.storage.k8s.io/requests.storage"] == "10Gi"
    assert usage["fast.storageclass.storage.k8s.io/persistentvolumeclaims"] == "1"


def test_any_kind_can_be_counted() -> None:
    assert shown(usage_of("batch", "jobs", {})) == {"count/jobs.batch": "1"}


SCOPES = [
    ("Terminating", pod(needs(cpu="1"), activeDeadlineSeconds=1), pod(needs(cpu="1"))),
    ("NotTerminating", pod(needs(cpu="1")), pod(needs(cpu="1"), activeDeadlineSeconds=1)),
    ("BestEffort", pod({"name": "c"}), pod(needs(memory="1"))),
    ("NotBestEffort", pod(needs(cpu="1")), pod({"name": "c"})),
    ("PriorityClass", pod(needs(cpu="1"), priorityClassName="high"), pod(needs(cpu="1"))),
]


@pytest.mark.parametrize(("scope", "inside", "outside"), SCOPES, ids=[scope for scope, _, _ in SCOPES])
def test_scopes_tell_pods_apart(scope: str, inside: Any, outside: Any) -> None:
    spec = quota(hard={"pods": "1"}, scopes=[scope])
    assert quota_matches(spec, "", "pods", inside)
    assert not quota_matches(spec, "", "pods", outside)
    assert not quota_matches(spec, "", "services", {})


def test_scope_selectors_choose_priority_classes_by_name() -> None:
    def chosen(operator: str, *values: str) -> list[bool]:
        rule = {"scopeName": "PriorityClass", "operator": operator, "values": list(values)}
        spec = quota(hard={"pods": "1"}, scopeSelector={"matchExpressions": [rule]})
        names: list[dict[str, str]] = [{"priorityClassName": "high"}, {"priorityClassName": "low"}, {}]
        return [quota_matches(spec, "", "pods", pod(needs(cpu="1"), **name)) for name in names]

    assert chosen("In", "high") == [True, False, False]
    assert chosen("NotIn", "high") == [False, True, True]
    assert chosen("Exists") == [True, True, False]
    assert chosen("DoesNotExist") == [False, False, True]


def test_only_what_the_quota_names_is_charged() -> None:
    spec = quota(hard={"requests.cpu": "10"})
    assert shown(charge(spec, "", "pods", pod(needs(cpu="1", memory="1Gi")))) == {"requests.cpu": "1"}


@given(st.lists(st.integers(0, 10_000), max_size=20))
def test_the_sum_of_many_is_exact(millis: list[int]) -> None:
    charges = [usage_of("", "pods", pod(needs(cpu=f"{amount}m"))) for amount in millis]
    assert total(charges).get("cpu", Quantity(0)).milli == sum(millis)
