"""The law checkers see a broken law: each is shown a planner that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from tidegate.scheduler import Cause, Eviction, Grant, Instant, Plan, Rule, Shrink, Snapshot, plan
from tidegate.sim.scenario.reading import read_scripts
from tidegate.sim.simulation import NeverSettlesError, Simulation

Planner = Callable[[Snapshot, Instant], Plan]

WORLD = """\
kind: Scenario
metadata: {name: world}
spec:
  nodes: [{name: n, allocatable: {cpu: "4"}}]
  objects:
  - {kind: Queue, metadata: {namespace: a, name: q}}
  - {kind: Queue, metadata: {namespace: b, name: q}}
  steps:
  - at: 0s
    submit:
    - {name: one, queue: a/q, podSets: [{name: main, count: 4, minCount: 2, requests: {cpu: "1"}}]}
  - at: 10s
    submit:
    - {name: two, queue: b/q, podSets: [{name: main, count: 1, requests: {cpu: "1"}}]}
"""


def simulation(tmp_path: Path, planner: Planner, world: str = WORLD) -> Simulation:
    path = tmp_path / "world.yaml"
    path.write_text(world)
    script = read_scripts(path)[0]
    made = Simulation(script.world(), planner=lambda snapshot, now, *, reasons=True: planner(snapshot, now))
    for moment in script.moments:
        made.go_to(moment.at)
        for action in moment.actions:
            action.do(made.world)
        made.settle()
    return made


def laws_broken(tmp_path: Path, planner: Planner, world: str = WORLD) -> set[int | None]:
    return {breach.law for _, breach in simulation(tmp_path, planner, world).breaches}


def at_ten(snapshot: Snapshot, now: Instant, **change: object) -> Plan:
    """The real Plan, but the first at 10 s is replaced."""
    real = plan(snapshot, now)
    one = next(one for one in snapshot.workloads if one.name == "a/one")
    waits = any(one.admitted_at is None for one in snapshot.workloads if one.name == "b/two")
    first = now == 10 and waits and sum(one.pod_sets[0].granted.values()) == 4
    return Plan(standings=real.standings, waiting=real.waiting, says_why=True, **change) if first else real  # type: ignore[arg-type]


def cause(rule: Rule = Rule.FAIR_SHARE) -> tuple[Cause, ...]:
    return (Cause(rule=rule, needed_by="b/two", pods=1),)


TWO = Grant(workload="b/two", admits=True, pods={"main": {"default": 1}}, held={"main": {"default": 1}})


def test_the_real_planner_breaks_none(tmp_path: Path) -> None:
    assert laws_broken(tmp_path, plan) == set()


def test_granting_more_than_there_is_breaks_law_1(tmp_path: Path) -> None:
    assert laws_broken(tmp_path, lambda snapshot, now: at_ten(snapshot, now, grants=(TWO,))) == {1}


def test_shrinking_below_the_floor_breaks_law_1(tmp_path: Path) -> None:
    deep = Shrink(workload="a/one", pods={"main": {"default": 3}}, causes=cause())
    assert 1 in laws_broken(tmp_path, lambda snapshot, now: at_ten(snapshot, now, shrinks=(deep,), grants=(TWO,)))


def test_granting_what_another_keeps_for_itself_breaks_law_1(tmp_path: Path) -> None:
    """Also where that other has no Queue yet."""
    keeps = """\
  - kind: ClusterQueue
    metadata: {name: x}
    spec: {parent: root, quotas: [{flavor: default, resources: {cpu: {nominalQuota: "3", lendingLimit: "0"}}}]}
"""
    world = WORLD.replace("  objects:\n", "  objects:\n" + keeps)
    more = Grant(workload="a/one", admits=True, pods={"main": {"default": 2}}, held={})

    left = [more]

    def generous(snapshot: Snapshot, now: Instant) -> Plan:
        real = plan(snapshot, now)
        return Plan(standings=real.standings, waiting=real.waiting, grants=(left.pop(),)) if left else real

    assert 1 in laws_broken(tmp_path, generous, world)
    assert laws_broken(tmp_path, plan, world) == set()


def test_half_a_step_breaks_law_1(tmp_path: Path) -> None:
    world = WORLD.replace("minCount: 2,", "minCount: 2, step: 2,")
    taken = Shrink(workload="a/one", pods={"main": {"default": 1}}, causes=cause())
    half = lambda snapshot, now: at_ten(snapshot, now, shrinks=(taken,), grants=(TWO,))  # noqa: E731
    assert 1 in laws_broken(tmp_path, half, world)
    assert laws_broken(tmp_path, plan, world) == set()


def test_two_flavors_for_pods_of_one_template_break_law_1(tmp_path: Path) -> None:
    world = WORLD.replace("minCount: 2,", "minCount: 2, mixes: false,").replace(
        'nodes: [{name: n, allocatable: {cpu: "4"}}]',
        "nodes: [{name: n, labels: {k: a}, allocatable: {cpu: 4}}, {name: m, labels: {k: b}, allocatable: {cpu: 4}}]",
    )
    flavors = "  objects:\n" + "".join(
        f"  - {{kind: ResourceFlavor, metadata: {{name: {name}}}, spec: {{nodeLabels: {{k: {name}}}}}}}\n"
        for name in "ab"
    )
    both = Grant(workload="a/one", admits=True, pods={"main": {"a": 1, "b": 1}}, held={})

    def mixing(snapshot: Snapshot, now: Instant) -> Plan:
        real = plan(snapshot, now)
        waits = all(one.admitted_at is None for one in snapshot.workloads)
        return Plan(standings=real.standings, waiting=real.waiting, grants=(both,)) if waits else real

    assert 1 in laws_broken(tmp_path, mixing, world.replace("  objects:\n", flavors))


def test_holding_more_than_is_given_breaks_law_1(tmp_path: Path) -> None:
    taken = Shrink(workload="a/one", pods={"main": {"default": 1}}, causes=cause())
    twice = Grant(workload="b/two", admits=True, pods={"main": {"default": 1}}, held={"main": {"default": 2}})
    assert 1 in laws_broken(tmp_path, lambda snapshot, now: at_ten(snapshot, now, shrinks=(taken,), grants=(twice,)))


def test_who_waits_and_is_not_told_why_is_a_broken_promise(tmp_path: Path) -> None:
    silent = simulation(tmp_path, lambda snapshot, now: replace(plan(snapshot, now), waiting=()))
    said = {(breach.law, str(breach)) for _, breach in silent.breaches}
    (only,) = said
    assert only == (
        None,
        "a promise is broken: a/one wants more pods of main and is not told why it has to wait",
    )


def test_taking_later_what_the_first_plan_left_breaks_law_4(tmp_path: Path) -> None:
    late = Shrink(workload="a/one", pods={"main": {"default": 1}}, causes=cause(Rule.NOT_WANTED))

    left = [late]

    def second_thoughts(snapshot: Snapshot, now: Instant) -> Plan:
        real = plan(snapshot, now)
        return replace(real, shrinks=(left.pop(),)) if now == 10 and real.is_empty and left else real

    assert 4 in laws_broken(tmp_path, second_thoughts)


def test_taking_without_giving_breaks_law_2(tmp_path: Path) -> None:
    taken = Shrink(workload="a/one", pods={"main": {"default": 1}}, causes=cause())
    assert 2 in laws_broken(tmp_path, lambda snapshot, now: at_ten(snapshot, now, shrinks=(taken,)))


def test_taking_more_than_is_needed_breaks_law_2(tmp_path: Path) -> None:
    taken = Shrink(workload="a/one", pods={"main": {"default": 2}}, causes=cause())
    assert 2 in laws_broken(tmp_path, lambda snapshot, now: at_ten(snapshot, now, shrinks=(taken,), grants=(TWO,)))


def test_evicting_a_queue_below_what_it_deserves_breaks_law_3(tmp_path: Path) -> None:
    taken = Eviction(workload="a/one", pods={"main": {"default": 4}}, causes=cause(), requeue_at=99)
    broken = laws_broken(tmp_path, lambda snapshot, now: at_ten(snapshot, now, evictions=(taken,), grants=(TWO,)))
    assert 3 in broken


def test_giving_and_taking_in_turn_breaks_law_4_and_does_not_go_on_for_ever(tmp_path: Path) -> None:
    def fickle(snapshot: Snapshot, now: Instant) -> Plan:
        real = plan(snapshot, now)
        one = next(one for one in snapshot.workloads if one.name == "a/one")
        if one.admitted_at is None or sum(one.pod_sets[0].granted.values()) < 4:
            return real
        taken = Shrink(workload="a/one", pods={"main": {"default": 1}}, causes=cause())
        return Plan(standings=real.standings, shrinks=(taken,))

    with pytest.raises(NeverSettlesError, match="still moves pods"):
        simulation(tmp_path, fickle)


def test_a_broken_law_fails_the_scenario_with_its_seed_and_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tidegate.sim import simulation as module
    from tidegate.sim.scenario.playing import play

    path = tmp_path / "world.yaml"
    path.write_text(WORLD)
    monkeypatch.setattr(module, "plan", lambda snapshot, now, **_: at_ten(snapshot, now, grants=(TWO,)))
    failures = play(read_scripts(path)[0], seed=7).failures
    assert [failure.line for failure in failures] == [12]
    assert "law 1 is broken" in failures[0].problem.message
    assert "at 10s (seed 7)" in failures[0].problem.message
