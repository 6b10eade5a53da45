"""A kind of one's own is a YAML file of paths; what is wrong with it is said by field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tidegate.model.jobs import (
    JobError,
    builtin,
    children,
    is_finished,
    is_suspended,
    outcome,
    parse_kinds,
    podsets,
    with_suspend,
)
from tidegate.model.problems import ManifestError

OWN = """
kinds:
- kind: Sweep
  group: example.com
  versions: [v1]
  plural: sweeps
  suspend: .spec.paused
  podSets:
  - name: trial
    template: .spec.trial
    count: {path: .spec.parallel, default: 2}
    floor: {cel: "self.spec.parallel / 2"}
    workers: true
  outcome:
    succeeded: [{path: .status.phase, in: [Done]}]
    failed: [{cel: "has(self.status.errors) && size(self.status.errors) > 3"}]
  children: {example.com/sweep: "{.metadata.name}"}
"""


def _sweep() -> dict[str, Any]:
    trial = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}
    spec = {"parallel": 6, "paused": False, "trial": trial}
    return {"apiVersion": "example.com/v1", "kind": "Sweep", "metadata": {"name": "s"}, "spec": spec, "status": {}}


def test_a_kind_of_ones_own_works_like_those_built_in() -> None:
    kinds = builtin().with_more(parse_kinds(yaml.safe_load(OWN)))
    sweep = _sweep()
    entry = kinds.of(sweep)
    (trial,) = podsets(entry, sweep)
    assert (trial.name, trial.count, trial.floor, trial.requests.quantities()) == ("trial", 6, 3, {"cpu": "2"})
    held = with_suspend(entry, sweep, True)
    assert is_suspended(entry, held)
    assert not is_suspended(entry, sweep), "the object given is not changed"
    assert children(entry, sweep) == {"example.com/sweep": "s"}
    assert outcome(entry, sweep) is None
    assert is_finished(entry, sweep | {"status": {"errors": [1, 2, 3, 4]}})
    assert outcome(entry, sweep | {"status": {"phase": "Done"}}) == "Succeeded"


def _broken(change: str, to: str) -> str:
    assert change in OWN
    with pytest.raises(ManifestError) as caught:
        parse_kinds(yaml.safe_load(OWN.replace(change, to)))
    return str(caught.value)


@pytest.mark.parametrize(
    ("change", "to", "said"),
    [
        ("suspend: .spec.paused", "suspend: spec.paused", 'kinds[0].suspend: "spec.paused" is not a path; write it'),
        ("suspend: .spec.paused", "suspended: .spec.paused", "kinds[0].suspended: is not a field here; did you mean"),
        ("template: .spec.trial", "template: .spec..trial", '"..trial" on; write it like'),
        ("plural: sweeps", "", "kinds[0].plural: is missing"),
        ("versions: [v1]", "versions: []", "kinds[0].versions: is too short"),
        ("{path: .spec.parallel, default: 2}", "-1", "kinds[0].podSets[0].count: -1 is not a count"),
        ("{path: .spec.parallel, default: 2}", "{path: .a, most: [.b]}", "a count is got in exactly one way"),
        ("{path: .spec.parallel, default: 2}", "{paths: .a}", "paths is not known in a count"),
        ('{cel: "self.spec.parallel / 2"}', '{cel: "self.spec. +"}', "is not an expression"),
        ("{path: .status.phase, in: [Done]}", "{phase: Done}", "is not a question about an object"),
        ("{path: .spec.parallel, default: 2}", "{path: .a, default: many}", "default many is not a number"),
        ("{path: .status.phase, in: [Done]}", "{path: .status.phase, in: Done}", "in takes a list; write in: [Done]"),
        (
            "suspend: .spec.paused",
            "suspend: .spec.x[*].paused",
            "kinds[0].suspend: a path with [*] or .* leads to many",
        ),
        ("template: .spec.trial", "template: .spec.trials[*]", "kinds[0].podSets[0]: a path with [*] or .* leads to"),
        ("suspend: .spec.paused", "suspend: .", "kinds[0].suspend: is the object itself; name the one field"),
        ("template: .spec.trial", 'template: "@.trial"', "kinds[0].podSets[0]: a path that begins with @ starts at an"),
        ("template: .spec.trial", 'template: "^.trial"', "kinds[0].podSets: a path that begins with ^ starts at the"),
        (
            "name: trial",
            'name: "@..name"',
            "kinds[0].podSets[0].name: is not a name; write plain text, @.name, or {key}",
        ),
        ("{.metadata.name}", "{.metadata..name}", "kinds[0].children: has a {.path} that is none; write it like"),
        ("group: example.com", "group: Not One", "kinds[0].group: is not an API group; write it like"),
        ("plural: sweeps", "plural: Sweeps/all", 'kinds[0].plural: "Sweeps/all" is not a name; use lower-case'),
        ("template: .spec.trial", "", "kinds[0].podSets[0]: exactly one of template, pod, spark and resources"),
        ("template: .spec.trial", "template: .a\n    pod: .b", "exactly one of template, pod, spark and resources"),
    ],
)
def test_each_mistake_in_a_kind_file_is_named(change: str, to: str, said: str) -> None:
    assert said in _broken(change, to)


@pytest.mark.parametrize("content", [[], None, {"kinds": []}, {"kinds": [{"kind": "X"}]}])
def test_a_file_that_is_no_file_of_kinds_is_refused(content: object) -> None:
    with pytest.raises(ManifestError):
        parse_kinds(content)


def test_a_kind_that_is_described_twice_in_a_file_is_refused() -> None:
    """The later of the two was taken without a word."""
    read = yaml.safe_load(OWN)
    with pytest.raises(ManifestError, match="kinds: describes a kind twice; remove one of the two"):
        parse_kinds({"kinds": read["kinds"] * 2})


def test_a_number_that_an_expression_does_not_find_is_told_as_such() -> None:
    """What the compiler says of it was taken for the number: `gave NOT_FOUND: Key not found`."""
    sweep = _sweep()
    del sweep["spec"]["parallel"]
    entry = builtin().with_more(parse_kinds(yaml.safe_load(OWN))).of(sweep)
    with pytest.raises(JobError, match=r'"self.spec.parallel / 2" fails on this object: .*; guard it with has\(\)'):
        podsets(entry, sweep)
    assert outcome(entry, {**sweep, "status": {}}) is None, "what is not there is no answer of yes"
