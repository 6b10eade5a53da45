"""`tidegate simulate` as a process: its exit status, and what goes to which stream."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.cli.test_commands import tidegate

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "tests" / "scenarios" / "drf-paper.yaml"


def test_it_has_help() -> None:
    done = tidegate("simulate", "--help")
    assert done.returncode == 0
    assert "--plot" in done.stdout


def test_people_get_a_timeline_and_a_table_and_nothing_on_stderr() -> None:
    """No progress bar either: nobody watches a pipe."""
    done = tidegate("simulate", str(SCENARIO))
    assert (done.returncode, done.stderr) == (0, "")
    assert "admit   a/a  main 3" in done.stdout
    assert "QUEUE" in done.stdout
    assert done.stdout.endswith("4 passed, 0 failed\n")


def test_a_scenario_in_which_nothing_happens_is_shown_in_every_form(tmp_path: Path) -> None:
    """As JSON and as a picture it was a mistake of our own: there was no moment to measure."""
    path = tmp_path / "nothing.yaml"
    path.write_text("kind: Scenario\nmetadata: {name: nothing}\nspec: {}\n")
    for form in ("table", "json", "yaml"):
        done = tidegate("simulate", str(path), "-o", form, "--plot", str(tmp_path / "out.svg"))
        assert (done.returncode, done.stderr) == (0, "")


def test_the_timeline_says_why_others_wait(tmp_path: Path) -> None:
    """It was silent about everybody who waits, and only `-o json` had the reason. Each reason is told once,
    not again whenever somebody else comes."""
    path = tmp_path / "waits.yaml"
    path.write_text(
        "kind: Scenario\nmetadata: {name: waits}\nspec:\n"
        "  nodes: [{name: n, allocatable: {cpu: '4'}}]\n"
        "  objects: [{kind: Queue, metadata: {namespace: a, name: q}}]\n"
        "  steps:\n"
        "  - at: 0s\n"
        "    submit:\n"
        "    - {name: w, queue: a/q, podSets: [{name: main, count: 9, minCount: 3, requests: {cpu: '1'}}]}\n"
        "    - {name: x, queue: a/q, podSets: [{name: main, count: 2, requests: {cpu: '1'}}]}\n"
        "  - at: 5s\n"
        "    submit: {name: y, queue: b/q, podSets: [{name: main, count: 1, requests: {cpu: '1'}}]}\n"
    )
    shown = tidegate("simulate", str(path)).stdout
    waits = [line.strip() for line in shown.splitlines() if " wait " in line]
    assert waits == [
        "0s  wait    a/w  ExceedsQuota (to grow main): needs 1 cpu of flavor default more than root can ever have; "
        "ask for less or raise it",
        "0s  wait    a/x  WaitingForQuota: needs 2 cpu of flavor default more; root has nothing left",
        "5s  wait    b/y  NoQueue: the Queue it names, or the ClusterQueue behind it, does not exist; create it or "
        "name another",
    ]


def test_programs_get_the_same_as_json_and_as_yaml() -> None:
    shown = json.loads(tidegate("simulate", str(SCENARIO), "-o", "json").stdout)
    assert list(yaml.safe_load_all(tidegate("simulate", str(SCENARIO), "-o", "yaml").stdout)) == shown
    first = shown[0]
    assert first["queues"]["a/default"]["deserved"] == {"default": {"cpu": "3", "memory": "12Gi"}}
    assert first["workloads"]["a/a"]["granted"] == {"main": {"default": 3}}
    assert first["workloads"]["a/a"]["waiting"][0]["reason"] == "WaitingForQuota"


def test_long_times_are_told_in_hours_and_minutes(tmp_path: Path) -> None:
    """A trace of a day was 59589s long, and waits were 1090s."""
    trace = tmp_path / "jobs.csv"
    trace.write_text("submit,duration,cpu,memory,user\n0,5000,1,,ann\n10,90,1,,ann\n")
    done = tidegate("simulate", "--trace", str(trace), "--capacity", "cpu=1,memory=1Gi")
    assert "1h 24m simulated" in done.stdout
    assert "1h 23m" in done.stdout.splitlines()[3], "how long the second waited"


def test_who_never_starts_is_named_and_makes_no_run_longer(tmp_path: Path) -> None:
    """A job larger than the cluster was only seen by JOBS and DONE being different; and since its patience ended after
    an hour the run of ten seconds was an hour long, and next to nothing had been used."""
    trace = tmp_path / "jobs.csv"
    lines = "".join(f"1,5,{cpu},,ann\n" for cpu in (8, 9, 10, 11))
    trace.write_text(f"submit,duration,cpu,memory,user\n0,10,2,,ben\n{lines}")
    shown = tidegate("simulate", "--trace", str(trace), "--capacity", "cpu=4").stdout
    assert "10s simulated" in shown
    assert shown.splitlines()[4].split()[-3:] == ["cpu", "50", "%"]
    assert "  4 never started:\n    ann/job000002  ExceedsQuota: a pod is larger than any node" in shown
    assert shown.splitlines()[-3] == "    and 1 more"


def test_one_malformed_file_among_good_ones_is_exit_2_and_nothing_is_played(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("kind: Scenario\nmetadata: {name: bad}\nspec: {step: []}\n")
    done = tidegate("simulate", str(SCENARIO), str(tmp_path / "bad.yaml"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path / 'bad.yaml'}:3: spec.step: is not a field here; did you mean steps?\n"
