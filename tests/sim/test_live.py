"""A cluster as it is now, played on: it comes to the same as if nobody had looked in between."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tidegate.cli.views.estimate import played
from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.resources import Resources
from tidegate.scheduler import Node, PodSet, Snapshot, Workload
from tidegate.sim.live.adopting import Live
from tidegate.sim.live.starting import endless, starts
from tidegate.sim.scenario.playing import play
from tidegate.sim.scenario.reading import read_scripts, script_of_live
from tidegate.sim.scenario.source import MalformedError
from tidegate.sim.simulation import Simulation
from tidegate.sim.world import Application, PodGroup, World

NODE = Node(name="n", allocatable=Resources.parse({"cpu": "8"}))
QUEUES = {"a/default": QueueSpec(), "b/default": QueueSpec()}


@st.composite
def applications(draw: st.DrawFn) -> Application:
    number = draw(st.integers(0, 10**6))
    namespace = draw(st.sampled_from("ab"))
    count = draw(st.integers(1, 6))
    group = PodGroup(
        "main", count, draw(st.integers(0, count)), requests=Resources.parse({"cpu": str(draw(st.integers(1, 3)))})
    )
    return Application(
        name=f"{namespace}/w{number}",
        queue=f"{namespace}/default",
        created=0,
        pod_groups=[group],
        priority=draw(st.integers(0, 2)),
        max_run_seconds=draw(st.integers(10, 200)),
    )


def world_of(asked: list[Application]) -> World:
    world = World()
    world.nodes, world.queues = {NODE.name: NODE}, dict(QUEUES)
    for one in asked:
        group = one.pod_groups[0]
        fresh = PodGroup(group.name, group.count, group.floor, requests=group.requests)
        world.submit(
            Application(
                name=one.name,
                queue=one.queue,
                created=0,
                pod_groups=[fresh],
                priority=one.priority,
                max_run_seconds=one.max_run_seconds,
            )
        )
    return world


@settings(deadline=None, max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(applications(), min_size=1, max_size=8, unique_by=lambda one: one.name), st.integers(0, 300))
def test_looking_in_between_changes_nothing(asked: list[Application], moment: int) -> None:
    """Who waits at any moment starts, in what is played on from there, exactly when it starts in the whole history."""
    whole = Simulation(world_of(asked))
    whole.settle()
    while (at := whole.next_at) is not None:
        whole.step(at)
    half = Simulation(world_of(asked))
    half.settle()
    half.go_to(moment)
    half.settle()
    live = Live(half.world.snapshot(), moment)
    result = play(script_of_live(live))
    assert result.passed, result.failures
    for start in starts(live, result.world, result.plan):
        later = (one.at for one in whole.world.timeline if (one.what, one.who) == ("admit", start.name))
        truth = next((at for at in later if at > moment), None)
        assert start.at == (None if truth is None else truth - moment), start.name


def workload(name: str, cpu: int, *, admitted_at: int | None = None, most: int | None = None) -> Workload:
    pods = PodSet(name="main", count=1, floor=1, requests=Resources.parse({"cpu": str(cpu)}))
    if admitted_at is not None:
        pods = replace(pods, granted={"default": 1}, present={"default": 1})
    return Workload(
        name=f"a/{name}",
        queue="a/default",
        created=admitted_at or 900,
        pod_sets=(pods,),
        admitted_at=admitted_at,
        max_run_seconds=most,
    )


def cluster(*workloads: Workload) -> Snapshot:
    return Snapshot(nodes=(NODE,), queues=QUEUES, workloads=workloads)


def test_who_waits_for_something_that_ends_is_told_when_and_for_something_endless_that_nobody_knows() -> None:
    ends = cluster(workload("runs", 8, admitted_at=800, most=300), workload("waits", 8))
    assert played(Live(ends, 1000), "a/waits").in_s == 100
    open_ended = cluster(workload("runs", 8, admitted_at=800), workload("waits", 8))
    told = played(Live(open_ended, 1000), "a/waits")
    assert (told.in_s, told.because) == (None, "a/runs does not say how long it runs")
    assumed = Live(open_ended, 1000, runs=500)
    result = play(script_of_live(assumed))
    assert [one.at for one in starts(assumed, result.world, result.plan)] == [300]
    assert endless(assumed, result.world) == []


def test_what_is_over_its_time_already_is_taken_to_end_at_once() -> None:
    late = cluster(workload("runs", 8, admitted_at=100, most=300), workload("waits", 8))
    assert played(Live(late, 1000), "a/waits").in_s == 1


def test_what_can_never_fit_is_not_a_matter_of_time() -> None:
    live = Live(cluster(workload("runs", 1, admitted_at=800), workload("huge", 9)), 1000)
    assert played(live, "a/huge").because == "time alone does not let it in; something has to change"


def test_everything_about_a_workload_is_taken_over() -> None:
    """A workload that waited for its PriorityClass was said to start at once: nobody had told the world of that."""
    pods = PodSet(
        name="main",
        count=5,
        floor=2,
        step=2,
        requests=Resources.parse({"cpu": "1"}),
        node_selector={"disk": "fast"},
        mixes=False,
        ended=1,
    )
    seen = Workload(
        name="a/one",
        queue="a/default",
        created=-50,
        pod_sets=(pods,),
        priority=7,
        missing_class="urgent",
        active=False,
        user="ana",
        groups=("staff",),
        max_run_seconds=60,
        waiting_since=-20,
        evictions=3,
        requeue_at=30,
    )
    fields = (set(of.__struct_fields__) for of in (Workload, PodSet))
    runs = {"admitted_at", "granted", "held", "present", "coming"}  # Looked at by the tests above.
    said = {name for one in (seen, pods) for name in one.__struct_fields__ if getattr(one, name) not in (None, {})}
    assert set().union(*fields) - said == runs
    world = World()
    Live(cluster(seen), 0).enter(world)
    assert world.snapshot().workloads == (seen,)


def test_who_waits_for_a_priority_class_does_not_start_until_there_is_one() -> None:
    live = Live(cluster(replace(workload("waits", 1), missing_class="urgent")), 1000)
    assert played(live, "a/waits").because == "time alone does not let it in; something has to change"


def test_a_scenario_may_speak_of_who_is_there_and_of_nobody_else(tmp_path: Path) -> None:
    live = Live(cluster(workload("runs", 8, admitted_at=800), workload("waits", 8)), 1000)
    path = tmp_path / "what-if.yaml"
    path.write_text(
        "kind: Scenario\nmetadata: {name: what-if}\nspec:\n  steps:\n"
        "  - {at: 5s, delete: {name: runs}, expect: {waits: {state: Admitted}}}\n"
    )
    (script,) = read_scripts(path, live)
    result = play(script)
    assert result.passed, result.failures
    assert [one.at for one in starts(live, result.world, result.plan)] == [5]
    path.write_text("kind: Scenario\nmetadata: {name: what-if}\nspec:\n  steps:\n  - {at: 5s, delete: {name: run}}\n")
    with pytest.raises(MalformedError, match="did you mean runs"):
        read_scripts(path, live)
