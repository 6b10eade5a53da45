"""The example's files for platforms, used as a platform would."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.model.jobs.samples import sample
from tidegate.dialects import render
from tidegate.dialects.webhook import decide, parse_rules
from tidegate.model.jobs import Kinds, builtin, parse_kinds

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "03-other-schedulers"


def _module(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE / name))


def test_a_flyte_tasks_pod_template_and_custom_resource() -> None:
    flyte = _module("flyte_task.py")
    who = flyte["submission"]("org1", "anna", "task", "f1", "ray")
    spec, labels, annotations = flyte["pod_template"](sample("Pod")["spec"], who)
    assert spec["schedulerName"] == "yunikorn"
    assert labels["yunikorn.apache.org/queue"] == "root.org1.ray"
    assert "yunikorn.apache.org/user.info" in annotations
    _, labels, _ = flyte["pod_template"](sample("Pod")["spec"], flyte["submission"]("org1", "anna", "LAUNCH_PLAN"))
    assert labels["yunikorn.apache.org/queue"] == "root.org1.default", "a pod of a type that is not listed"
    (job,) = flyte["custom_resource"](sample("RayJob"), who)
    head = job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["metadata"]
    assert head["labels"]["yunikorn.apache.org/app-id"] == "task-f1"
    assert "yunikorn.apache.org/task-groups" in head["annotations"]


def test_an_airflow_tasks_pod() -> None:
    pod = _module("airflow_dag.py")["queued"](sample("Pod"), "org1", "anna")
    assert pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "airflow"


@pytest.mark.parametrize("scheduler", ["kueue", "yunikorn", "volcano", "tidegate"])
def test_an_argo_workflow_is_a_kind_of_ones_own(scheduler: str) -> None:
    kinds = builtin().with_more(parse_kinds(yaml.safe_load((EXAMPLE / "argo-kind.yaml").read_text())))
    workflow = yaml.safe_load((EXAMPLE / "argo.yaml").read_text())
    done = render(workflow, {"organisation": "org1", "id": "7"}, scheduler, kinds=kinds).object
    words = {"kueue": "'argo'", "yunikorn": "'root.org1.argo'", "volcano": "'org1-argo'", "tidegate": "'argo'"}
    assert words[scheduler] in str(done["spec"]["podMetadata"])
    assert done["spec"].get("schedulerName") == (scheduler if scheduler in ("yunikorn", "volcano") else None)
    assert done["spec"]["templates"] == workflow["spec"]["templates"]


def test_the_webhooks_rules_render_what_argo_makes() -> None:
    rules = parse_rules(yaml.safe_load((EXAMPLE / "webhook.yaml").read_text()))
    request = {"uid": "1", "operation": "CREATE", "namespace": "argo", "object": sample("Pod")}
    response = decide({"request": request}, rules).review["response"]
    assert response["allowed"]
    assert response["patch"]


@pytest.mark.parametrize("scheduler", ["kueue", "yunikorn", "volcano"])
def test_the_examples_objects_are_rendered(scheduler: str) -> None:
    own: Kinds = builtin().with_more(parse_kinds(yaml.safe_load((EXAMPLE / "own-kind.yaml").read_text())))
    for name in ("ray.yaml", "sweep.yaml"):
        obj = yaml.safe_load((EXAMPLE / name).read_text())
        assert render(obj, {"organisation": "org1"}, scheduler, kinds=own).objects


def test_the_pages_own_kind_is_the_examples() -> None:
    page = (ROOT / "docs" / "how-to" / "own-kind.md").read_text()
    block = page.split("```yaml\n")[1].split("```")[0]
    assert parse_kinds(yaml.safe_load(block)) == parse_kinds(yaml.safe_load((EXAMPLE / "own-kind.yaml").read_text()))
