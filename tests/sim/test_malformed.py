"""Whatever is wrong with a file is told with file, line, field and remedy; never a traceback, never exit 0 or 1."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tidegate.cli.main import main

GOOD = """\
kind: Scenario
metadata: {name: good}
spec:
  nodes:
  - {name: n, count: 2, allocatable: {cpu: "4"}}
  objects:
  - {kind: Queue, metadata: {namespace: a, name: q}}
  - {kind: ClusterQueue, metadata: {name: x}, spec: {parent: root}}
  steps:
  - at: 0s
    submit: {name: w, queue: a/q, podSets: [{name: main, count: 2, requests: {cpu: "1"}}]}
    expect: {w: {state: Admitted}}
  - at: 10s
    resize: {name: w, podSet: main, count: 3}
    expect: {queue a/q: {pending: 0}}
"""

# What is replaced, by what, and the line and field that must be named.
WRONG = [
    ("kind: Scenario", "kind: Queue", 1, "kind"),
    ("kind: Scenario", "kind: scenario", 1, 'kind: "scenario" is not known here; write kind: Scenario'),
    ("kind: Scenario", "Kind: Scenario", 1, "kind: is missing; write kind: Scenario"),
    ("kind: Scenario", "kind: Scenario\nsepc: {}", 2, "sepc"),
    ("kind: Scenario", "apiVersion: v1\nkind: Scenario", 1, "apiVersion"),
    ("spec:", "spec: [", 5, ""),
    ("count: 2, allocatable", "count: two, allocatable", 5, "spec.nodes[0].count"),
    ("count: 2, allocatable", "cuont: 2, allocatable", 5, "spec.nodes[0].cuont"),
    ('allocatable: {cpu: "4"}', "allocatable: {cpu: much}", 5, "spec.nodes[0].allocatable.cpu"),
    ('allocatable: {cpu: "4"}', 'allocatable: {cpu: "4"}, taints: [{}]', 5, "spec.nodes[0].taints[0]"),
    ("namespace: a, name: q}", "namespace: a}", 7, "spec.objects[0].metadata.name"),
    ("name: q}}\n  - {kind: Cl", "name: q}, spec: {wieght: 2}}\n  - {kind: Cl", 7, "spec.objects[0].spec.wieght"),
    ("kind: Queue, metadata", "kind: Quue, metadata", 7, "spec.objects[0].kind"),
    ("kind: Queue, metadata", "kind: [], metadata", 7, "spec.objects[0].kind"),
    ("kind: Queue, metadata", "kind: QueueJob, metadata", 7, "spec.objects[0].kind"),
    ("{parent: root}", "{parent: x}", 8, "spec.objects[1].spec.parent"),
    ("{parent: root}", "{parent: root, policy: fifoo}", 8, "spec.objects[1].spec.policy"),
    ("kind: ClusterQueue, metadata: {name: x}", "kind: Queue, metadata: {namespace: a, name: q}", 8, "spec.objects[1]"),
    ("kind: ClusterQueue, metadata", "kind: Scenario, metadata", 8, "spec.objects[1].kind: a Scenario is no part"),
    ("at: 0s", "at: 5", 10, "spec.steps[0].at"),
    ("at: 0s", "at: 20s", 13, "spec.steps[1].at"),
    ("- at: 0s", "- on: 0s", 10, "spec.steps[0]"),
    ("submit: {name: w, ", "submit: {", 11, "spec.steps[0].submit.name"),
    ("queue: a/q, pod", "queue: q, pod", 11, "spec.steps[0].submit.queue"),
    ("queue: a/q, pod", "queue: a/q, priority: high, pod", 11, "spec.steps[0].submit.priority"),
    ("queue: a/q, podSets: [", "queue: a/q, podSets: [], x: [", 11, "spec.steps[0].submit"),
    ("count: 2, requests", "count: -2, requests", 11, "spec.steps[0].submit.podSets[0].count"),
    ("count: 2, requests", "count: 2, minCount: 3, requests", 11, "spec.steps[0].submit.podSets[0].minCount"),
    ("count: 2, requests", "count: 2, runs: 5, requests", 11, "spec.steps[0].submit.podSets[0].runs"),
    ("resize: {name: w", "resize: {name: ww", 14, "spec.steps[1].resize.name"),
    ("podSet: main", "podSet: mian", 14, "spec.steps[1].resize.podSet"),
    ("resize: {", "shrink: {", 14, "spec.steps[1].shrink"),
    ("resize: {name: w, podSet: main, count: 3}", "succeed: [{name: nobody}]", 14, "spec.steps[1].succeed[0].name"),
    ("resize: {name: w, podSet: main, count: 3}", "delete: {kind: Queue, name: q}", 14, "spec.steps[1].delete.name"),
    ("resize: {name: w, podSet: main, count: 3}", "delete: {kind: Pod, name: q}", 14, "spec.steps[1].delete.kind"),
    ("resize: {name: w, podSet: main, count: 3}", "apply: {kind: Queue}", 14, "spec.steps[1].apply.metadata"),
    ("expect: {w: {state: Admitted}}", "expect: {v: {state: Admitted}}", 12, "spec.steps[0].expect.v"),
    ("state: Admitted", "state: Running", 12, "spec.steps[0].expect.w.state"),
    ("state: Admitted", "pending: 1", 12, "spec.steps[0].expect.w.pending"),
    ("state: Admitted", "granted: {amin: 1}", 12, "spec.steps[0].expect.w.granted.amin"),
    ("state: Admitted", "granted: {main: {min: 1, most: 2, max: x}}", 12, "spec.steps[0].expect.w.granted.main"),
    ("state: Admitted", "granted: {main: {min: 3, max: 1}}", 12, "spec.steps[0].expect.w.granted.main"),
    ("state: Admitted", "admittedAt: soon", 12, "spec.steps[0].expect.w.admittedAt"),
    ("queue a/q:", "queue a/p:", 15, "spec.steps[1].expect[queue a/p]"),
    (
        "queue a/q:",
        "Queue a/q:",
        15,
        'spec.steps[1].expect[Queue a/q]: "Queue a/q" is no workload; did you mean "queue',
    ),
    ("queue a/q:", "a/q:", 15, 'spec.steps[1].expect[a/q]: "a/q" is no workload; did you mean "queue a/q"?'),
    ("queue a/q:", "x:", 15, 'spec.steps[1].expect.x: "x" is no workload; did you mean "clusterqueue x"?'),
    ("queue a/q: {pending: 0}", "queue a/q: {state: Pending}", 15, "spec.steps[1].expect[queue a/q].state"),
    ("queue a/q: {pending: 0}", "clusterqueue y: {pending: 0}", 15, "spec.steps[1].expect[clusterqueue y]"),
    ("at: 10s", "at: 10s\n    at: 20s", 14, "spec.steps[1].at"),
    ("  steps:", "  include: [missing.yaml]\n  steps:", 9, "spec.include[0]"),
    ("  steps:", "  trace: {file: missing.csv}\n  steps:", 9, "spec.trace.file"),
    ("at: 10s", "at:", 13, "spec.steps[1].at: an empty value is not a duration"),
    ("  steps:", "  delays: {stop: now}\n  steps:", 9, "spec.delays.stop"),
]


def told(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    status = main(["simulate", str(path)])
    return status, capsys.readouterr().err


def test_the_file_is_good_before_anything_is_made_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(GOOD, tmp_path, capsys) == (0, "")


@pytest.mark.parametrize("case", WRONG, ids=[f"{case[1]!r}" for case in WRONG])
def test_a_fault_is_told_where_it_is(
    case: tuple[str, str, int, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, line, field = case
    assert old in GOOD
    status, said = told(GOOD.replace(old, new, 1), tmp_path, capsys)
    assert status == 2
    first = said.splitlines()[0]
    assert first.startswith(f"{tmp_path / 'file.yaml'}:{line}: {field}"), first
    assert re.search(r": .+[;?]", first), "it says what to do"
    assert "Traceback" not in said


def test_all_faults_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = told(
        GOOD.replace("resize: {name: w", "resize: {name: v").replace("queue a/q:", "queue b/q:"), tmp_path, capsys
    )
    assert status == 2
    assert len(said.splitlines()) == 2


def test_all_faults_of_objects_are_told_at_once_and_those_that_come_of_them_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first object with a fault hid the others; who names it in a step is not at fault."""
    text = GOOD.replace("name: q}}\n", "name: q}, spec: {wieght: 2}}\n").replace("{parent: root}", "{stop: now}")
    status, said = told(text, tmp_path, capsys)
    assert status == 2
    assert [line.split(": ")[1] for line in said.splitlines()] == [
        "spec.objects[0].spec.wieght",
        "spec.objects[1].spec.stop",
    ]


def test_a_policy_that_is_not_used_need_not_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ClusterQueue's policy that nobody registered was played as drf without a word."""
    path = tmp_path / "file.yaml"
    path.write_text(GOOD.replace("{parent: root}", "{parent: root, policy: theirs}"))
    assert main(["simulate", str(path)]) == 2
    assert 'nobody registered "theirs" here; write one of drf, fifo, priority' in capsys.readouterr().err
    assert main(["simulate", "--policy", "fifo", str(path)]) == 0


def test_a_trace_comes_in_at_queues_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All jobs of a user whose Queue was misspelt waited for ever, and the run passed."""
    (tmp_path / "jobs.csv").write_text("submit,duration,cpu,memory,user\n0,10,1,,ann\n")
    trace = "  trace: {file: jobs.csv, queues: {ann: a/p}}\n  steps:"
    status, said = told(GOOD.replace("  steps:", trace), tmp_path, capsys)
    assert status == 2
    assert ':9: spec.trace.queues.ann: there is no Queue "a/p" at this step; did you mean a/q?' in said


def test_a_fault_in_an_included_file_names_that_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "queues.yaml").write_text(
        "kind: Queue\nmetadata: {namespace: b, name: q}\n---\nkind: Queue\nspec: {}\n"
    )
    status, said = told(GOOD.replace("  steps:", "  include: [queues.yaml]\n  steps:"), tmp_path, capsys)
    assert status == 2
    assert said.startswith(f"{tmp_path / 'queues.yaml'}:4: metadata: is missing")


NO_SCENARIO = [
    "",
    "---\n",
    "just words",
    "[1, 2]",
    "kind: Scenario\nspec: &a [*a]",
    "\tkind: x",
    "a: *b",
    "? [a]\n: b",
    "kind: !!python/name:os.system x",
]


@pytest.mark.parametrize("text", NO_SCENARIO)
def test_what_is_no_scenario_at_all_is_told_in_a_sentence(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = told(text, tmp_path, capsys)
    assert status == 2
    assert said.startswith(f"{tmp_path / 'file.yaml'}:")


def test_a_text_that_unfolds_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    status, said = told("\n".join(lines), tmp_path, capsys)
    assert (status, "too much" in said) == (2, True)


@pytest.mark.parametrize(
    "arguments", [[], ["--trace", "x.csv"], ["--capacity", "cpu=1", "x.yaml"], ["--plot", "x.png", "x.yaml"]]
)
def test_wrong_usage_is_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"kind: Scenario\nname: \xff\xfe")
    assert main(["simulate", str(tmp_path / "missing.yaml"), str(tmp_path / "bytes.yaml")]) == 2
    said = capsys.readouterr().err
    assert "missing.yaml:1: cannot be read" in said
    assert "bytes.yaml:2: is not UTF-8" in said


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**20), st.sampled_from(["0s", "10s", "a/q", "w", "main", "1", "x", ""])
)
LEAVES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)


def paths(value: object, path: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [one for key, inner in items for one in paths(inner, (*path, key))]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_part_may_be_anything_without_a_traceback(data: st.DataObject, tmp_path: Path) -> None:
    """One or two parts of a good document are replaced by something else, or left out."""
    document = yaml.safe_load(GOOD)
    for _ in range(data.draw(st.integers(1, 2))):
        *to, last = data.draw(st.sampled_from(paths(document)))
        holder = document
        for part in to:
            holder = holder[part]
        if data.draw(st.booleans()):
            holder[last] = data.draw(LEAVES)
        else:
            del holder[last]
    path = tmp_path / "fuzz.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    assert main(["simulate", str(path)]) in (0, 1, 2)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(alphabet=":-{}[]&*!|>'\"%@`, \n\tabkindScenario01", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    from tidegate.sim.scenario.source import MalformedError, documents_in

    try:
        list(documents_in(text, "fuzz.yaml"))
    except MalformedError as error:
        assert all(str(fault).startswith("fuzz.yaml:") for fault in error.faults)
