"""What a pod says of itself."""

from __future__ import annotations

import json

import pytest

from tidegate.model.resources import NOTHING, Resources
from tidegate.workloads import REQUESTS, pod_facts


def pod(note: str) -> dict[str, object]:
    container = {"name": "main", "resources": {"requests": {"cpu": "2"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one", "namespace": "a", "annotations": {REQUESTS: note}},
        "spec": {"containers": [container]},
    }


def test_nobody_takes_more_room_than_his_pods_by_writing_so() -> None:
    """Whoever wrote a large amount there would have had others evicted, for room that his pod never took."""
    assert pod_facts(pod(json.dumps({"cpu": "1000", "memory": "1Ti"}))).granted == Resources.parse({"cpu": "2"})
    assert pod_facts(pod(json.dumps({"cpu": "500m"}))).granted == Resources.parse({"cpu": "500m"})


@pytest.mark.parametrize("note", ["", "5", "[1]", "{", "null", '{"cpu": null}', '{"cpu": "much"}', '{"cpu": "-1"}'])
def test_what_cannot_be_read_says_nothing(note: str) -> None:
    assert pod_facts(pod(note)).granted == NOTHING
