"""Every field of every kind, with a wrong type and with wrong values: the error names the field, wherever it is found.

Generated from the definitions themselves, so that a new field is tried without anybody thinking of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.harness import Cluster
from tests.model.manifests import GOOD, good
from tests.model.test_crds import collection, installed, sent
from tidegate.model.codec import decode
from tidegate.model.kinds import KINDS
from tidegate.model.problems import ManifestError
from tidegate.model.schema.structural import schema_of

__all__ = ["installed"]

Json = Any
Steps = tuple[str | int, ...]
OURS = ("apiVersion", "kind", "metadata", "status")
"""Parts that are not a user's to write, or that are checked before a kind is known."""


def fields(schema: Json, at: Steps = ()) -> Iterator[tuple[Steps, Json]]:
    """Every place in a schema, with the schema of what is there; one item of each list, one entry of each map."""
    for name, inner in (schema.get("properties") or {}).items():
        if at or name not in OURS:
            yield (*at, name), inner
            yield from fields(inner, (*at, name))
    if isinstance(schema.get("items"), dict):
        yield (*at, 0), schema["items"]
        yield from fields(schema["items"], (*at, 0))
    if isinstance(schema.get("additionalProperties"), dict):
        yield (*at, "cpu"), schema["additionalProperties"]
        yield from fields(schema["additionalProperties"], (*at, "cpu"))


def wrong_values(schema: Json) -> Iterator[Json]:
    """Values that a field must not have: of other types, and of its own beyond its bounds."""
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string"):
        yield from ({"no": "amount"}, True)
    elif kind in ("string", "integer", "boolean", "array", "object"):
        yield from {
            "string": (7, ["text"]),
            "integer": ("many", {}, True),
            "boolean": ("perhaps", 1),
            "array": ("one", {"an": "object"}),
            "object": ("text", [1]),
        }[kind]
    if "enum" in schema:
        yield "Nonsense"
    if "pattern" in schema:
        yield " no! "
    if "maxLength" in schema and kind == "string":
        yield "x" * (schema["maxLength"] + 1)
    if "minimum" in schema and kind == "integer":
        yield schema["minimum"] - 1
    if "maximum" in schema and kind == "integer":
        yield schema["maximum"] + 1


def spelled(steps: Steps) -> str:
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def with_value(obj: Json, steps: Steps, value: Json) -> Json:
    """The object with the value there; what is missing on the way is made."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        listed = list(obj) if isinstance(obj, list) and obj else [None]
        return [with_value(listed[0], rest, value), *listed[1:]]
    there = copy.deepcopy(obj) if isinstance(obj, dict) else {}
    return there | {step: with_value(there.get(step), rest, value)}


def cases(kind: str) -> list[tuple[Steps, Json]]:
    schema = schema_of(KINDS[kind])
    return [(steps, value) for steps, inner in fields(schema) for value in wrong_values(inner)]


FREE = {("TaskObject", "data")}
"""Maps whose keys are the user's own."""


def maps(schema: Json, at: Steps = ()) -> Iterator[Steps]:
    """Every map in a schema whose keys are not named there."""
    for steps, inner in fields(schema, at):
        if isinstance(inner.get("additionalProperties"), dict):
            yield steps


def with_odd_name(kind: str, steps: Steps) -> Json:
    """The kind's good manifest, with a key there that is nobody's name."""
    made = with_value(good(kind), (*steps, "cpu"), None)
    there = made
    for step in steps:
        there = there[step]
    schema = next(each for found, each in fields(schema_of(KINDS[kind])) if found == steps)["additionalProperties"]
    there.clear()
    there["Odd Name!"] = {"nominalQuota": 1} if "properties" in schema else "1"
    return made


@pytest.mark.parametrize("kind", GOOD)
def test_names_that_nothing_can_have_are_refused(installed: Cluster, kind: str) -> None:
    """A quota of a resource, or a label to look for, called "Odd Name!": they were taken, and never met by anything."""
    for steps in maps(schema_of(KINDS[kind])):
        if (kind, *steps) in FREE:
            continue
        sent_in = sent(with_odd_name(kind, steps))
        with pytest.raises(ManifestError) as caught:
            decode(sent_in)
        assert any(str(problem).startswith(spelled(steps)) for problem in caught.value.problems)
        reply = installed.http("POST", f"{collection(kind)}?dryRun=All", sent_in)
        told = [cause["field"] for cause in (reply.json.get("details") or {}).get("causes") or ()]
        assert reply.status == 422, (steps, reply.json)
        assert any(field.startswith(spelled(steps)) for field in told), (steps, told)


@pytest.mark.parametrize("kind", GOOD)
def test_the_codec_names_every_field_that_is_wrong(kind: str) -> None:
    unnamed = []
    for steps, value in cases(kind):
        try:
            decode(sent(with_value(good(kind), steps, value)))
        except ManifestError as error:
            if any(str(problem).startswith(spelled(steps)) for problem in error.problems):
                continue
            unnamed.append((spelled(steps), value, [str(each) for each in error.problems]))
        else:
            unnamed.append((spelled(steps), value, ["taken"]))
    assert not unnamed


@pytest.mark.parametrize("kind", GOOD)
def test_the_server_names_every_field_that_is_wrong(installed: Cluster, kind: str) -> None:
    unnamed = []
    for steps, value in cases(kind):
        reply = installed.http("POST", f"{collection(kind)}?dryRun=All", sent(with_value(good(kind), steps, value)))
        told = [cause["field"] for cause in (reply.json.get("details") or {}).get("causes") or ()]
        if reply.status != 422 or not any(field.startswith(spelled(steps)) for field in told):
            unnamed.append((spelled(steps), value, reply.status, told))
    assert not unnamed
