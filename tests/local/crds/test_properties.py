"""Laws of pruning, defaults and validation, for random schemas and random objects."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.local.crds import generate
from tidegate.local.crds.checks.structure import structural_errors
from tidegate.local.crds.objects import CustomResource
from tidegate.local.crds.values.reasons import reasons
from tidegate.local.crds.values.verdict import verdict

Json = Any

SEEDS = st.integers(0, 2**32)
unhurried = settings(deadline=None)  # the first value of a new pattern may have to load a library


def a_case(seed: int) -> tuple[CustomResource, Json]:
    """A resource with a random schema, and an object of it, more or less fitting."""
    rng = Random(seed)
    spec = generate.schema(rng, 3)
    schema = {"type": "object", "properties": {"spec": spec}}
    obj = {"apiVersion": "a.b/v1", "kind": "Foo", "metadata": {"name": "x"}, "spec": generate.value(rng, spec)}
    return CustomResource("a.b/v1", "Foo", schema), obj


def admitted(resource: CustomResource, obj: Json) -> Json:
    made = copy.deepcopy(obj)
    try:
        resource.admit(made)
    except ValueError:
        assume(False)
    return made


@unhurried
@given(SEEDS)
def test_random_schemas_are_structural(seed: int) -> None:
    """Else the properties below would be about nothing."""
    rng = Random(seed)
    assert structural_errors({"type": "object", "properties": {"spec": generate.schema(rng, 3)}}, "") == []


@unhurried
@given(SEEDS)
def test_what_was_pruned_has_nothing_left_to_prune(seed: int) -> None:
    """Pruning twice is pruning once, and the second time nothing is unknown."""
    resource, obj = a_case(seed)
    once = admitted(resource, obj)
    twice = copy.deepcopy(once)
    assert resource.admit(twice) == []
    assert twice == once


@unhurried
@given(SEEDS)
def test_defaults_are_filled_in_once(seed: int) -> None:
    """Filling in again changes nothing, and what was said stays as it was said."""
    resource, obj = a_case(seed)
    once = admitted(resource, obj)
    resource.default(once)
    twice = copy.deepcopy(once)
    resource.default(twice)
    assert twice == once


@unhurried
@given(SEEDS)
def test_a_quick_yes_is_never_wrong(seed: int) -> None:
    """Where the fast check says yes the careful one finds nothing."""
    resource, obj = a_case(seed)
    check = verdict(resource.raw)
    if check is None or check(obj):
        assert reasons(resource.raw, obj).findings == []


@unhurried
@given(SEEDS)
def test_validation_changes_nothing(seed: int) -> None:
    """Neither the object, nor the old one beside it."""
    resource, obj = a_case(seed)
    old = admitted(resource, obj)
    before = copy.deepcopy((obj, old))
    resource.validate_create(obj)
    resource.validate_update(obj, old)
    resource.validate_status(obj, old)
    assert (obj, old) == before


@unhurried
@given(SEEDS)
def test_an_object_that_does_not_change_is_not_refused_for_its_schema(seed: int) -> None:
    """However wrong it is: nobody could write anything else to it. Left out is what cannot be compared (parts that no
    schema describes, items without their keys) and embedded metadata, which is judged anew each time."""
    resource, obj = a_case(seed)
    said = json.dumps(resource.raw)
    assume(not any(word in said for word in ("embedded", "preserve", "list-map-keys", '"additionalProperties": true')))
    old = admitted(resource, obj)
    resource.default(old)
    assert resource.validate_update(copy.deepcopy(old), old) == []


@unhurried
@given(SEEDS)
def test_an_object_that_was_taken_is_taken_again(seed: int) -> None:
    """What comes out of a write can be written back: it decodes to itself and is valid."""
    resource, obj = a_case(seed)
    made = admitted(resource, obj)
    resource.default(made)
    assume(resource.validate_create(made) == [])
    decoded = resource.decode(json.dumps(made).encode())
    resource.default(decoded.obj)
    assert decoded.complaints == []
    assert decoded.obj == made
    assert resource.validate_create(decoded.obj) == []
