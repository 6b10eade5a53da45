"""The webhook's decision: a patch that gives what rendering gives, and nothing for what is not its own."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest

from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import Submission, render
from tidegate.dialects.webhook import decide, parse_rules
from tidegate.local.patch.json_patch import json_patch
from tidegate.model.problems import ManifestError

Json = Any
RULES = {
    "namespaces": {
        "team-a": {"organisation": "org1", "queueconfig": {"scheduler": "yunikorn"}},
        "team-k": {"queueconfig": {"scheduler": "kueue", "jobs": [{"type": "ray"}]}},
        "team-v": {"user": "robot", "groups": ["r"], "queueconfig": {"scheduler": "volcano"}},
    }
}


def _review(obj: Json, namespace: str = "team-a", operation: str = "CREATE") -> Json:
    request = {
        "uid": "u-1",
        "operation": operation,
        "namespace": namespace,
        "userInfo": {"username": "anna", "groups": ["a"]},
        "object": obj,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def _patched(obj: Json, response: Json) -> Json:
    assert response["patchType"] == "JSONPatch"
    return json_patch(copy.deepcopy(obj), json.loads(base64.b64decode(response["patch"])))


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"TrainJob"}))
def test_the_patch_gives_what_rendering_gives(kind: str) -> None:
    obj = sample(kind)
    decision = decide(_review(obj), parse_rules(RULES))
    response = decision.review["response"]
    assert (response["uid"], response["allowed"]) == ("u-1", True)
    expected = render(obj, Submission(organisation="org1", user="anna", groups=("a",)), "yunikorn").object
    assert _patched(obj, response) == expected
    assert obj == sample(kind)


@pytest.mark.parametrize(
    ("obj", "namespace", "operation"),
    [
        (sample("Job"), "elsewhere", "CREATE"),
        (sample("Job"), "team-a", "UPDATE"),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "team-a", "CREATE"),
        (
            sample("Pod") | {"metadata": {"ownerReferences": [{"kind": "RayCluster", "controller": True}]}},
            "team-a",
            "CREATE",
        ),
    ],
)
def test_what_is_not_its_own_passes_untouched(obj: Json, namespace: str, operation: str) -> None:
    response = decide(_review(obj, namespace, operation), parse_rules(RULES)).review["response"]
    assert response == {"uid": "u-1", "allowed": True}


def test_pods_of_owners_nobody_renders_are_rendered() -> None:
    """Argo's workflows make pods of their own; nobody else gives them to the scheduler."""
    pod = sample("Pod")
    pod["metadata"]["ownerReferences"] = [{"kind": "Workflow", "controller": True}]
    assert "patch" in decide(_review(pod), parse_rules(RULES)).review["response"]


def test_what_cannot_be_rendered_is_refused_with_the_sentence() -> None:
    spark = sample("SparkApplication")
    spark["spec"]["dynamicAllocation"] = {"enabled": True}
    response = decide(_review(spark, "team-k"), parse_rules(RULES)).review["response"]
    assert response["allowed"] is False
    assert "Kueue takes only Spark applications of a fixed size" in response["status"]["message"]


def test_what_is_lost_comes_back_as_a_warning_and_what_belongs_beside_it_is_handed_over() -> None:
    decision = decide(_review(sample("Job"), "team-v"), parse_rules(RULES))
    assert any("user" in warning for warning in decision.review["response"]["warnings"])
    (group,) = decision.others
    assert group["kind"] == "PodGroup"


def test_an_object_that_is_still_to_be_named_gets_the_requests_id() -> None:
    pod = sample("Pod")
    del pod["metadata"]["name"]
    pod["metadata"]["generateName"] = "task-"
    patched = _patched(pod, decide(_review(pod), parse_rules(RULES)).review["response"])
    assert patched["metadata"]["labels"]["yunikorn.apache.org/app-id"] == "pod-u-1"


def test_a_rule_for_every_namespace() -> None:
    rules = parse_rules({"namespaces": {"*": {"queueconfig": {"scheduler": "tidegate"}}}})
    assert "patch" in decide(_review(sample("Job"), "anywhere"), rules).review["response"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "namespaces: is missing"),
        ({"namespaces": {"a": None}}, "namespaces.a: is not a mapping"),
        ({"namespaces": {"a": {"queueconfig": {"scheduler": "x"}, "organization": "y"}}}, "organization: is not known"),
        ({"namespaces": {"a": {"queueconfig": {}}}}, "namespaces.a.queueconfig.scheduler: is missing"),
        (
            {"namespaces": {"a": {"queueconfig": {"scheduler": "x"}, "groups": ["g"]}}},
            "groups are given without a user",
        ),
        *(
            (
                {"namespaces": {"a": {"queueconfig": {"scheduler": "x"}, "user": "u", "groups": wrong}}},
                "namespaces.a.groups: ",
            )
            for wrong in ("text", 5, [5], {"a": "b"})
        ),
    ],
)
def test_rules_are_strict(content: Json, said: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_rules(content)
    assert said in str(caught.value)
