"""Caches are small, and what controllers wrote is waited for."""

from __future__ import annotations

import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tidegate.kube.codec import codec_for
from tidegate.local.controllers.expectations import Expectations
from tidegate.local.controllers.objects import merge_patch
from tidegate.local.controllers.pods import Pod
from tidegate.local.controllers.ranking import least_missed_first
from tidegate.local.controllers.selectors import LabelSelector, matches

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def pod_line(at: int) -> bytes:
    """A pod of a Job as a server sends it, ten to a Job."""
    owner = f"12345678-1234-1234-1234-{at // 10:012}"
    labels = {"batch.kubernetes.io/controller-uid": owner, "job-name": f"job-{at // 10}"}
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": f"job-{at // 10}", "uid": owner, "controller": True}
    moment = "2026-01-01T00:00:00Z"
    metadata = {
        "name": f"job-{at // 10}-{at:05}",
        "namespace": "default",
        "uid": f"87654321-1234-1234-1234-{at:012}",
        "resourceVersion": str(at),
        "creationTimestamp": moment,
        "labels": labels,
        "ownerReferences": [reference],
        "finalizers": ["batch.kubernetes.io/job-tracking"],
        "managedFields": [{"manager": "x" * 200}],
    }
    kinds = ("Initialized", "Ready", "ContainersReady", "PodScheduled")
    container = {"name": "main", "image": "python", "resources": {"requests": {"cpu": "1"}}}
    status = {
        "phase": "Running",
        "conditions": [{"type": kind, "status": "True", "lastTransitionTime": moment} for kind in kinds],
        "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"running": {}}}],
        "podIPs": [{"ip": f"10.0.{at // 250}.{at % 250}"}],
    }
    body = {"metadata": metadata, "spec": {"containers": [container], "nodeName": "laptop"}, "status": status}
    return msgspec.json.encode({"type": "ADDED", "object": body})


def test_ten_thousand_pods_fit_in_twenty_megabytes() -> None:
    codec = codec_for(Pod)
    tracemalloc.start()
    try:
        pods = [codec.event(pod_line(at)).object for at in range(2000)]
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used / len(pods) < 2000
    assert pods[1999].metadata.labels["job-name"] == "job-199"


def test_equal_parts_of_pods_are_kept_once_and_never_mixed_up() -> None:
    first, second = (codec_for(Pod).event(pod_line(at)).object for at in (0, 1))
    assert first.metadata.labels is second.metadata.labels
    assert first.spec.containers is second.spec.containers
    assert type(first.status.container_statuses[0]) is not type(first.spec.containers[0])


def test_a_creation_is_waited_for_until_it_is_seen() -> None:
    expected = Expectations()
    expected.expect_creations("job", 2, NOW)
    expected.creation_seen("job")
    assert not expected.settled("job", "1", NOW)
    expected.creation_seen("job")
    assert expected.settled("job", "1", NOW)


def test_what_never_comes_is_given_up() -> None:
    expected = Expectations(patience_s=60)
    expected.expect_removals("job", {"pod"}, NOW)
    assert not expected.settled("job", "1", NOW + timedelta(seconds=59))
    assert expected.settled("job", "1", NOW + timedelta(seconds=61))


def test_an_older_version_of_the_object_is_not_decided_on() -> None:
    expected = Expectations()
    expected.expect_version("job", "10", NOW)
    assert not expected.settled("job", "9", NOW)
    assert expected.settled("job", "11", NOW)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.integers(0, 3) | st.text(max_size=2), lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from("abc"), JSON), st.dictionaries(st.sampled_from("abc"), JSON))
def test_a_merge_patch_turns_the_old_into_the_new(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert _merged(old, merge_patch(old, new)) == new


def _merged(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def pod(
    name: str, *, node: str = "n", phase: str = "Running", ready: bool = True, age_s: int = 100, **more: Any
) -> Pod:
    born = (NOW - timedelta(seconds=age_s)).isoformat()
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": born}]
    metadata = {"name": name, "uid": name, "creationTimestamp": born, **more}
    body = {"metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": phase, "conditions": conditions}}
    return msgspec.convert(body, Pod)


def test_the_least_missed_pod_goes_first() -> None:
    cost = "controller.kubernetes.io/pod-deletion-cost"
    ordered = [
        pod("unassigned", node=""),
        pod("pending", phase="Pending", ready=False),
        pod("unready", ready=False),
        pod("cheap", annotations={cost: "-5"}),
        pod("crowded", node="full"),
        pod("young", age_s=2),
        pod("old", age_s=10_000),
        pod("dear", annotations={cost: "5"}),
    ]
    neighbours = [pod("a", node="full"), pod("b", node="full")]
    assert least_missed_first(reversed(ordered), NOW, neighbours) == ordered


def test_selectors_match_as_kubernetes_has_them() -> None:
    def selected(operator: str, *values: str) -> list[bool]:
        need = {"key": "a", "operator": operator, "values": list(values)}
        selector = msgspec.convert({"matchExpressions": [need]}, LabelSelector)
        return [matches(selector, labels) for labels in ({"a": "1"}, {"a": "2"}, {})]

    assert selected("In", "1") == [True, False, False]
    assert selected("NotIn", "1") == [False, True, True]
    assert selected("Exists") == [True, True, False]
    assert selected("DoesNotExist") == [False, False, True]
    assert matches(LabelSelector(), {})
