"""Rendered queue trees, judged by YuniKorn's own validator of `queues.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.dialects.peers.programs import Ask, asked
from tests.dialects.trees import COMPANY, odd_objects, queue_objects
from tidegate.dialects.queues import TARGETS, parse_tree

pytestmark = pytest.mark.kube
Json = Any


@pytest.fixture(scope="module")
def judge() -> Iterator[Ask]:
    """What YuniKorn has against a document, or `ok`."""
    with asked("yunikorn-queues") as ask:
        yield ask


def _rendered(objects: list[Json]) -> Json:
    (document,) = TARGETS["yunikorn"](parse_tree(objects)).objects
    return document


def test_the_company_is_a_configuration_that_yunikorn_takes(judge: Ask) -> None:
    assert judge(_rendered(COMPANY)) == "ok"


@given(queue_objects())
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_tree_is_a_configuration_that_yunikorn_takes(judge: Ask, objects: list[Json]) -> None:
    assert judge(_rendered(objects)) == "ok"


@given(odd_objects())
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_amounts_and_names_become_what_yunikorn_takes(judge: Ask, objects: list[Json]) -> None:
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
def test_yunikorn_does_refuse_what_is_wrong(judge: Ask, document: Json) -> None:
    """So that the laws above mean something."""
    assert judge(document) != "ok"
