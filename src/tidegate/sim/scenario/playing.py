"""Plays a Script: step by step in virtual time, and says what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from tidegate.model.kinds.cluster_queue import ClusterQueueSpec
from tidegate.model.kinds.queue import ROOT
from tidegate.model.problems import Path as Field
from tidegate.scheduler import BUILT_IN, Instant, Plan, Policies
from tidegate.sim.planning import KeepingPlanner
from tidegate.sim.results.history import History
from tidegate.sim.results.waiting import WaitingLines
from tidegate.sim.scenario.judging import failing
from tidegate.sim.scenario.script import Moment, Script
from tidegate.sim.scenario.source import Fault
from tidegate.sim.simulation import NeverSettlesError, Simulation
from tidegate.sim.world import CannotHappenError, World

_MOST_MOMENTS = 1_000_000


@dataclass(slots=True)
class Result:
    """What came of a scenario."""

    script: Script
    world: World
    seed: int
    policy: str | None = None
    """That was set for all ClusterQueues."""
    failures: list[Fault] = field(default_factory=list)
    """Expectations that do not hold, steps that could not happen, laws that were broken."""
    history: History = field(default_factory=History)
    plan: Plan | None = None
    plans: int = 0

    @property
    def passed(self) -> bool:
        return not self.failures


def play(
    script: Script,
    *,
    seed: int = 0,
    policy: str | None = None,
    policies: Policies = BUILT_IN,
    progress: Callable[[Instant], None] | None = None,
) -> Result:
    """Everything the steps say, in order; every failure is kept and the rest still played. A `policy` given here counts
    instead of those the ClusterQueues name."""
    result = Result(script, script.world(seed), seed, policy)
    if policy is not None:
        _rule_by(policy, result.world)
    keeping = KeepingPlanner(policies) if script.is_open_ended else None
    simulation = Simulation(result.world, policies=policies, planner=keeping)
    simulation.on_settled.append(result.history.record)
    if not script.is_open_ended:
        simulation.on_settled.append(WaitingLines().record)
    if progress is not None:
        simulation.on_settled.append(lambda world, _: progress(world.now))
    try:
        if script.live is not None:
            simulation.settle()
        for index, moment in enumerate(script.moments):
            _play(moment, simulation, result)
            _judge_laws(simulation, result, ("spec", "steps", index))
        if script.is_open_ended:
            _play_to_the_end(simulation)
            result.history.end_with_the_last_change(max((moment.at for moment in script.moments), default=0))
            _judge_laws(simulation, result, ("spec",))
    except NeverSettlesError as error:
        result.failures.append(script.document.fault(("spec",), str(error)))
    result.plan, result.plans = simulation.explained(), simulation.plans
    return result


def _rule_by(policy: str, world: World) -> None:
    for name in {ROOT, *world.cluster_queues}:
        spec = world.cluster_queues.get(name, ClusterQueueSpec())
        world.cluster_queues[name] = replace(spec, policy=policy)


def _play_to_the_end(simulation: Simulation) -> None:
    """Until nothing happens by itself any more."""
    for _ in range(_MOST_MOMENTS):
        at = simulation.next_at
        if at is None:
            return
        simulation.step(at)
    told = f"after {_MOST_MOMENTS} moments there is still no end; let pods run for longer, or fewer arrive"
    raise NeverSettlesError(told)


def _play(moment: Moment, simulation: Simulation, result: Result) -> None:
    simulation.go_to(moment.at)
    for action in moment.actions:
        try:
            action.do(result.world)
        except CannotHappenError as error:
            result.failures.append(result.script.document.fault(action.field, str(error)))
    plan = simulation.settle()
    if moment.expected:
        plan = simulation.explained() or plan
    for expected in moment.expected:
        for where, what in failing(expected, result.world, plan):
            result.failures.append(result.script.document.fault(where, what))


def _judge_laws(simulation: Simulation, result: Result, where: Field) -> None:
    for at, breach in simulation.breaches:
        told = f"{breach}, at {at}s (seed {result.seed}); please report this scenario"
        result.failures.append(result.script.document.fault(where, told))
    simulation.breaches.clear()
