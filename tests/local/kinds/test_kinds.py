"""Rules that read better as sentences than as comparisons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local.kinds import ours
from tidegate.local.kinds import metadata
from tidegate.local.kinds.batch.job_spec import count_indexes
from tidegate.local.kinds.batch.schedule import problem
from tidegate.local.kinds.core.event import to_core, to_events
from tidegate.local.kinds.core.resources import qos_class


@pytest.mark.parametrize(
    ("schedule", "says"),
    [
        ("*/5 0-4 1,15 jan-mar MON", ""),
        ("@daily", ""),
        ("@every 1h30m", ""),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("@sometimes", "unrecognized descriptor: @sometimes"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
    ],
)
def test_schedules(schedule: str, says: str) -> None:
    """What is wrong with a schedule is told in the words of Kubernetes' parser."""
    assert problem(schedule) == says


@given(st.sets(st.integers(0, 200), min_size=1))
def test_indexes_are_counted_however_they_are_grouped(indexes: set[int]) -> None:
    """A list of single indexes and the same list with runs joined count the same."""
    ordered = sorted(indexes)
    runs: list[list[int]] = []
    for index in ordered:
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    joined = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    assert count_indexes(joined, 201) == count_indexes(",".join(map(str, ordered)), 201) == len(indexes)


@pytest.mark.parametrize("text", ["2,1", "1-1", "1,1", "3-2", "a", "5", "1-2-3", "-1", ""])
def test_lists_of_indexes_that_are_none(text: str) -> None:
    """Indexes ascend, are below the number of completions and stand once."""
    if not text:
        assert count_indexes(text, 5) == 0
        return
    with pytest.raises(ValueError, match=r"order|index|parts"):
        count_indexes(text, 5)


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}], "Guaranteed"),
        ([{"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}}], "Guaranteed"),
        ([{"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}], "Burstable"),
        ([{"limits": {"example.com/gpu": "1"}}], "BestEffort"),
    ],
)
def test_quality_of_service_follows_from_resources(resources: list[ours.Json], expected: str) -> None:
    """Only cpu and memory count, by amount and not by notation."""
    assert qos_class({"containers": [{"resources": one} for one in resources]}) == expected


@pytest.mark.parametrize("name", ["old.1", "new.1"])
def test_events_survive_the_way_to_the_other_group_and_back(name: str) -> None:
    """One event is served by two groups; nothing may be lost between them."""
    event = ours.decoded(ours.sample("Event", name))
    assert to_core(to_events(event)) == to_core(event)
    assert to_events(to_core(event)) == to_events(event)


def test_at_most_one_owner_controls() -> None:
    """Two controllers would fight over the object."""
    owner = {"apiVersion": "v1", "kind": "Pod", "uid": "1", "controller": True}
    obj = {"metadata": {"name": "a", "ownerReferences": [owner | {"name": "x"}, owner | {"name": "y", "uid": "2"}]}}
    (error,) = metadata.validate_create(obj, namespaced=False)
    assert error.field == "metadata.ownerReferences"
    assert error.body.endswith('Found "true" in references for Pod/x and Pod/y')


@pytest.mark.parametrize("key", ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"])
def test_metadata_that_never_changes(key: str) -> None:
    """An object is who it is, and dies when it was told to."""
    old = {"metadata": {"name": "a", "namespace": "n", "uid": "1", "resourceVersion": "1"}}
    error, *again = metadata.validate_update({"metadata": old["metadata"] | {key: "other"}}, old)
    assert all(repeated == error for repeated in again)  # Kubernetes says some things twice.
    assert (error.field, error.cause["reason"]) == (f"metadata.{key}", "FieldValueInvalid")


def test_a_dying_object_gets_no_new_finalizers() -> None:
    """Or its deletion could be put off for ever; taking some away is what ends it."""
    old = {"metadata": {"name": "a", "resourceVersion": "1", "deletionTimestamp": "t", "finalizers": ["a/b", "a/c"]}}
    more = {"metadata": old["metadata"] | {"finalizers": ["a/b", "a/c", "a/d"]}}
    fewer = {"metadata": old["metadata"] | {"finalizers": ["a/b"]}}
    assert {error.field for error in metadata.validate_update(more, old)} == {"metadata.finalizers"}
    assert metadata.validate_update(fewer, old) == []


def test_annotations_are_measured_together() -> None:
    """256 KiB for all keys and values, counted in bytes."""
    obj = {"metadata": {"name": "a", "annotations": {"k": "é" * (128 * 1024)}}}
    (error,) = metadata.validate_create(obj, namespaced=False)
    assert error.message == "metadata.annotations: Too long: may not be more than 262144 bytes"
