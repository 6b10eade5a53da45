"""What Tidegate must know of a kind to queue it: frozen data, read from YAML.

The built-in table is `kinds.yaml`; a file of a user's own has the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, cast

import msgspec
from msgspec import Meta

from tidegate.model.check import broken_rules, problems_in
from tidegate.model.jobs.language.counts import Check, Number
from tidegate.model.jobs.language.paths import JobPath
from tidegate.model.jobs.mistakes import OF_FILES, OF_KINDS, OF_POD_SETS
from tidegate.model.kinds.shape import OPEN, Kind, PodSetName, Rule, Shape
from tidegate.model.problems import ManifestError, Problem
from tidegate.model.resources import Resources
from tidegate.model.values import parse_value

_ONE = Number.parse(1)
Word = Annotated[str, Meta(min_length=1, max_length=253)]


class SparkRole(StrEnum):
    """Which pods of a Spark application are meant."""

    DRIVER = "driver"
    """The one that runs the application."""
    EXECUTOR = "executor"
    """Those that the driver creates."""


class SparkPods(Shape, frozen=True, kw_only=True):
    """Pods described by Spark's own words (cores, memory, overhead) instead of a pod template."""

    app: JobPath
    """Where the SparkApplication's spec is."""
    role: SparkRole
    """Which of its pods are meant."""


class Extra(Shape, frozen=True, kw_only=True):
    """A container that the kind's operator puts into the pods by itself."""

    when: Check | None = None
    """Only then. Without it, always."""
    requests: Resources
    """What it requests."""
    path: JobPath | None = None
    """Where the object says otherwise: its `resources`."""
    init: bool = False
    """Whether it ends before the others start."""
    gang: bool = False
    """Whether the kind's own operator counts it when it reserves a gang."""


class Replaced(Shape, frozen=True, kw_only=True):
    """Resources the object states itself, in place of those of one container."""

    when: Check | None = None
    """Only then."""
    path: JobPath
    """Where they are."""
    container: Annotated[str, Meta(max_length=253)] = ""
    """Whose. Without it, those of the first; where no container is called so, of none."""


class PodSetRule(Shape, frozen=True, kw_only=True):
    """Where the pods of one shape are, and how many."""

    rules: ClassVar[tuple[Rule, ...]] = OF_POD_SETS

    name: Annotated[str, Meta(min_length=1, max_length=253)] = "main"
    """Its name: plain, or a path (`@.name`), or with {key} for the name of a map's entry."""
    each: JobPath | None = None
    """A list or map with one pod set per item. Paths that begin with @ then start at the item."""
    when: Check | None = None
    """Only then are there such pods."""
    template: JobPath | None = None
    """The pod template."""
    pod: JobPath | None = None
    """A pod spec without template around it."""
    metadata: JobPath | None = None
    """With `pod`: where labels and annotations of the pods are."""
    spark: SparkPods | None = None
    """Pods in Spark's own words."""
    resources: JobPath | None = None
    """Only the resources of one pod are known."""
    fallback: Annotated[Mapping[str, Any], Meta(extra_json_schema=OPEN)] | None = None
    """The template the operator uses when there is none; {.paths} in its texts are filled in."""
    count: Number = _ONE
    """How many pods are wanted."""
    overrides: JobPath | None = None
    """With pods that another object describes: a list of changes to them, each for the jobs named in `targetJobs`.
    It may be changed only while the object is held."""
    resize: JobPath | None = None
    """Where fewer pods than wanted are written, and more again. Without it, all are granted or none."""
    floor: Number | None = None
    """With how many it can start. Without it, all."""
    gang: Number | None = None
    """How many its own operator reserves together at the start. Without it, its floor."""
    later: Check | None = None
    """Whether its pods are made only once those of another set run, so that nothing can wait for both."""
    ceiling: Number | None = None
    """How many it can grow to. Without it, its count."""
    step: Number = _ONE
    """It grows and shrinks in multiples of this, and its floor is one."""
    group: Annotated[str, Meta(max_length=253)] = ""
    """A label of its pods that tells groups of them apart. A group is `step` pods of each set with this label, and runs
    whole; where pods of all these sets ask for the same, they are one pod set of the Workload."""
    workers: bool = False
    """Whether `tidegate.dev/min-count` without a name means these pods."""
    mixes: bool = False
    """Whether its pods may be of several flavors, because they are made one by one."""
    extras: tuple[Extra, ...] = ()
    """Containers the operator adds."""
    replaces: Replaced | None = None
    """Resources that stand elsewhere and count instead of the template's."""
    children: Mapping[str, str] | None = None
    """Labels its pods have, where they are not those of the object's other pods."""
    pods: Mapping[str, str] = {}
    """Labels by which its pods are known, among those of the object."""
    done: Number | None = None
    """How many of its pods have ended well, for good."""
    total: Number | None = None
    """How many must end well in all. Without it, its count."""
    active: Number | None = None
    """How many of its pods there are, in the words of whoever makes them."""


class Outcomes(Shape, frozen=True, kw_only=True):
    """How to see that nothing will run any more."""

    succeeded: tuple[Check, ...] = ()
    """One of these: it ended well."""
    failed: tuple[Check, ...] = ()
    """One of these: it failed."""


class Group(Shape, frozen=True, kw_only=True):
    """How single objects say that they are one gang."""

    name: tuple[JobPath, ...]
    """Where the gang's name is; the first that is there counts."""
    size: tuple[JobPath, ...]
    """Where its size is."""


class Made(Shape, frozen=True, kw_only=True):
    """The kind of object that one of this kind creates, again and again or once, which is queued in its place."""

    kind: Word
    """Its kind, in the same table."""
    metadata: JobPath | None = None
    """Where its labels and annotations come from."""


class Referred(Shape, frozen=True, kw_only=True):
    """Another object that describes an object's pods."""

    name: JobPath
    """Where its name is."""
    kind: JobPath
    """Where its kind is; where nothing is, the first of `kinds` is meant."""
    kinds: Annotated[tuple[Word, ...], Meta(min_length=1)]
    """What it may be, of the object's own group and version."""


class Refusal(Shape, frozen=True, kw_only=True):
    """What an object must not say if it is to be queued, because its own operator would choke on it."""

    when: Check
    """Then it cannot be queued."""
    because: Word
    """What is wrong, and what to do."""
    field: Word
    """The field that is to be changed."""


class Wrapped(Shape, frozen=True, kw_only=True):
    """Objects carried inside this one, whose pods are its pods."""

    each: JobPath
    """The list of components."""
    object: JobPath
    """In a component: the object it carries."""
    pod_sets: JobPath
    """In a component: pod sets it declares itself, with `path` and `replicas`."""
    overrides: JobPath | None = None
    """In a component: a list of changes to its pods, one for each of its pod sets in their order, each with labels,
    annotations, nodeSelector, tolerations and schedulingGates. With it, nothing is written into what is carried."""


class JobKind(Shape, frozen=True, kw_only=True):
    """One kind of application: where everything is that a queue must read or write."""

    rules: ClassVar[tuple[Rule, ...]] = OF_KINDS

    kind: Word
    """Its kind."""
    group: Annotated[str, Meta(max_length=253)] = ""
    """Its API group; empty for Kubernetes' core."""
    versions: Annotated[tuple[Word, ...], Meta(min_length=1)]
    """Versions with these paths, the preferred one first."""
    plural: PodSetName
    """What it is called in URLs."""
    job_type: str = ""
    """What platforms call such jobs, and their queues after them. Without it, the kind in lower case."""
    suspend: JobPath | None = None
    """The field that holds it back. Without it, its pods are held by scheduling gates."""
    rests: tuple[Check, ...] = ()
    """While it is held: one of these must be so before anything else is said of its pods. Without any, that may be done
    as soon as none of its pods is there."""
    started: JobPath | None = None
    """Where its status says since when it runs. Some servers let nothing else be said of its pods as long as that is
    there; it is taken out for them."""
    pod_sets: tuple[PodSetRule, ...] = ()
    """Its pods, by shape."""
    wraps: Wrapped | None = None
    """Objects it carries."""
    makes: Made | None = None
    """What it creates, which is queued in its place."""
    outcome: Outcomes = Outcomes()
    """How to see that it is over. Without any, it runs until it is deleted."""
    children: Mapping[str, str] = {}
    """Labels its pods have; {.paths} are filled in from the object."""
    through: tuple[Word, ...] = ()
    """Kinds between it and its pods, along the owners. Empty: it owns its pods."""
    queue: JobPath | None = None
    """Where it names its Queue itself, if it has no label that does."""
    priority: tuple[JobPath, ...] = ()
    """Where it names a priority class, apart from its pods."""
    max_run_seconds: JobPath | None = None
    """Where it says how long it runs at most."""
    refers: Referred | None = None
    """Another object that describes its pods."""
    refuses: tuple[Refusal, ...] = ()
    """What keeps one of them from being queued."""
    gang: Group | None = None
    """How single objects form a gang."""

    @property
    def api_version(self) -> str:
        """The preferred one."""
        return f"{self.group}/{self.versions[0]}" if self.group else self.versions[0]


class KindFile(Shape, frozen=True, kw_only=True):
    """A file of kinds."""

    rules: ClassVar[tuple[Rule, ...]] = OF_FILES

    kinds: Annotated[tuple[JobKind, ...], Meta(min_length=1)]
    """Its entries."""


def parse_kinds(content: object) -> tuple[JobKind, ...]:
    """The kinds a file describes; ManifestError with everything that is wrong with it."""
    if not isinstance(content, Mapping):
        raise ManifestError([Problem((), "a file of kinds is a mapping; begin it with kinds: and a list")])
    # A file of kinds has no metadata, and only that is what the checker's own type asks of a Kind.
    problems = list(problems_in(cast("type[Kind]", KindFile), content))
    if problems:
        raise ManifestError(problems)
    read = msgspec.convert(content, KindFile, dec_hook=parse_value)
    problems = list(broken_rules(read))
    if problems:
        raise ManifestError(problems)
    return read.kinds
