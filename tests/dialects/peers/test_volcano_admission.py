"""Rendered queues, PodGroups and pods in the hands of Volcano's own webhooks, and of its scheduler's reader of pods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.dialects.peers.pods import pods_of
from tests.dialects.peers.programs import Ask, asked
from tests.dialects.trees import COMPANY, odd_objects, queue_objects
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import DialectError, Submission, render
from tidegate.dialects.queues import TARGETS, parse_tree
from tidegate.model.resources import NOTHING, Resources

pytestmark = pytest.mark.kube
Json = Any
WHOLE = sorted(set(KINDS) - {"TrainJob"})
NO_FIXTURE_CHECK = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
FOUND_IS_FOUND = (Phase.explicit, Phase.reuse, Phase.generate)


@pytest.fixture(scope="module")
def volcano() -> Iterator[Ask]:
    with asked("volcano-admission") as ask:
        yield ask


def _created(volcano: Ask, *objects: Json) -> Json:
    return json.loads(volcano({"items": objects}))


def _queue(name: str, parent: str = "root", **spec: Json) -> Json:
    kind = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    return {**kind, "metadata": {"name": name}, "spec": {"parent": parent, "weight": 1, **spec}}


def _check_tree(volcano: Ask, objects: list[Json]) -> None:
    try:
        done = TARGETS["volcano"](parse_tree(objects))
    except DialectError as error:
        assert "would both be called" in str(error)
        return
    refused = _created(volcano, *done.objects)["refused"]
    # This version has a rule that the next one has no more; where it is broken, that is said.
    if any(note.about == "limits" for note in done.notes):
        refused = [why for why in refused if "capability" not in why and "not found" not in why]
    assert not refused


def test_the_company_is_taken(volcano: Ask) -> None:
    _check_tree(volcano, COMPANY)


@given(queue_objects())
@settings(max_examples=300, suppress_health_check=NO_FIXTURE_CHECK, phases=FOUND_IS_FOUND)
def test_every_tree_is_taken(volcano: Ask, objects: list[Json]) -> None:
    """Guarantees of children above what their parent keeps, and limits above their parent's, were refused."""
    _check_tree(volcano, objects)


@given(odd_objects())
@settings(max_examples=300, suppress_health_check=NO_FIXTURE_CHECK, phases=FOUND_IS_FOUND)
def test_trees_with_odd_amounts_are_taken(volcano: Ask, objects: list[Json]) -> None:
    # Of amounts near 2^63 Volcano's own sums are no more exact.
    text = json.dumps(objects).replace('"12E"', '"12T"').replace('"7Ei"', '"7Ti"')
    _check_tree(volcano, json.loads(text))


LIMIT: Json = {"capability": {"cpu": "2"}}
BAD = {
    "a parent that is not there": [_queue("a", "absent")],
    "its own parent": [_queue("a", "a")],
    "a limit above its parent's": [_queue("a", **LIMIT), _queue("b", "a", capability={"cpu": "3"})],
    "more deserved than allowed": [_queue("a", deserved={"cpu": "3"}, **LIMIT)],
    "more kept than deserved": [_queue("a", deserved={"cpu": "1"}, guarantee={"resource": {"cpu": "2"}})],
    "children that deserve more": [_queue("a", deserved={"cpu": "1"}), _queue("b", "a", deserved={"cpu": "2"})],
    "less than nothing": [_queue("a", capability={"cpu": "-1"})],
    "half a GPU": [_queue("a", capability={"nvidia.com/gpu": "500m"})],
}


@pytest.mark.parametrize("what", BAD)
def test_volcano_does_refuse_what_is_wrong(volcano: Ask, what: str) -> None:
    """So that the laws above mean something."""
    assert len(_created(volcano, *BAD[what])["refused"]) == 1


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=10, suppress_health_check=NO_FIXTURE_CHECK, phases=FOUND_IS_FOUND)
@given(allow=st.sampled_from([None, True, False]), organisation=st.sampled_from(["", "org1"]))
def test_every_pod_finds_its_group_and_every_group_its_queue(
    volcano: Ask, kind: str, allow: bool | None, organisation: str
) -> None:
    obj = sample(kind)
    config = {"scheduler": "volcano", "jobs": [{"type": "x", "gangscheduling": "", "allow-preemption": allow}]}
    done = render(obj, Submission(organisation=organisation, job_type="x"), config)
    (group,) = done.others
    assert group["spec"]["queue"] == ("org1-x" if organisation else "x")
    pods = pods_of(done.object)
    answer = _created(volcano, _queue(group["spec"]["queue"]), group, *(pod for _, pod in pods))
    assert not answer["refused"]
    where = f"{group['metadata']['namespace']}/{group['metadata']['name']}"
    assert {task["podGroup"] for task in answer["tasks"]} == {where}
    assert {task["preemptable"] for task in answer["tasks"]} == {allow is not False}
    roles = [task["role"] for task in answer["tasks"]]
    assert len(set(roles)) == len(roles) == len(pods)
    assert set(group["spec"].get("minTaskMember") or {}) <= set(roles)
    _check_resources(group, pods, answer["tasks"])


def _check_resources(group: Json, pods: list[Any], tasks: list[Json]) -> None:
    """What is reserved is what the scheduler will find the members to be, less what an operator adds to them."""
    least = NOTHING
    for (shape, _), task in zip(pods, tasks, strict=True):
        # In thousandths, but for memory; and it counts the pod itself, too.
        units = {name: "" if name == "memory" else "m" for name in task["requests"] if name != "pods"}
        found = Resources.parse({name: f"{task['requests'][name]:.0f}{unit}" for name, unit in units.items()})
        assert found == shape.requests, "a pod is as large to Volcano as it is to Tidegate"
        least += shape.containers * (shape.gang if shape.later else shape.floor)
    if "minResources" in group["spec"]:
        assert Resources.parse(group["spec"]["minResources"]) == least


def test_a_group_of_a_queue_that_is_not_there_is_refused(volcano: Ask) -> None:
    (group,) = render(sample("Job"), Submission(organisation="org1"), "volcano").others
    (why,) = _created(volcano, group)["refused"]
    assert "unable to find queue" in why
