"""Which ReplicaSet is which revision of a Deployment, and the annotations that say so (kubectl rollout reads them)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.controllers.deployment.objects import Deployment
from tidegate.local.controllers.objects import owner_reference, plain
from tidegate.local.controllers.replicas.objects import ReplicaSet

HASH = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
HISTORY = "deployment.kubernetes.io/revision-history"
DESIRED = "deployment.kubernetes.io/desired-replicas"
MOST = "deployment.kubernetes.io/max-replicas"
_OWN = {
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
}
_HISTORY_MOST = 2000
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Without vowels and their likenesses, so that no hash reads as a word."""


def new_and_old(deployment: Deployment, sets: Iterable[ReplicaSet]) -> tuple[ReplicaSet | None, list[ReplicaSet]]:
    """The oldest ReplicaSet whose template is the Deployment's, and all others, oldest first."""
    ordered = sorted(sets, key=lambda each: (each.metadata.created, each.metadata.name))
    wanted = _bare(deployment.spec.template)
    new = next((each for each in ordered if _bare(each.spec.template) == wanted), None)
    return new, [each for each in ordered if each is not new]


def same_template(deployment: Deployment, each: ReplicaSet) -> bool:
    return _bare(deployment.spec.template) == _bare(each.spec.template)


def revision_of(each: ReplicaSet) -> int:
    text = each.metadata.annotations.get(REVISION, "")
    return int(text) if text.isdecimal() else 0


def annotations_for(deployment: Deployment, new: ReplicaSet, old: Iterable[ReplicaSet]) -> dict[str, str]:
    """What the new ReplicaSet is to be annotated with: the Deployment's own, and a revision above all others.

    A rollback makes an old ReplicaSet the new one: it gets a new revision and remembers those it had.
    """
    annotations = new.metadata.annotations | _inherited(deployment)
    before, revision = revision_of(new), 1 + max((revision_of(each) for each in old), default=0)
    if before >= revision:
        return annotations
    annotations[REVISION] = str(revision)
    if REVISION in new.metadata.annotations:
        past = [part for part in annotations.get(HISTORY, "").split(",") if part]
        while past and len(",".join([*past, str(before)])) > _HISTORY_MOST:
            past.pop(0)
        annotations[HISTORY] = ",".join([*past, str(before)])
    return annotations


def size_annotations(deployment: Deployment) -> dict[str, str]:
    """By these a later look knows that the Deployment was scaled since."""
    return {DESIRED: str(deployment.spec.replicas), MOST: str(deployment.most_replicas)}


def count_annotation(each: ReplicaSet, annotation: str) -> int | None:
    text = each.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() else None


def new_replica_set(deployment: Deployment, old: Sequence[ReplicaSet], replicas: int) -> Object:
    """A ReplicaSet for the Deployment's template, told apart by a hash of it in labels, selector and name."""
    digest = template_hash(deployment.spec.template, deployment.status.collision_count)
    template: Object = msgspec.json.decode(msgspec.json.encode(deployment.spec.template))
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), HASH: digest}
    selector = plain(deployment.spec.selector)
    selector["matchLabels"] = {**selector.get("matchLabels", {}), HASH: digest}
    revision = 1 + max((revision_of(each) for each in old), default=0)
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{deployment.metadata.name[:242]}-{digest}",
            "labels": metadata["labels"],
            "annotations": {**_inherited(deployment), **size_annotations(deployment), REVISION: str(revision)},
            "ownerReferences": [owner_reference(deployment.metadata, "apps/v1", "Deployment")],
        },
        "spec": {
            "replicas": replicas,
            "minReadySeconds": deployment.spec.min_ready_seconds,
            "selector": selector,
            "template": template,
        },
    }


def template_hash(template: dict[str, Any], collisions: int | None) -> str:
    """Ten letters; another ten for each collision that was met."""
    content = msgspec.json.encode([_bare(template), collisions], order="deterministic")
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in hashlib.sha256(content).digest()[:10])


def _bare(template: dict[str, Any]) -> dict[str, Any]:
    """The template without the hash label, and without what is there only to be empty."""
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if value}
    if HASH in metadata.get("labels", ()):
        metadata["labels"] = {key: value for key, value in metadata["labels"].items() if key != HASH}
    return {"metadata": metadata, "spec": template.get("spec")}


def _inherited(deployment: Deployment) -> dict[str, str]:
    return {key: value for key, value in deployment.metadata.annotations.items() if key not in _OWN}
