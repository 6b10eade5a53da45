"""Rendered queue trees, judged by YuniKorn's own validator of `queues.yaml`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.dialects.peers.programs import program
from tests.dialects.trees import COMPANY, queue_objects
from tidegate.dialects.queues import TARGETS, parse_tree

pytestmark = pytest.mark.kube
Json = Any
Judge = Callable[[Json], str]

# What Kubernetes takes for an amount and YuniKorn has no notation for, or no room.
ODD = st.sampled_from(["0", "0.1Gi", "1500m", "2.5", "1e3", "100n", "333u", "12E", "7Ei", "1Ki", "0.5"])
NAMES = st.sampled_from(["a", "b", "q0", "node-0", "node-1", "a-b", "b-q0", "v1.2", "a-node-0"])


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    """Asks one program for all verdicts: `ok`, or what YuniKorn has against a document."""
    command = [str(program("yunikorn-queues"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as asked:
        assert asked.stdin
        assert asked.stdout
        to, answers = asked.stdin, asked.stdout

        def verdict(document: Json) -> str:
            to.write(json.dumps(document) + "\n")
            to.flush()
            return answers.readline().strip()

        yield verdict
        to.close()
        assert asked.wait(timeout=10) == 0


def _rendered(objects: list[Json]) -> Json:
    (document,) = TARGETS["yunikorn"](parse_tree(objects)).objects
    return document


def test_the_company_is_a_configuration_that_yunikorn_takes(judge: Judge) -> None:
    assert judge(_rendered(COMPANY)) == "ok"


@given(queue_objects())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_tree_is_a_configuration_that_yunikorn_takes(judge: Judge, objects: list[Json]) -> None:
    assert judge(_rendered(objects)) == "ok"


@st.composite
def odd_objects(draw: st.DrawFn) -> list[Json]:
    """Trees with amounts that YuniKorn cannot write, with doors called like nodes, and with limits and submitters."""
    objects = draw(queue_objects())
    for obj in objects:
        if obj["kind"] == "ClusterQueue":
            for quotas in obj["spec"]["quotas"]:
                for quota in quotas["resources"].values():
                    quota |= {key: draw(ODD) for key in quota if key != "lendingLimit"}
            if draw(st.booleans()):
                obj["spec"]["submitters"] = {"users": draw(st.lists(st.sampled_from(["anna", "bo"]), unique=True))}
                obj["spec"]["submitters"]["groups"] = draw(st.lists(st.sampled_from(["g1", "g2"]), unique=True))
        elif draw(st.booleans()):
            obj["metadata"]["name"] = draw(NAMES)
            obj["spec"]["limits"] = {draw(st.sampled_from(["cpu", "memory"])): draw(ODD)}
    doors: Json = {(obj["metadata"].get("namespace"), obj["metadata"]["name"]): obj for obj in objects}
    return list(doors.values())


@given(odd_objects())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_amounts_and_names_become_what_yunikorn_takes(judge: Judge, objects: list[Json]) -> None:
    assert judge(_rendered(objects)) == "ok"


def _queue(**fields: Json) -> Json:
    return {"partitions": [{"name": "default", "queues": [{"name": "root", "queues": [fields]}]}]}


BAD = [
    ("a name with a dot", _queue(name="a.b")),
    ("a fraction", _queue(name="a", resources={"max": {"memory": "1.5Gi"}})),
    ("a guarantee above the maximum", _queue(name="a", resources={"guaranteed": {"vcore": 2}, "max": {"vcore": 1}})),
    ("a field that is not there", _queue(name="a", weight=3)),
    ("a child above its parent", _queue(
        name="a", resources={"max": {"vcore": "1"}}, queues=[{"name": "b", "resources": {"max": {"vcore": "2"}}}]
    )),
    ("two of one name", _queue(name="a", queues=[{"name": "b"}, {"name": "b"}])),
    ("children guaranteed more than there is", _queue(
        name="a", resources={"max": {"vcore": "1"}}, queues=[{"name": "b", "resources": {"guaranteed": {"vcore": "2"}}}]
    )),
]  # fmt: skip


@pytest.mark.parametrize("document", [pytest.param(document, id=what) for what, document in BAD])
def test_yunikorn_does_refuse_what_is_wrong(judge: Judge, document: Json) -> None:
    """So that the laws above mean something."""
    assert judge(document) != "ok"
