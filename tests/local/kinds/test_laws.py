"""Laws that hold for every kind, whatever its rules are."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.local.kinds import mutants, ours
from tidegate.local.kinds import strategy_for
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.schema.definitions import resources

Json = Any
SAMPLES = ours.samples()
# Kinds whose rules live elsewhere (custom resource definitions), or that have none worth keeping on one machine.
WITHOUT_RULES = {
    *("ComponentStatus", "CustomResourceDefinition", "TokenReview", "SelfSubjectReview", "SelfSubjectRulesReview"),
    *("IPAddress", "ServiceCIDR", "VolumeAttributesClass", "CSIStorageCapacity"),
    *("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"),
}


def ids(obj: Json) -> str:
    return f"{obj['kind']}/{obj['metadata']['name']}"


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_a_good_manifest_is_accepted(sample: Json) -> None:
    """Every sample stands for what people write, and is accepted."""
    assert ours.created(sample) == ours.Verdict(201, obj=ours.created(sample).obj)


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_defaulting_twice_changes_nothing(sample: Json) -> None:
    """Objects are defaulted on every decode, so the second time must find nothing to do."""
    strategy, obj = ours.sort_of(sample).strategy, ours.decoded(sample)
    strategy.default(obj)
    again = copy.deepcopy(obj)
    strategy.default(again)
    assert again == obj


@pytest.mark.parametrize("sample", SAMPLES, ids=ids)
def test_an_object_may_be_written_back_as_it_was_read(sample: Json) -> None:
    """An update that changes nothing is never refused and changes nothing."""
    stored = _stored(sample)
    verdict = ours.updated(stored, stored)
    assert verdict.causes == frozenset()
    assert verdict.obj == stored


@pytest.mark.parametrize("sample", [s for s in SAMPLES if ours.sort_of(s).strategy.has_status], ids=ids)
def test_a_plain_update_cannot_touch_status(sample: Json) -> None:
    """Whatever a body says in `status`, the stored one stays."""
    stored = _stored(sample)
    verdict = ours.updated(stored | {"status": {"conditions": []}}, stored)
    assert (verdict.obj.get("status") or {}) == (stored.get("status") or {})


def _stored(sample: Json) -> Json:
    made = ours.created(sample).obj
    made["metadata"]["resourceVersion"] = "1"
    return ours.decoded(made)


@st.composite
def spoilt(draw: st.DrawFn) -> Json:
    obj = draw(st.sampled_from(SAMPLES))
    faults = draw(st.lists(st.sampled_from(list(mutants.mutations(obj))), min_size=1, max_size=5))
    return obj, mutants.mutated(obj, *faults)


@given(spoilt())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_no_manifest_makes_the_rules_stumble(pair: Json) -> None:
    """However broken a body is, the answer is a verdict, on create and on update."""
    sample, broken = pair
    assert ours.created(broken).code in (201, 400, 422)
    stored = _stored(sample)
    assert ours.updated(mutants.mutated(stored) | {"spec": broken.get("spec", {})}, stored).code in (200, 400, 422)


def test_every_served_kind_has_rules() -> None:
    """A kind that Kubernetes serves has a strategy of its own, or is on the list of those that need none."""
    bare = {
        resource.kind
        for resource in resources()
        if type(strategy_for(resource.group, resource.kind)) is Strategy and resource.kind not in WITHOUT_RULES
    }
    assert bare == set()


def test_a_kind_nobody_knows_has_the_plain_rules() -> None:
    """Custom resources get the base strategy, which says nothing."""
    assert strategy_for("example.com", "Thing").validate_create({"metadata": {"name": "a"}}) == []
