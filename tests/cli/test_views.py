"""What is shown, from what was read: rows of queues and workloads, near names, lengths of time."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.cli.near import did_you_mean
from tidegate.cli.queued.tables import amounts, span, table
from tidegate.cli.views.rows import WORKLOAD_HEADING, Seen, age, queue_rows, workload_rows
from tidegate.cli.views.status import shown
from tidegate.cli.views.watching import fitting

Json = Any
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def workload(name: str, state: str = "Pending", **status: Json) -> Json:
    return {
        "metadata": {"namespace": "team", "name": f"job-{name}", "creationTimestamp": "2026-01-01T11:00:00Z"},
        "spec": {"queue": "default", "owner": {"kind": "Job", "name": name}, "podSets": [{"name": "main", "count": 4}]},
        "status": {"state": state, **status},
    }


def waits(ahead: int) -> Json:
    return {"waiting": {"reason": "WaitingForQuota", "message": "needs 1 cpu more", "ahead": ahead}}


def test_who_runs_comes_first_then_who_waits_in_the_order_of_the_line() -> None:
    listed = [
        workload("c", **waits(2)),
        workload("b", **waits(1)),
        workload("a", **waits(0)),
        workload("r", "Admitted"),
    ]
    rows = workload_rows(listed, NOW)
    assert [row[0] for row in rows] == ["team/r", "team/a", "team/b", "team/c"]
    assert rows[2][-1] == "WaitingForQuota (1 before it): needs 1 cpu more"
    assert {len(row) for row in rows} == {len(WORKLOAD_HEADING)}
    assert rows[0][6] == "60m"


def test_who_has_ended_comes_last_the_newest_first() -> None:
    """They came oldest first, and what had just ended was far below."""
    old, new = workload("old", "Finished"), workload("new", "Finished")
    new["metadata"]["creationTimestamp"] = "2026-01-01T11:30:00Z"
    rows = workload_rows([old, new, workload("w")], NOW)
    assert [row[0] for row in rows] == ["team/w", "team/new", "team/old"]


@given(st.integers(20, 200))
def test_on_a_narrow_terminal_columns_go_whole_instead_of_all_becoming_unreadable(width: int) -> None:
    """At 40 columns every word was cut to three letters."""
    rows = workload_rows([workload("a", **waits(2)), workload("r", "Admitted")], NOW)
    heading, kept = fitting(WORKLOAD_HEADING, rows, width)
    assert heading[0] == "WORKLOAD"
    assert {len(row) for row in kept} == {len(heading)}
    assert "STATE" in heading
    if width >= 40:
        assert {"WORKLOAD", "STATE", "GRANTED"} <= set(heading)
    if width >= 100:
        assert heading == WORKLOAD_HEADING
    words = [max(len(row[column]) for row in [heading, *kept]) for column in range(len(heading))]
    spare = [min(each, 20) if name in ("WHY", "NOTE") else each for name, each in zip(heading, words, strict=True)]
    assert sum(spare) + 2 * (len(spare) - 1) <= max(width, 32)


def test_pods_that_ended_well_are_not_asked_for_any_more() -> None:
    status = {"podSets": [{"name": "main", "granted": 2, "running": 2}], "reclaimedPodSetPods": [{"count": 1}]}
    (row,) = workload_rows([workload("a", "Admitted", **status)], NOW)
    assert row[4:6] == ("2 of 3", "2")


def test_finished_workloads_are_counted_and_left_out_until_asked_for() -> None:
    seen = Seen(workloads=[workload("over", "Finished"), workload("on", "Admitted")])
    assert "team/over" not in shown(seen, finished=False)
    assert "1 finished is left out; --all shows them." in shown(seen, finished=False)
    assert "team/over" in shown(seen, finished=True)
    assert "Nothing runs and nothing waits." in shown(Seen(), finished=False)


def test_a_queue_that_is_stopped_says_so() -> None:
    root = {"kind": "ClusterQueue", "metadata": {"name": "root"}, "spec": {"stop": "Hold"}}
    assert queue_rows(Seen(cluster_queues=[root]))[0][-1] == "stopped (Hold)"


@given(st.integers(0, 10**9))
def test_a_span_is_never_longer_than_what_it_stands_for_and_near_it(seconds: int) -> None:
    units = {"d": 86400, "h": 3600, "m": 60, "s": 1}
    parts = span(seconds).split()
    total = sum(int(part[:-1]) * units[part[-1]] for part in parts)
    assert 1 <= len(parts) <= 2
    assert 0 <= seconds - total < 3600
    assert total > seconds // 2 or not seconds


@pytest.mark.parametrize(("ago", "told"), [(0, "0s"), (119, "119s"), (120, "2m"), (7200, "2h"), (172800, "2d")])
def test_ages_are_told_in_one_unit(ago: int, told: str) -> None:
    assert age((NOW - timedelta(seconds=ago)).isoformat(), NOW) == told


@given(st.lists(st.text("abc-xyz", min_size=1, max_size=8), max_size=12), st.text("abc-xyz", min_size=1, max_size=8))
def test_near_names_are_names_that_there_are(known: list[str], name: str) -> None:
    told = did_you_mean(name, known)
    assert bool(told) is bool(known)
    if told.startswith("Did you mean"):
        assert set(told.removeprefix("Did you mean ").removesuffix("?").split(" or ")) <= set(known)
    if name in known:
        assert told.startswith("Did you mean") and name in told  # noqa: PT018


def test_amounts_name_a_flavor_only_where_that_tells_something() -> None:
    assert amounts({"default": {"cpu": "2"}, "a100": {"gpu": "1"}}) == "2 cpu; 1 gpu (a100)"
    assert amounts({"*": {"cpu": "2"}}) == "2 cpu"
    assert amounts(None) == "-"
    assert table([("A", "B"), ("long", "x")]) == "A     B\nlong  x"


@pytest.mark.parametrize(
    ("told", "seen"),
    [("line.say('2 before it in line')", "2 before it in line"), ("line.say('', runs=True)", "runs")],
)
def test_on_a_terminal_the_place_in_line_is_one_line_that_goes(told: str, seen: str) -> None:
    """A spinner on stderr while it waits, and while it runs and says nothing; nothing of it is left, and stdout is the
    command's own. What ran for an hour without a word showed none either, and nobody knew its name."""
    look = f"from tidegate.cli.jobs.line import Line\nwith Line('job/x') as line:\n    {told}\n    line.hush()\n"
    look += "    line.say('', runs=True)\nprint('end')"
    ours, theirs = pty.openpty()
    env = os.environ | {"TERM": "xterm"}
    done = subprocess.run([sys.executable, "-c", look], stderr=theirs, stdout=subprocess.PIPE, env=env, check=True)
    os.close(theirs)
    said = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.stdout == b"end\n"
    assert f"job/x {seen}" in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", said)
    assert said.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K")) or "\x1b[2K" in said
