"""Which pods fit this node, and what is said of those that do not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.local.agent import bind

NODE = {
    "metadata": {"name": "n", "labels": {"zone": "a", "cores": "8"}},
    "spec": {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "4", "memory": "4Gi", "pods": "3"}},
}
TOLERANT = [{"key": "gpu", "operator": "Exists"}]


def pod(cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "m", "resources": {"requests": {"cpu": cpu}}}
    wanted = {"containers": [container], "tolerations": TOLERANT, **spec}
    return {"metadata": {"name": "p", "namespace": "n"}, "spec": wanted}


def affinity(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(1, 5000), max_size=4), st.integers(1, 5000))
def test_a_pod_fits_exactly_if_its_requests_do(present: list[int], asked: int) -> None:
    """Never over-committed, and never refused where there is room."""
    others = [pod(f"{milli}m") for milli in present]
    fits = sum(present) + asked <= 4000 and len(present) < 3
    assert (bind.misfits(pod(f"{asked}m"), NODE, others) == []) is fits


def test_what_is_missing_is_told_in_numbers() -> None:
    assert bind.misfits(pod("3"), NODE, [pod("2")]) == ["Insufficient cpu (asks for 3, 2 of 4 is free)"]


def test_init_containers_count_by_their_peak_and_sidecars_with_the_rest() -> None:
    inits = [
        {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
        {"name": "i", "resources": {"requests": {"cpu": "2"}}},
    ]
    assert bind.requests_of(pod("1", initContainers=inits))["cpu"].milli == 2500
    assert bind.requests_of(pod("3", initContainers=inits))["cpu"].milli == 3500


@pytest.mark.parametrize(
    ("spec", "fits"),
    [
        ({}, True),
        ({"tolerations": []}, False),
        ({"tolerations": [{"key": "gpu", "value": "yes"}]}, True),
        ({"tolerations": [{"key": "gpu", "value": "no"}]}, False),
        ({"nodeSelector": {"zone": "a"}}, True),
        ({"nodeSelector": {"zone": "b"}}, False),
        ({"affinity": affinity({"key": "zone", "operator": "In", "values": ["a"]})}, True),
        ({"affinity": affinity({"key": "zone", "operator": "NotIn", "values": ["a"]})}, False),
        ({"affinity": affinity({"key": "cores", "operator": "Gt", "values": ["4"]})}, True),
        ({"affinity": affinity({"key": "cores", "operator": "Lt", "values": ["4"]})}, False),
        ({"affinity": affinity({"key": "none", "operator": "DoesNotExist"})}, True),
        ({"affinity": affinity()}, False),
    ],
)
def test_selectors_affinity_and_taints_are_honoured(spec: dict[str, Any], fits: bool) -> None:
    assert (bind.misfits(pod(**spec), NODE, []) == []) is fits


def test_gated_bound_and_foreign_pods_are_left_alone() -> None:
    assert bind.may_bind(pod())
    assert bind.may_bind(pod(schedulerName="default-scheduler"))
    assert not bind.may_bind(pod(schedulingGates=[{"name": "wait"}]))
    assert not bind.may_bind(pod(nodeName="n"))
    assert not bind.may_bind(pod(schedulerName="other"))
