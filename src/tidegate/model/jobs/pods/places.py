"""Where an object describes the pods of one shape: the paths of labels, annotations and the pod spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from tidegate.model.jobs.entry import PodSetRule
from tidegate.model.jobs.language.edit import inside
from tidegate.model.jobs.language.paths import JobError, Obj, Scope, fill, mapping, sequence
from tidegate.model.problems import Path


class Form(StrEnum):
    """How pods are described."""

    TEMPLATE = "template"
    """A pod template, with metadata and spec."""
    POD = "pod"
    """A pod spec; its metadata stands beside it."""
    SPARK = "spark"
    """Spark's own words, with labels and annotations among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPlace:
    """The places of one pod set in its object."""

    form: Form
    labels: Path
    annotations: Path
    pod: Path
    """Where schedulerName, nodeSelector, tolerations and the like are."""
    content: Any
    """What is at the template now, or the operator's default for it."""
    absent: Path | None = None
    """Where `content` must be written first, since the object relies on the operator's default."""
    foreign: bool = False
    """It is in another object, and can be read but not written here."""
    overrides: Path | None = None
    """Where the object says what these pods are to have besides, in an item of a list. Its operator lets nobody change
    what describes them once it is created."""

    template: Path | None = None
    """Of Spark's pods: the pod spec of the template they are made from, if they have one. Their operator puts into such
    pods nothing of what stands in `pod` but labels and annotations."""

    @property
    def pod_content(self) -> Obj:
        """The pod spec, as far as there is one."""
        if self.form is Form.POD:
            return mapping(self.content, self.pod)
        return mapping(mapping(self.content, self.pod[:-1]).get("spec"), self.pod)

    @property
    def is_object(self) -> bool:
        """Whether the object itself is the pod."""
        return self.form is Form.TEMPLATE and self.pod == ("spec",)

    @property
    def for_grant(self) -> PodPlace:
        """The place that what is granted is written to: this one, unless there is another for that."""
        at = self.overrides
        if at is None:
            return self if self.template is None else replace(self, pod=self.template)
        return replace(
            self, labels=(*at, "labels"), annotations=(*at, "annotations"), pod=at, absent=None, overrides=None
        )

    def under(self, path: Path) -> PodPlace:
        """The same place, in an object that has the described one at `path`."""
        return replace(
            self,
            labels=(*path, *self.labels),
            annotations=(*path, *self.annotations),
            pod=(*path, *self.pod),
            absent=None if self.absent is None else (*path, *self.absent),
            template=None if self.template is None else (*path, *self.template),
        )


def place_of(rule: PodSetRule, scope: Scope) -> PodPlace | None:
    """The places of a pod set; None where the object has no such pods or says only how large they are."""
    place = _place_of(rule, scope)
    if place is not None and not place.foreign:
        # Something will be written there once pods are granted, which is too late to say that it cannot be.
        for at in (place.labels, place.annotations):
            inside(scope.root, at[:-1])
            inside(scope.root, at)
    return place


def _place_of(rule: PodSetRule, scope: Scope) -> PodPlace | None:
    if rule.spark is not None:
        return _of_spark((*rule.spark.app.place(scope), str(rule.spark.role)), scope)
    path = rule.template or rule.pod
    if path is None:
        return None
    foreign = path.start == "^" or (path.start == "@" and rule.each is not None and rule.each.start == "^")
    at, content, absent = path.place(scope), path.value(scope), None
    if content is None:
        if rule.fallback is None:
            return None
        content, absent = _filled(rule.fallback, scope), at
    if not isinstance(content, Mapping):
        raise JobError(at, "is not a mapping; write a pod template there")
    if rule.pod is not None:
        metadata = rule.metadata.place(scope) if rule.metadata else (*at[:-1], "metadata")
        return PodPlace(
            form=Form.POD,
            labels=(*metadata, "labels"),
            annotations=(*metadata, "annotations"),
            pod=at,
            content=content,
            foreign=foreign,
        )
    return PodPlace(
        form=Form.TEMPLATE,
        labels=(*at, "metadata", "labels"),
        annotations=(*at, "metadata", "annotations"),
        pod=(*at, "spec"),
        content=content,
        absent=absent,
        foreign=foreign,
    )


def node_selector(rule: PodSetRule, scope: Scope, place: PodPlace | None) -> dict[str, str]:
    """Labels a node must have: as the pods' description says, what it is made from, and what is changed in it."""
    if place is None:
        return {}
    spots = [(place.pod_content, place.pod)]
    if place.form is Form.SPARK:
        at = [place.pod[:-1], place.template or place.pod]
        spots = [(inside(scope.root, path), path) for path in at]
    if rule.overrides is not None:
        at_list = rule.overrides.place(scope)
        for index, listed in enumerate(sequence(rule.overrides.value(scope), at_list)):
            change = mapping(listed, (*at_list, index))
            jobs = sequence(change.get("targetJobs"), (*at_list, index, "targetJobs"))
            if any(isinstance(job, Mapping) and job.get("name") == scope.key for job in jobs):
                spots.append((change, (*at_list, index)))
    found: dict[str, str] = {}
    for said, path in spots:
        stated = mapping(said.get("nodeSelector"), (*path, "nodeSelector"))
        found |= {str(key): str(value) for key, value in stated.items()}
    return found


def _of_spark(at: Path, scope: Scope) -> PodPlace:
    template = inside(scope.root, (*at, "template"))
    return PodPlace(
        form=Form.SPARK,
        labels=(*at, "labels"),
        annotations=(*at, "annotations"),
        pod=at,
        content=None,
        template=(*at, "template", "spec") if template else None,
    )


def _filled(content: Any, scope: Scope) -> Any:
    if isinstance(content, Mapping):
        return {name: _filled(value, scope) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_filled(item, scope) for item in content]
    return fill(content, scope) if isinstance(content, str) else content
