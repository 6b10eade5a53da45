"""kubectl, before a real API server whose OpenAPI documents are ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness import Cluster
from tests.local.schema.openapi_front import openapi_front
from tests.local.schema.published import GROUP, KINDS

pytestmark = pytest.mark.kube

DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]},
        },
    },
}
WAVE: dict[str, Any] = {
    "apiVersion": f"{GROUP}/v1",
    "kind": "Wave",
    "metadata": {"name": "wave"},
    "spec": {"size": 2, "maybe": "x", "parts": [{"name": "x"}]},
}


@pytest.fixture(scope="module")
def front(publisher: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, list[str]]]:
    with openapi_front(publisher, KINDS, tmp_path_factory.mktemp("front")) as found:
        yield found


def _run(front: tuple[Cluster, list[str]], *args: str, stdin: Any = None, code: int = 0) -> str:
    done = front[0].kubectl(*args, stdin=json.dumps(stdin) if stdin else None)
    assert done.code == code, f"{args}: {done.code}\n{done.out}\n{done.err}"
    assert "warning: error calculating patch" not in done.err
    return done.out + done.err


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        (
            "pods.spec.containers.ports",
            r"containerPort\s+<integer> -required-.*protocol\s+<string>.*enum: SCTP, TCP, UDP",
        ),
        (
            "deployments",
            r"GROUP:\s+apps.*KIND:\s+Deployment.*apiVersion.*<string>.*APIVersion defines.*spec\s+<DeploymentSpec>",
        ),
        ("cronjobs.spec.jobTemplate.spec.template.spec.volumes", r"FIELDS:.*emptyDir\s+<EmptyDirVolumeSource>"),
        ("services.spec.ports.targetPort", r"targetPort <IntOrString>"),
        ("pods.spec.containers.resources.limits", r"limits <map\[string\]Quantity>"),
        ("waves.spec.parts", r"parts <\[\]Object>.*name\s+<string> -required-"),
        (
            "waves.metadata",
            r"Standard object's metadata.*creationTimestamp\s+<string>.*CreationTimestamp is a timestamp",
        ),
        ("foams", r"KIND:\s+Foam"),
    ],
)
def test_explain_knows(front: tuple[Cluster, list[str]], what: str, pattern: str) -> None:
    assert re.search(pattern, _run(front, "explain", what), re.DOTALL)


def test_explain_recursive_ends_where_schemas_contain_themselves(front: tuple[Cluster, list[str]]) -> None:
    assert "additionalProperties" in _run(front, "explain", "crds.spec.versions.schema", "--recursive")


def test_apply_merges_lists_by_their_keys(front: tuple[Cluster, list[str]]) -> None:
    """A patch that named the whole list would take away the container somebody else added."""
    _run(front, "create", "ns", "openapi")
    _run(front, "apply", "-n", "openapi", "-f", "-", stdin=DEPLOYMENT)
    added = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "c:1"}]}}}}
    _run(front, "patch", "-n", "openapi", "deploy", "web", "-p", json.dumps(added))
    changed = json.loads(json.dumps(DEPLOYMENT).replace("b:1", "b:2"))
    assert "b:2" in _run(front, "diff", "-n", "openapi", "-f", "-", stdin=changed, code=1)
    _run(front, "apply", "-n", "openapi", "-f", "-", stdin=changed)
    path = "{.spec.template.spec.containers[*].image}"
    images = _run(front, "get", "-n", "openapi", "deploy", "web", "-o", f"jsonpath={path}")
    assert sorted(images.split()) == ["a:1", "b:2", "c:1"]


def test_custom_kinds_are_created_applied_and_compared(front: tuple[Cluster, list[str]]) -> None:
    _run(front, "apply", "-f", "-", stdin=WAVE)
    larger = WAVE | {"spec": WAVE["spec"] | {"size": 5}}
    assert "size: 5" in _run(front, "diff", "-f", "-", stdin=larger, code=1)
    assert "configured" in _run(front, "apply", "-f", "-", stdin=larger)
    assert "serverside-applied" in _run(front, "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=WAVE)
    wrong = WAVE | {"metadata": {"name": "wrong"}, "nothing": 1}
    assert 'unknown field "nothing"' in _run(front, "create", "-f", "-", stdin=wrong, code=1)


def test_no_document_is_asked_for_in_protobuf_but_the_one_that_may_be_refused(
    front: tuple[Cluster, list[str]],
) -> None:
    assert {line for line in front[1] if "protobuf" in line and not line.startswith("/openapi/v2")} == set()
