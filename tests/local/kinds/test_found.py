"""What the comparison with a real server once found to differ; each stays as a case that needs no server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.local.kinds import ours
from tests.local.kinds.mutants import Mutation, mutated

Json = Any


def create(kind: str, name: str, *changes: Mutation) -> ours.Verdict:
    return ours.created(mutated(ours.sample(kind, name), *changes))


def at(path: str, value: Json) -> Mutation:
    return Mutation(tuple(int(step) if step.isdecimal() else step for step in path.split(" ")), "=", value)


REFUSED = [
    ("Pod", "rich", at("spec preemptionPolicy", ""), {("FieldValueRequired", "spec.preemptionPolicy")}),
    (
        "Pod",
        "rich",
        at("spec topologySpreadConstraints 0 matchLabelKeys", ["tier", "tier"]),
        {("FieldValueInvalid", "spec.topologySpreadConstraints[0][1]")},
    ),
    (
        "Pod",
        "rich",
        at("spec securityContext seLinuxChangePolicy", "MountOption"),
        {("FieldValueNotSupported", "spec.securityContext.seLinuxChangePolicy")},
    ),
    (
        "Job",
        "manual",
        at("spec selector matchLabels app", "Bad_Value!"),
        {("FieldValueInvalid", "spec.selector.matchLabels")},
    ),
    ("PersistentVolumeClaim", "data", at("spec volumeMode", ""), {("FieldValueNotSupported", "spec.volumeMode")}),
    (
        "HorizontalPodAutoscaler",
        "unsaid",
        at("spec scaleTargetRef apiVersion", "/abs"),
        {("FieldValueInvalid", "spec.scaleTargetRef.apiVersion")},
    ),
    (
        "PriorityLevelConfiguration",
        "level",
        at("spec limited limitResponse queuing queues", 70000),
        {("FieldValueInvalid", "spec.limited.limitResponse.queuing.handSize")},
    ),
    (
        "PersistentVolume",
        "pv",
        at("spec hostPath path", "../up"),
        {("FieldValueInvalid", "spec.hostPath.path")},
    ),
]


@pytest.mark.parametrize(("kind", "name", "change", "causes"), REFUSED, ids=lambda value: str(value)[:60])
def test_refused_for_these_fields_and_reasons(kind: str, name: str, change: Mutation, causes: set[Any]) -> None:
    """The cause's reason and field are what clients branch on."""
    verdict = create(kind, name, change)
    assert (verdict.code, verdict.causes) == (422, causes)


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("example.com:5000/team/app", "Always"),
        ("busybox:1", "IfNotPresent"),
        (f"busybox@sha256:{'0' * 64}", "IfNotPresent"),
        (f"busybox:latest@sha256:{'0' * 64}", "Always"),
        ("Not An Image", "IfNotPresent"),
        ("x" * 300, "IfNotPresent"),
    ],
)
def test_images_whose_tag_moves_are_pulled_always(image: str, policy: str) -> None:
    """What is no image name at all has no tag that moves."""
    made = create("Pod", "small", at("spec containers 0 image", image)).obj
    assert made["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_an_owner_said_twice_counts_once() -> None:
    """Otherwise two controllers would be found where there is one."""
    owner = ours.sample("Pod", "rich")["metadata"]["ownerReferences"][0]
    verdict = create("Pod", "rich", at("metadata ownerReferences", [owner, owner]))
    assert verdict.code == 201
    assert len(verdict.obj["metadata"]["ownerReferences"]) == 1


def test_labels_a_job_got_from_its_template_grow_with_it() -> None:
    """A job without labels shows those of its pods, the made ones too; a job with its own keeps its own."""
    made = create("Job", "plain").obj
    assert made["metadata"]["labels"] == made["spec"]["template"]["metadata"]["labels"]
    assert set(made["metadata"]["labels"]) == {
        *("app", "controller-uid", "job-name"),
        *("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"),
    }
    assert create("Job", "manual").obj["metadata"]["labels"] == {"own": "label"}


def test_a_claim_from_an_unknown_source_is_a_claim_from_none() -> None:
    """Of the older field anything else than a claim or a snapshot was always ignored."""
    made = create("PersistentVolumeClaim", "data", at("spec dataSource kind", "Bucket")).obj
    assert "dataSource" not in made["spec"]
    assert "dataSourceRef" not in made["spec"]


def test_a_claim_template_is_shown_as_a_whole_claim() -> None:
    """Kind and version of claims inside a stateful set are not the user's to choose."""
    made = create("StatefulSet", "db").obj["spec"]["volumeClaimTemplates"][0]
    assert (made["kind"], made["apiVersion"], made["status"]) == ("PersistentVolumeClaim", "v1", {"phase": "Pending"})


def _kept(kind: str, name: str) -> Json:
    made = create(kind, name).obj
    made["metadata"]["resourceVersion"] = "1"
    return made


@pytest.mark.parametrize("key", ["nodeSelector", "tolerations"])
def test_where_pods_go_may_change_while_a_job_rests(key: str) -> None:
    """Queues hold a job suspended, choose nodes for it and let it go; so this much of its template may change."""
    old = _kept("Job", "indexed")
    changed = mutated(old)
    changed["spec"]["template"]["spec"].pop(key)
    assert ours.updated(changed, old).code == 200
    running = mutated(old, at("spec suspend", False))
    changed["spec"]["suspend"] = False
    assert ours.updated(changed, running).causes == {("FieldValueInvalid", "spec.template")}


def test_a_gated_pod_may_only_become_choosier() -> None:
    """Gates are lifted and node selectors grow; nothing else of a pod's placement changes."""
    old = _kept("Pod", "rich")
    choosier = mutated(old, at("spec nodeSelector", {"disk": "ssd", "zone": "a"}), at("spec schedulingGates", []))
    assert ours.updated(choosier, old).code == 200
    looser = mutated(old, at("spec nodeSelector", {}))
    assert ours.updated(looser, old).causes == {("FieldValueInvalid", "spec.nodeSelector")}


def test_a_resize_touches_cpu_and_memory_alone() -> None:
    """The door for resizing lets nothing else through, and keeps the pod's quality of service."""
    old = _kept("Pod", "small")
    more = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "2", "memory": "1Gi"}}
    resized = ours.updated(mutated(old, at("spec containers 0 resources", more)), old, "resize")
    assert resized.obj["spec"]["containers"][0]["resources"] == more
    burst = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    refused = ours.updated(mutated(old, at("spec containers 0 resources", burst)), old, "resize")
    assert ("FieldValueInvalid", "spec") in refused.causes
