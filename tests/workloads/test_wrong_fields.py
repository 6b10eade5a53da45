"""Every field of every kind of the table, with something else in it: the error names the field, or the pods are those
that were meant; nothing is lost without a word, and nothing fails otherwise.

Each place of a valid object is changed in turn, so that a new kind is tried without anybody thinking of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import JobError, Outcome, builtin, is_at_rest, outcome
from tidegate.workloads import (
    Allowance,
    classes_of_pods,
    describe,
    ended_pods,
    let_go,
    said_active,
    start,
    stop,
    written_into,
)

Json = Any
Steps = tuple[str | int, ...]
WRONG: tuple[Json, ...] = ("text", -1, 2**70, 1.5, True, [], ["text"], [None], {"a": "b"}, "5")
UNREAD = ("image", "restartPolicy", "rayStartParams", "serviceAccount", "labels")
"""Where Tidegate reads nothing, whatever stands there."""


def places(obj: Json, at: Steps = ()) -> Iterator[Steps]:
    inner = obj.items() if isinstance(obj, dict) else enumerate(obj) if isinstance(obj, list) else ()
    for step, value in inner:
        if step not in UNREAD:
            yield (*at, step)
            yield from places(value, (*at, step))


def with_(obj: Json, at: Steps, value: Json) -> Json:
    changed = around = copy.deepcopy(obj)
    for step in at[:-1]:
        around = around[step]
    around[at[-1]] = value
    return changed


def inside(obj: Json, at: Steps) -> Json:
    for step in at:
        obj = obj[step]
    return obj


def told(obj: Json) -> str:
    """The field that an error names; empty where there is none."""
    try:
        describe(builtin().of(obj), obj)
    except JobError as error:
        assert error.problem.path, f"names no field: {error}"
        return str(error)
    return ""


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_on_the_way_to_pods_is_read_or_told(kind: str) -> None:
    """Fields of the wrong type on the way to a template were passed over: a PyTorchJob whose `Master` was a text had
    its workers counted, and was let go with them; of `spec: text` no field was named."""
    good = sample(kind)
    for at in places(good["spec"], ("spec",)):
        if isinstance(inside(good, at), dict | list):
            for value in ("text", 5, True):
                if leads_to_pods(good, at):
                    assert told(with_(good, at, value)), f"{at} = {value} was taken"


def leads_to_pods(obj: Json, at: Steps) -> bool:
    """Whether taking it away changes what is asked for."""
    entry = builtin().of(obj)
    try:
        return describe(entry, with_(obj, at, None)).spec.pod_sets != describe(entry, obj).spec.pod_sets
    except JobError:
        return True


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_but_an_error_that_names_its_field(kind: str) -> None:
    """Neither as it comes nor when it is let go."""
    good, entry = sample(kind), builtin().of(sample(kind))
    for at in places(good["spec"], ("spec",)):
        for value in WRONG:
            obj = with_(good, at, value)
            if told(obj):
                continue
            sets = describe(entry, obj).spec.pod_sets
            allowed = {each.name: Allowance(count=each.count, flavor="a", node_labels={"b": "c"}) for each in sets}
            stop(entry, start(entry, obj, "asks", allowed))


@pytest.mark.parametrize("kind", KINDS)
def test_a_status_that_cannot_be_read_says_nothing(kind: str) -> None:
    """Conditions that were no list, which no schema kept out, made every cycle of the operator fail: nobody was
    admitted any more, in whatever Queue, until that one object was deleted."""
    obj, entry = sample(kind), builtin().of(sample(kind))
    sets = describe(entry, obj).spec.pod_sets
    allowed = {each.name: Allowance(count=each.count, flavor="a") for each in sets}
    started = dict(start(entry, obj, "asks", allowed))
    for status in ("text", 5, [], {"conditions": "Complete"}, {"conditions": ["Complete", None, {"type": {}}]}):
        wrong = started | {"status": status}
        assert outcome(entry, wrong) is None
        for read in (let_go, said_active, written_into, classes_of_pods, is_at_rest):
            read(entry, wrong)


def test_conditions_beside_one_that_cannot_be_read_are_heard() -> None:
    job = sample("Job") | {"status": {"conditions": [7, {"type": "Complete", "status": "True"}]}}
    assert outcome(builtin().of(job), job) is Outcome.SUCCEEDED
    assert ended_pods(builtin().of(job), job) == {"main": 0}


def test_a_wrong_place_for_marks_is_named_before_anything_is_granted() -> None:
    """It was found only when marks were to be written there, and called `annotations`, wherever it was."""
    job = sample("Job")
    job["spec"]["template"]["metadata"] = "text"
    with pytest.raises(JobError, match=r'^spec.template.metadata: "text" is not a mapping'):
        describe(builtin().of(job), job)


def test_what_is_true_is_no_amount() -> None:
    """Where somebody had asked for one cpu before, `cpu: true` was taken for it, since the two are equal."""
    job = sample("Job")
    requests = job["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    requests.clear()
    requests["cpu"] = 1
    describe(builtin().of(job), job)
    requests["cpu"] = True
    with pytest.raises(JobError, match=r'containers\[0\].resources.requests.cpu: "True" is not a quantity'):
        describe(builtin().of(job), job)


def test_where_pods_would_be_described_is_named() -> None:
    for kind, field in {
        "Job": "spec.template",
        "JobSet": "spec.replicatedJobs",
        "AppWrapper": "spec.components",
    }.items():
        obj = sample(kind) | {"spec": {}}
        with pytest.raises(JobError, match=rf"^{field}: this {kind} describes no pods"):
            describe(builtin().of(obj), obj)


@pytest.mark.parametrize("path", [None, "", ".", 0, []])
def test_declared_pods_have_a_path(path: Json) -> None:
    """Without one, the component itself was taken for a template, whose pods ask for nothing."""
    wrapper = sample("AppWrapper")
    wrapper["spec"]["components"][1]["podSets"][0]["path"] = path
    with pytest.raises(JobError, match=r"^spec.components\[1\].podSets\[0\].path: "):
        describe(builtin().of(wrapper), wrapper)
