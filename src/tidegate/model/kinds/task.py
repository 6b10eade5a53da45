"""Task: a function or a command, run once by a worker."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from tidegate.model.kinds.shape import (
    AGE,
    OPEN,
    SPELLING,
    UNIQUE,
    Column,
    Conditions,
    Count,
    Definition,
    Kind,
    Moment,
    ObjectName,
    Rule,
    Seconds,
    Shape,
    Status,
    Text,
    keyed,
    names_resources,
)
from tidegate.model.resources import NOTHING, Resources

PLACE = r"^[^\s:]+:[^\s:]+$"
SPELLING[PLACE] = "where a function is; write module:name"

Words = Annotated[tuple[str, ...], Meta(max_length=1024)]


class TaskPhase(StrEnum):
    """How a Task is, in one word."""

    PENDING = "Pending"
    """It waits for its inputs or for a slot."""
    RUNNING = "Running"
    """A worker runs it."""
    SUCCEEDED = "Succeeded"
    """It ended well; `output` names what it gave."""
    FAILED = "Failed"
    """It failed and will not be tried again."""
    CANCELLED = "Cancelled"
    """It was called off."""


class Function(Shape, frozen=True, kw_only=True):
    """A Python function."""

    ref: Annotated[str, Meta(min_length=1, max_length=1024, pattern=PLACE)]
    """Where the function is: `module:name`."""
    args: ObjectName | None = None
    """A TaskObject with the arguments that are not themselves inputs."""


class EnvVar(Shape, frozen=True, kw_only=True):
    """An environment variable, as in a container."""

    name: Annotated[str, Meta(min_length=1, max_length=1024)]
    """Its name."""
    value: str = ""
    """Its value."""
    value_from: Annotated[dict[str, Any], Meta(extra_json_schema=OPEN)] | None = None
    """Where the value comes from, as in a container: `secretKeyRef`, `configMapKeyRef`, `fieldRef`."""


class Retries(Shape, frozen=True, kw_only=True):
    """How often it is tried again."""

    on_loss: Count = 3
    """After its worker was lost, shrunk away or evicted: no fault of the Task."""
    on_failure: Count = 0
    """After it failed by itself."""


class TaskSpec(Shape, frozen=True, kw_only=True):
    """What is to run, on what, and what it needs."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "has(self.image) != has(self.function)",
            "a Task has either image or function; name an image for a container Task or a function for a Python one",
            lambda self: (self.image is None) != (self.function is None),
        ),
        Rule(
            "!has(self.function) || (!has(self.command) && !has(self.args))",
            "command and args belong to a container Task; remove them, or name an image instead of a function",
            lambda self: self.function is None or not (self.command or self.args),
        ),
        names_resources("requests", lambda self: self.requests),
    )

    cluster: ObjectName = "default"
    """The TaskCluster whose workers run it."""
    inputs: Annotated[tuple[ObjectName, ...], Meta(max_length=1024, extra_json_schema=UNIQUE)] = ()
    """TaskObjects it waits for. They may be outputs of Tasks that do not exist yet."""
    image: Annotated[str, Meta(min_length=1, max_length=1024)] | None = None
    """Of a container Task: the image."""
    command: Words = ()
    """Of a container Task: what to run instead of the image's entry point."""
    args: Words = ()
    """Of a container Task: its arguments."""
    env: Annotated[tuple[EnvVar, ...], Meta(max_length=1024, extra_json_schema=keyed("name"))] = ()
    """Environment variables."""
    function: Function | None = None
    """Of a function Task: the function. Written by the SDK."""
    requests: Resources = NOTHING
    """What it needs of its worker. With nothing named, one slot."""
    retries: Retries = Retries()
    """How often it is tried again."""
    timeout_seconds: Seconds | None = None
    """An attempt that runs longer than this has failed."""


class TaskStatus(Status, frozen=True, kw_only=True):
    """How far it is. Written by Tidegate."""

    phase: TaskPhase = TaskPhase.PENDING
    """How it is, in one word."""
    pod: str = ""
    """The worker that runs it, or ran it last."""
    attempt: Count = 0
    """Which attempt this is, counted from 1."""
    output: str = ""
    """The TaskObject it gave."""
    reason: Annotated[str, Meta(max_length=1024)] = ""
    """One word for programs: why it is so."""
    message: Text = ""
    """One sentence for people: why it is so."""
    started_at: Moment | None = None
    """When the present attempt began."""
    finished_at: Moment | None = None
    """When it reached its last phase."""
    conditions: Conditions = ()
    """What else is true of it, and why."""


class Task(Kind, frozen=True, kw_only=True):
    """A function or a command that a worker runs once. It may create further Tasks."""

    definition: ClassVar[Definition] = Definition(
        plural="tasks",
        short=(),
        columns=(
            Column("Cluster", ".spec.cluster"),
            Column("Phase", ".status.phase"),
            Column("Output", ".status.output"),
            Column("Attempt", ".status.attempt", "integer", wide=True),
            Column("Pod", ".status.pod", wide=True),
            Column("Reason", ".status.reason", wide=True),
            AGE,
        ),
    )

    spec: TaskSpec
    """What is to run, on what, and what it needs."""
    status: TaskStatus = TaskStatus()
    """How far it is. Written by Tidegate."""
