"""Plays a Script: step by step in virtual time, and says what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.scheduler import BUILT_IN, Plan, Policies
from tidegate.sim.results.history import History
from tidegate.sim.scenario.judging import failing
from tidegate.sim.scenario.script import Moment, Script
from tidegate.sim.scenario.source import Fault
from tidegate.sim.simulation import NeverSettlesError, Simulation
from tidegate.sim.world import CannotHappenError, World


@dataclass(slots=True)
class Result:
    """What came of a scenario."""

    script: Script
    world: World
    seed: int
    failures: list[Fault] = field(default_factory=list)
    """Expectations that do not hold, steps that could not happen, laws that were broken."""
    history: History = field(default_factory=History)
    plan: Plan | None = None
    plans: int = 0

    @property
    def passed(self) -> bool:
        return not self.failures


def play(script: Script, *, seed: int = 0, policies: Policies = BUILT_IN) -> Result:
    """Everything the steps say, in order; every failure is kept and the rest still played."""
    result = Result(script, script.world(), seed)
    simulation = Simulation(result.world, policies=policies)
    simulation.on_settled.append(result.history.record)
    try:
        for index, moment in enumerate(script.moments):
            _play(moment, simulation, result)
            _judge_laws(simulation, result, index)
    except NeverSettlesError as error:
        result.failures.append(script.document.fault(("spec", "steps"), str(error)))
    result.plan, result.plans = simulation.plan, simulation.plans
    return result


def _play(moment: Moment, simulation: Simulation, result: Result) -> None:
    simulation.go_to(moment.at)
    for action in moment.actions:
        try:
            action.do(result.world)
        except CannotHappenError as error:
            result.failures.append(result.script.document.fault(action.field, str(error)))
    plan = simulation.settle()
    for expected in moment.expected:
        for where, what in failing(expected, result.world, plan):
            result.failures.append(result.script.document.fault(where, what))


def _judge_laws(simulation: Simulation, result: Result, step: int) -> None:
    for at, breach in simulation.breaches:
        told = f"{breach}, at {at}s (seed {result.seed}); please report this scenario"
        result.failures.append(result.script.document.fault(("spec", "steps", step), told))
    simulation.breaches.clear()
