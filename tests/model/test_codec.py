"""Manifests: what is written comes back, and what is wrong is named with its remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.model.manifests import GOOD, WRONG, Wrong, good, wrong
from tests.model.strategies import objects
from tidegate.model.check import broken_rules
from tidegate.model.codec import decode, encode, read, read_json
from tidegate.model.kinds import API_VERSION, KINDS, SERVED, ClusterQueue, Kind, Queue, Workload
from tidegate.model.kinds.workload import WaitingReason
from tidegate.model.problems import ManifestError
from tidegate.model.resources import Resources

CONTRACT = list(yaml.safe_load_all((Path(__file__).parent / "contract.yaml").read_text()))


def problems(manifest: object) -> list[str]:
    with pytest.raises(ManifestError) as caught:
        decode(manifest)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("kind", SERVED, ids=lambda kind: kind.__name__)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_what_is_written_is_read_back(kind: type[Kind], data: st.DataObject) -> None:
    value = data.draw(objects(kind))
    manifest = encode(value)
    assert read(kind, manifest) == value
    assert read_json(kind, msgspec.json.encode(manifest)) == value
    assert encode(read(kind, manifest)) == manifest
    if not list(broken_rules(value)):
        assert decode(manifest) == value


@pytest.mark.parametrize("manifest", CONTRACT, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_examples_of_the_contract_decode(manifest: Any) -> None:
    value = decode(manifest)
    assert decode(encode(value)) == value
    assert decode({"apiVersion": API_VERSION} | manifest) == value


@pytest.mark.parametrize("kind", GOOD)
def test_good_manifests_decode(kind: str) -> None:
    assert isinstance(decode(good(kind)), KINDS[kind])


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_a_fault_is_named_with_its_field_and_remedy(case: Wrong) -> None:
    line = problems(wrong(case))[0]
    field, _, message = ("<nil>: " + line if case.named == "<nil>" else line).partition(": ")
    assert field == case.named
    assert ";" in message


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ([], "a manifest is a mapping; begin it with kind: and metadata:"),
        ({"metadata": {}}, "kind: is missing; write one of ResourceFlavor"),
        ({"kind": "Que", "metadata": {}}, 'kind: "Que" is not a kind of tidegate.dev/v1alpha1; did you mean Queue?'),
        ({"apiVersion": "v1", "kind": "Queue"}, 'apiVersion: "v1" is not known here; write tidegate.dev/v1alpha1'),
        ({"kind": "Queue"}, "metadata: is missing; add it"),
        ({"kind": "Queue", "metadata": {"name": 1}}, "metadata.name: 1 is not text; write it in quotes"),
        (good("Queue") | {"spec": {"wieght": 2}}, "spec.wieght: is not a field here; did you mean weight?"),
        (good("Queue") | {"sepc": {}}, "sepc: is not a field here; did you mean spec?"),
        (
            good("Queue") | {"spec": {"request": {"nvidia.com/gpu": "x"}}},
            'spec.request[nvidia.com/gpu]: "x" is not a quantity; write a number',
        ),
        (good("Queue") | {"spec": {"weight": 2.5}}, "spec.weight: 2.5 is not a whole number; write one without quotes"),
        (good("Queue") | {"spec": {"weight": None}}, "spec.weight: an empty value is not a whole number"),
        (good("Queue") | {"spec": {"request": {"cpu": 0.5}}}, 'stands in quotes: "0.5"'),
    ],
)
def test_faults_are_told_in_words(manifest: object, said: str) -> None:
    (line,) = problems(manifest)
    assert said in line


def test_all_faults_are_told_at_once() -> None:
    manifest = {"kind": "Queue", "metadata": {}, "spec": {"weight": 0, "limits": {"cpu": "x"}, "colour": "red"}}
    assert [line.split(":")[0] for line in problems(manifest)] == ["spec.weight", "spec.limits.cpu", "spec.colour"]


def test_an_empty_spec_is_as_good_as_none() -> None:
    assert decode({"kind": "Queue", "metadata": {"name": "a"}, "spec": None}) == decode(
        {"kind": "Queue", "metadata": {"name": "a"}}
    )


def test_a_status_says_what_is_zero_and_a_spec_does_not_say_what_is_usual() -> None:
    status = encode(decode(next(one for one in CONTRACT if one["kind"] == "Queue")))["status"]
    assert status == {
        "deserved": {},
        "allocated": {},
        "used": {},
        "share": "0",
        "pendingWorkloads": 0,
        "admittedWorkloads": 0,
        "conditions": [],
    }
    assert encode(decode(good("Queue") | {"spec": {"weight": 1, "clusterQueue": "a"}}))["spec"] == {"clusterQueue": "a"}


@pytest.mark.parametrize(
    ("operator", "values", "matched"),
    [
        ("In", ["a", "b"], [True, False, False]),
        ("NotIn", ["a", "b"], [False, True, True]),
        ("Exists", [], [True, True, False]),
        ("DoesNotExist", [], [False, False, True]),
    ],
)
def test_selectors_match_as_in_kubernetes(operator: str, values: list[str], matched: list[bool]) -> None:
    expression = {"key": "team", "operator": operator} | ({"values": values} if values else {})
    spec = {"namespaceSelector": {"matchLabels": {"x": "y"}, "matchExpressions": [expression]}}
    selector = read(ClusterQueue, good("ClusterQueue") | {"spec": spec}).spec.namespace_selector
    assert [selector.matches({"x": "y"} | labels) for labels in ({"team": "a"}, {"team": "c"}, {})] == matched
    assert not selector.matches({"team": "a"})


def test_fields_of_a_newer_version_are_passed_over_when_a_server_sent_them() -> None:
    assert (
        read(Queue, {"metadata": {"name": "a", "managedFields": []}, "spec": {"weight": 2, "new": 1}}).spec.weight == 2
    )


def test_reading_what_no_server_would_send_names_the_field() -> None:
    for refused in (lambda: read(Queue, BROKEN), lambda: read_json(Queue, msgspec.json.encode(BROKEN))):
        with pytest.raises(ManifestError, match=r"spec\.request\.cpu: \"x\" is not a quantity"):
            refused()


BROKEN = {"metadata": {"name": "a"}, "spec": {"request": {"cpu": "x"}}}


def test_python_sees_typed_values_under_its_own_names() -> None:
    workload = read(Workload, next(one for one in CONTRACT if one["kind"] == "Workload"))
    (executor,) = workload.spec.pod_sets
    assert (executor.floor, executor.desired) == (2, 8)
    assert executor.requests == Resources.parse({"cpu": 1, "memory": "2048Mi"})
    assert workload.status.waiting is not None
    assert workload.status.waiting.reason is WaitingReason.WAITING_FOR_QUOTA


def test_objects_do_not_change_and_can_be_keys() -> None:
    workload = read(Workload, good("Workload"))
    with pytest.raises(AttributeError):
        workload.spec.queue = "other"  # type: ignore[misc]
    requests = workload.spec.pod_sets[0].requests
    assert hash(requests) == hash(read(Workload, good("Workload")).spec.pod_sets[0].requests)
