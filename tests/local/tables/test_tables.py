"""What people read in the rows of `kubectl get`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.local.tables import samples
from tidegate.kube.wire import Resource
from tidegate.local.tables import custom_columns, table, table_row
from tidegate.local.tables.kinds import LAYOUTS, layout
from tidegate.local.tables.times import human, since

NOW = datetime(2026, 1, 1, 0, 1, 40, tzinfo=UTC)
PODS = Resource("", "v1", "pods", "Pod")
Object = dict[str, Any]


def shown(obj: Object, **options: Any) -> dict[str, Any]:
    """The cells of an object by the names of their columns."""
    group = obj["apiVersion"].rpartition("/")[0]
    drawn = table(Resource(group, "v1", "", obj["kind"]), [obj], now=NOW, **options)
    names = [column["name"] for column in drawn["columnDefinitions"]]
    return dict(zip(names, drawn["rows"][0]["cells"], strict=True))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (190, "3m10s"),
        (599, "9m59s"),
        (600, "10m"),
        (179 * 60, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (8 * 3600 + 60, "8h"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (52 * 3600, "2d4h"),
        (8 * 86400 + 3600, "8d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (740 * 86400, "2y10d"),
        (8 * 365 * 86400, "8y"),
    ],
)
def test_durations_have_two_or_three_figures(seconds: int, text: str) -> None:
    assert human(seconds) == text


@given(st.integers(0, 10**9))
def test_a_longer_time_never_reads_shorter(seconds: int) -> None:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 31536000}

    def meant(text: str) -> int:
        total, digits = 0, ""
        for letter in text:
            if letter.isdigit():
                digits += letter
            else:
                total, digits = total + int(digits) * units[letter], ""
        return total

    assert meant(human(seconds)) <= seconds
    assert meant(human(seconds)) <= meant(human(seconds + 1))


def test_ages_are_told_from_timestamps() -> None:
    ago = since(NOW)
    assert ago("2026-01-01T00:00:00Z") == "100s"
    assert ago("2026-01-01T01:00:00+01:00") == "100s"
    assert ago("2026-01-01T00:00:00.500000Z") == "99s"
    assert (ago(None), ago(""), ago("never")) == ("<unknown>", "<unknown>", "<invalid>")


@pytest.mark.parametrize(
    ("name", "ready", "status", "restarts"),
    [
        ("pending", "0/1", "Pending", "0"),
        ("running", "1/1", "Running", "0"),
        ("restarted", "1/1", "Running", "3 (100s ago)"),
        ("restarted-unknown-when", "1/1", "Running", "3"),
        ("crash-loop", "0/1", "CrashLoopBackOff", "5"),
        ("completed", "0/1", "Completed", "0"),
        ("failed", "0/1", "Error", "0"),
        ("exit-code", "0/1", "ExitCode:7", "0"),
        ("signal", "0/1", "Signal:9", "0"),
        ("evicted", "0/1", "Evicted", "0"),
        ("gated", "0/1", "SchedulingGated", "0"),
        ("half", "1/2", "NotReady", "0"),
        ("half-ready", "1/2", "Running", "0"),
        ("half-failed", "0/2", "Error", "0"),
        ("init-first", "0/2", "Init:0/3", "0"),
        ("init-second", "0/2", "Init:1/3", "2 (100s ago)"),
        ("init-crash", "0/2", "Init:CrashLoopBackOff", "0"),
        ("init-exit-code", "0/2", "Init:ExitCode:3", "0"),
        ("init-done", "2/2", "Running", "1 (100s ago)"),
        ("init-sidecar-waits", "0/2", "Init:2/3", "2"),
    ],
)
def test_one_word_says_how_a_pod_is(name: str, ready: str, status: str, restarts: str) -> None:
    pod = next(obj for obj in samples.samples() if obj["kind"] == "Pod" and obj["metadata"]["name"] == name)
    row = shown(pod)
    assert (row["Ready"], row["Status"], row["Restarts"]) == (ready, status, restarts)


def test_a_pod_that_is_deleted_is_terminating_unless_it_is_over() -> None:
    for name, status in (("running", "Terminating"), ("completed", "Completed"), ("node-lost", "Unknown")):
        pod = samples.pod(name, samples.POD_STATUSES[name])
        pod["metadata"]["deletionTimestamp"] = samples.THEN
        assert shown(pod)["Status"] == status


def test_rows_of_pods_that_are_over_say_so() -> None:
    row = table_row(PODS, samples.pod("p", samples.POD_STATUSES["completed"]), now=NOW, include_object="None")
    assert [condition["reason"] for condition in row["conditions"]] == ["Succeeded"]
    assert row["object"] is None
    assert "conditions" not in table_row(PODS, samples.pod("p", {}), now=NOW)


@pytest.mark.parametrize("obj", samples.samples(), ids=lambda obj: f"{obj['kind']}-{obj['metadata']['name']}")
def test_every_sample_fills_its_columns(obj: Object) -> None:
    assert all(cell is not None for cell in shown(obj).values())
    bare = {key: obj[key] for key in ("apiVersion", "kind", "metadata")}
    assert shown(bare)


def test_kinds_without_columns_show_when_they_were_made() -> None:
    role = samples.named("rbac.authorization.k8s.io/v1", "Role", "r", metadata={"creationTimestamp": samples.THEN})
    assert shown(role) == {"Name": "r", "Created At": samples.THEN}
    nothing = table(Resource("rbac.authorization.k8s.io", "v1", "roles", "Role"), [], now=NOW)
    assert nothing["rows"] is None


def test_printer_columns_are_read_from_the_object() -> None:
    columns = custom_columns(
        [
            {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
            {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
            {"name": "Since", "type": "date", "jsonPath": ".spec.since", "priority": 1},
            {"name": "Missing", "type": "string", "jsonPath": ".nope"},
        ]
    )
    obj = samples.named("x.io/v1", "X", "x", spec={"size": 3, "since": samples.THEN})
    obj["status"] = {"conditions": [samples.condition("Other", "False"), samples.condition("Ready")]}
    cells = {"Name": "x", "Size": 3, "Ready": "True", "Since": "100s", "Missing": None}
    assert shown(obj, columns=columns) == cells


def test_a_crd_without_columns_shows_the_age() -> None:
    obj = samples.named("x.io/v1", "X", "x", metadata={"creationTimestamp": samples.THEN})
    assert shown(obj, columns=custom_columns([])) == {"Name": "x", "Age": "100s"}


def test_a_table_without_headers_has_rows_only() -> None:
    metadata = {"resourceVersion": "5", "continue": "c", "remainingItemCount": 0}
    drawn = table(PODS, [samples.pod("p", {})], now=NOW, headers=False, metadata=metadata)
    assert drawn["columnDefinitions"] is None
    assert drawn["metadata"] == metadata
    assert drawn["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


def test_every_column_explains_itself() -> None:
    for kinds in LAYOUTS.values():
        for drawn in kinds.values():
            assert all(column.definition()["description"] for column in drawn.columns)
    assert layout("x.io", "Pod").columns[1].name == "Created At"


def test_events_tell_when_they_were_seen_last() -> None:
    event = samples.named("v1", "Event", "e", involvedObject={"kind": "Pod", "name": "p"}, count=3, message=" m \n")
    event["firstTimestamp"], event["lastTimestamp"] = samples.LONG_AGO, (NOW - timedelta(seconds=5)).isoformat()
    row = shown(event)
    assert (row["Last Seen"], row["Object"], row["Message"], row["Count"]) == ("5s", "pod/p", "m", 3)
