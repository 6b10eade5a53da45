"""Synthetic workloads and traces: the same seed gives the same run, everything comes to its end, and numbers add up."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.cli.main import main
from tidegate.model.kinds.scenario import TimeUnit, Trace, TraceColumns
from tidegate.model.quantity import NANO
from tidegate.model.resources import Resources
from tidegate.sim.load.trace import read_jobs
from tidegate.sim.results.measures import percentile, summary
from tidegate.sim.scenario.playing import Result, play
from tidegate.sim.scenario.reading import read_scripts, script_of_trace
from tidegate.sim.scenario.source import MalformedError
from tidegate.sim.simulation import Simulation

SYNTHETIC = """\
kind: Scenario
metadata: {name: busy}
spec:
  delays: {start: 2s, stop: 5s}
  nodes: [{name: n, count: 3, allocatable: {cpu: "4", memory: 8Gi}}]
  objects:
  - {kind: Queue, metadata: {namespace: a, name: q}}
  - {kind: Queue, metadata: {namespace: b, name: q}, spec: {weight: 2}}
  synthetic:
    arrivals: 4/m
    until: 3m
    resizes: 1/m
    podFailures: 2/m
    nodeLosses: 0.5/m
    nodeReturns: 1m
    mix:
    - {queue: a/q, weight: 2, podSets: [{count: {min: 1, max: 6}, minCount: 1, requests: {cpu: "1"}, runs: {mean: 1m}}]}
    - {queue: b/q, podSets: [{count: {min: 1, max: 3}, requests: {cpu: "1", memory: 1Gi}, runs: {min: 10s, max: 2m}}]}
"""


def played(tmp_path: Path, seed: int, text: str = SYNTHETIC) -> Result:
    path = tmp_path / "busy.yaml"
    path.write_text(text)
    return play(read_scripts(path)[0], seed=seed)


def test_the_same_seed_gives_the_same_run_and_another_seed_another(tmp_path: Path) -> None:
    one, again, other = played(tmp_path, 1), played(tmp_path, 1), played(tmp_path, 2)
    assert one.world.timeline == again.world.timeline
    assert one.world.timeline != other.world.timeline


def test_who_may_shrink_to_nothing_still_ends(tmp_path: Path) -> None:
    """A resize could ask for no pods at all where the floor is 0. Such a job held nothing, wanted nothing and never
    ended; the report counted it among those that came, and neither among those done nor those that never started."""
    text = SYNTHETIC.replace("minCount: 1", "minCount: 0").replace("resizes: 1/m", "resizes: 30/m")
    applications = played(tmp_path, 0, text).world.applications
    assert applications
    assert all(one.finished_at is not None for one in applications.values())


@pytest.mark.parametrize("seed", range(2))
def test_the_planner_that_keeps_what_it_knows_gives_the_same_run(tmp_path: Path, seed: int) -> None:
    """As the pure function, asked from scratch every time."""
    kept = played(tmp_path, seed)
    world = kept.script.world(seed)
    simulation = Simulation(world)
    while (at := simulation.next_at) is not None:
        simulation.step(at)
    assert world.timeline == kept.world.timeline


@pytest.mark.parametrize("seed", range(2))
def test_everything_that_arrives_comes_to_its_end(tmp_path: Path, seed: int) -> None:
    world = played(tmp_path, seed).world
    assert world.applications
    for one in world.applications.values():
        assert one.finished_at is not None, one
        assert one.first_admitted_at is not None
        assert one.created <= one.first_admitted_at <= one.finished_at
        assert all(group.ended >= group.attainable and not group.batches for group in one.pod_groups)
    assert not world.leaving
    assert len(world.nodes) == 3


def test_the_measures_of_the_queues_add_up_to_those_of_all(tmp_path: Path) -> None:
    result = played(tmp_path, 0)
    numbers = summary(result.world, result.history)
    parts, whole = numbers.by_queue.values(), numbers.overall
    assert sum(one.submitted for one in parts) == whole.submitted == len(result.world.applications)
    assert sum(one.evictions for one in parts) == whole.evictions
    for resource, part in whole.used.items():
        assert sum(one.used[resource] for one in parts) == part
        assert 0 <= part <= 1
    assert numbers.fairness is None or Fraction(1, 2) <= numbers.fairness <= 1


def test_roots_that_say_what_they_have_have_it_together(tmp_path: Path) -> None:
    """The larger of them was taken for all there is, and more than all of it was used."""
    quotas = "quotas: [{flavor: default, resources: {cpu: {nominalQuota: '4'}}}]"
    text = SYNTHETIC.replace("  objects:\n", "".join(["  objects:\n", *(_root(name, quotas) for name in "xy")]))
    text = text.replace("namespace: a, name: q}", "namespace: a, name: q}, spec: {clusterQueue: x}")
    text = text.replace("spec: {weight: 2}", "spec: {clusterQueue: y}")
    result = played(tmp_path, 0, text)
    assert dict(result.history.samples[0].capacity) == {"cpu": 8 * NANO, "memory": 24 * 2**30 * NANO}
    assert all(part <= 1 for part in summary(result.world, result.history).overall.used.values())


def _root(name: str, quotas: str) -> str:
    return f"  - {{kind: ClusterQueue, metadata: {{name: {name}}}, spec: {{{quotas}}}}}\n"


def test_a_run_begins_when_nobody_has_come_yet(tmp_path: Path) -> None:
    """What was used was counted from the first arrival on, as part of a run that is longer."""
    text = SYNTHETIC.replace(
        "  synthetic:",
        "  steps: [{at: 100s, submit: {name: w, queue: a/q, podSets: [{name: main, count: 6, "
        "requests: {cpu: '1'}, runs: 98s}]}}]\n  synthetic:",
    )
    text = text.replace("4/m", "1/d").replace("until: 3m", "until: 1s")
    result = played(tmp_path, 0, text)
    assert len(result.world.applications) == 1
    numbers = summary(result.world, result.history)
    assert (numbers.seconds, numbers.overall.used["cpu"]) == (200, Fraction(1, 4))


@given(st.lists(st.integers(0, 1000), min_size=1))
def test_so_many_percent_do_not_exceed_the_percentile(values: list[int]) -> None:
    ordered = sorted(values)
    for percent in (50, 90, 99):
        found = percentile(ordered, percent)
        assert sum(value <= found for value in ordered) * 100 >= percent * len(ordered)
        assert sum(value < found for value in ordered) * 100 < percent * len(ordered)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "jobs.csv"
    path.write_text(text)
    return path


def test_a_trace_is_read_exactly_and_from_its_first_job_on(tmp_path: Path) -> None:
    path = write(tmp_path, "user,submit,duration,cpu,memory,pods\nb,2000.9,10.1,0.1,2Gi,3\na,1500,60,250m,1024,\n")
    first, second = read_jobs(Trace(file="jobs.csv"), path)
    assert (first.at, first.seconds, first.user, first.pods) == (0, 60, "a", 1)
    assert first.requests == Resources.parse({"cpu": "250m", "memory": "1024"})
    assert (second.at, second.seconds, second.user, second.pods) == (500, 11, "b", 3)
    assert second.requests == Resources.parse({"cpu": "100m", "memory": "2Gi"})


def test_units_and_columns_are_the_files_own(tmp_path: Path) -> None:
    """As in the Alibaba traces, where 100 is a core, and in Google's, which count microseconds."""
    path = write(tmp_path, "start_us,run_us,plan_cpu,plan_mem,job_owner\n1000000,2500000,150,0.5,x\n")
    columns = {"submit": "start_us", "duration": "run_us", "cpu": "plan_cpu", "memory": "plan_mem", "user": "job_owner"}
    (tmp_path / "s.yaml").write_text(
        json.dumps(
            {
                "kind": "Scenario",
                "metadata": {"name": "s"},
                "spec": {
                    "nodes": [{"name": "n", "allocatable": {"cpu": "2", "memory": "2Gi"}}],
                    "trace": {
                        "file": path.name,
                        "columns": columns,
                        "timeUnit": TimeUnit.US,
                        "units": {"cpu": "10m", "memory": "1Gi"},
                        "queues": {"x": "team/q"},
                    },
                    "objects": [{"kind": "Queue", "metadata": {"namespace": "team", "name": "q"}}],
                },
            }
        )
    )
    script = read_scripts(tmp_path / "s.yaml")[0]
    (job,) = script.jobs
    assert job.seconds == 3
    assert job.requests == Resources.parse({"cpu": "1500m", "memory": "512Mi"})
    world = play(script).world
    (application,) = world.applications.values()
    assert (application.queue, application.finished_at) == ("team/q", 3)


@pytest.mark.parametrize(
    "text",
    [
        "Submit, Duration ,CPU,Memory,User\n3,60,2,,ann\n",
        "submit;duration;cpu;memory;user\n3;60;2;;ann\n",
        "submit\tduration\tcpu\tmemory\tuser\n3\t60\t2\t0\tann\n",
        "user,submit,end,cpu,memory\nann,3,63,2,\n",
        "\ufeffsubmit,duration,end,cpu,memory,user\r\n3,60,4,2,,ann\r\n",
        "\n\nsubmit,duration,cpu,memory,user\n\n3,60,2,,ann\n",
        "3,60,2,,ann\n",
        "\n3;60;2;;ann;1;0\n",
    ],
)
def test_a_trace_may_be_written_as_others_write_theirs(text: str, tmp_path: Path) -> None:
    (job,) = read_jobs(Trace(file="jobs.csv"), write(tmp_path, text))
    assert (job.seconds, job.user, job.requests) == (60, "ann", Resources.parse({"cpu": "2"}))


def test_columns_that_have_no_names_have_numbers(tmp_path: Path) -> None:
    """As in what Alibaba publishes: name, pods, owner, cpu, memory, start, end. Cells may look like such numbers."""
    places = TraceColumns(submit="6", end="7", cpu="4", memory="5", pods="2", user="3")
    (job,) = read_jobs(Trace(file="jobs.csv", columns=places), write(tmp_path, "j1,3,ann,2,,1000,1060\n"))
    assert (job.seconds, job.user, job.pods, job.requests) == (60, "ann", 3, Resources.parse({"cpu": "2"}))


def test_users_whose_names_look_alike_have_queues_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, "submit,duration,cpu,memory,user\n0,5,1,1,A b\n0,5,1,1,a-b\n0,5,1,1,A b\n")
    script = script_of_trace(path, {"cpu": "9", "memory": "9"})
    queues = sorted(one.queue for one in play(script).world.applications.values())
    assert queues == ["a-b-2/default", "a-b/default", "a-b/default"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: has no column submit, duration (or end), cpu, memory, user; "),
        ("submit,duration,cpu,memory,user\n", ":1: has no jobs; "),
        ("submit,duration,cpu,memory,user\n1,2,,,a\n", ":2: cpu: is empty; "),
        ("submit,end,cpu,memory,user\n5,4,1,1,a\n", ":2: end: is before submit; "),
        ("submit,duration,cpu,memory\n", ":1: has no column user; "),
        ("1,2,3,4\n", ":1: has no column user; "),
        ("submit,duration,cpu,memory,user,CPU\n0,5,1,1,a,2\n", ":1: has the column CPU twice; "),
        ("\n1,2,3,4,a\n1,x,3,4,a\n", ':3: duration: "x" is not a number; '),
        ("submit,duration,cpu,memory,user\n1,2,3,4\n", ":2: user: is empty; "),
        ("submit,duration,cpu,memory,user\n1,2,3,4,a\nx,2,3,4,a\n", ':3: submit: "x" is not a number; '),
        ("submit,duration,cpu,memory,user\n1,-2,3,4,a\n", ':2: duration: "-2" is below zero; '),
        ("submit,duration,cpu,memory,user\n1,2,much,4,a\n", ':2: cpu: "much" is not a quantity; '),
        ("submit,duration,cpu,memory,user,pods\n1,2,1,4,a,0\n", ':2: pods: "0" is not a whole number of at least 1; '),
    ],
)
def test_a_fault_of_a_trace_is_told_by_line_and_column(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(MalformedError) as caught:
        read_jobs(Trace(file="jobs.csv"), write(tmp_path, text))
    assert f"jobs.csv{said}" in str(caught.value)


@settings(max_examples=60)
@given(text=st.text(alphabet='submit,duration\n"0123.e-GiuserXcpmoy ', max_size=120))
def test_any_text_as_a_trace_is_read_or_refused(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("trace") / "jobs.csv"
    path.write_text("submit,duration,cpu,memory,user\n" + text)
    try:
        read_jobs(Trace(file="jobs.csv"), path)
    except MalformedError as error:
        assert all("jobs.csv:" in str(fault) for fault in error.faults)


def test_policies_are_compared_on_the_same_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Many short jobs of one user come before a long line of another's; fifo makes the second wait for all of them."""
    lines = [f"{n},60,1,1Gi,early" for n in range(20)] + [f"{20 + n},60,1,1Gi,late" for n in range(4)]
    path = write(tmp_path, "\n".join(["submit,duration,cpu,memory,user", *lines]))
    arguments = ["--trace", str(path), "--capacity", "cpu=4,memory=8Gi", "--policy", "drf", "--policy", "fifo"]
    assert main(["simulate", *arguments, "-o", "json"]) == 0
    fair, fifo = json.loads(capsys.readouterr().out)
    waits = [one["measures"]["queues"]["late/default"]["waitSeconds"]["p90"] for one in (fair, fifo)]
    assert waits[0] < waits[1]
    assert main(["simulate", *arguments]) == 0
    assert "POLICY" in capsys.readouterr().out


def test_a_trace_may_be_played_in_a_scenarios_world(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = write(tmp_path, "submit,duration,cpu,memory,user\n0,5,1,1Gi,Some.One\n")
    world = tmp_path / "world.yaml"
    world.write_text(
        "kind: Scenario\nmetadata: {name: w}\nspec: {nodes: [{name: n, allocatable: {cpu: 1, memory: 1Gi}}]}\n"
    )
    assert main(["simulate", str(world), "--trace", str(trace), "-o", "yaml"]) == 0
    assert "some-one/job000001" in capsys.readouterr().out
