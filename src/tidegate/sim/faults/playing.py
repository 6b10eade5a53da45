"""One history: a seed in, and what was broken out."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from tidegate.sim.faults.laws.settled import Settled
from tidegate.sim.faults.laws.witness import Witness
from tidegate.sim.faults.life.nodes import Nodes
from tidegate.sim.faults.life.people import People
from tidegate.sim.faults.loop import VirtualLoop, run
from tidegate.sim.faults.network import SLOWEST_S, Weather
from tidegate.sim.faults.operators import Operators
from tidegate.sim.faults.server import SimulatedServer, a_folder

_ACTS = 24
_ACTS_AN_HOUR = 240
_PAUSE_S = 4.0
_QUIET_S = 60.0
"""Longer than an operator waits before trying again."""
_ENDED_S = 330.0
"""Longer than anybody does: the controller of a Job whose pods fail and fail waits for minutes."""
_MOST_S = 4 * 3600.0
_LIMITS = 0.25
"""In so many of all histories people have LimitRanges, and change them."""
_OLDER = 0.25
"""In so many the server is an older one."""


class Broken(AssertionError):  # noqa: N818 - what it says is the breach
    """A law does not hold."""


@dataclass(slots=True)
class History:
    """What one seed came to."""

    seed: int
    is_busy: bool = False
    breaches: list[str] = field(default_factory=list)
    commits: int = 0
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    admissions: Counter[str] = field(default_factory=Counter)

    def check(self) -> None:
        """Raise what was broken, and how to see it again."""
        if self.breaches:
            told = "\n  ".join(self.breaches[:10])
            again = f"python -m tidegate.sim.faults {self.seed}{' --busy' if self.is_busy else ''}"
            raise Broken(f"seed {self.seed} broke {len(self.breaches)} times:\n  {told}\nReplay it: {again}")


def play(seed: int, *, acts: int = _ACTS) -> History:
    """The history of a seed, the same every time: so much happens."""
    return _history(History(seed), acts, _PAUSE_S)


def busy_hour(seed: int) -> History:
    """An hour in which something happens every quarter of a minute, and operators die again and again."""
    return _history(History(seed, is_busy=True), _ACTS_AN_HOUR, 3 * 3600 / _ACTS_AN_HOUR)


def _history(begun: History, acts: int, pause_s: float) -> History:
    """So much happens, with so long in between at most."""
    with a_folder() as folder:
        before = random.getstate()
        # Uids, suffixes of names and back-offs come from here, wherever in the product they are drawn.
        random.seed(begun.seed)
        try:
            history: History = run(partial(_play, begun, folder, acts, pause_s))
            return history
        finally:
            random.setstate(before)


async def _play(history: History, folder: Path, acts: int, pause_s: float, loop: VirtualLoop) -> History:
    chance = Random(history.seed)
    weather = Weather(
        requests=chance.choice((6, 15, 40)),
        events=chance.choice((6, 15, 40)),
        latency_s=chance.choice((0.002, 0.02, SLOWEST_S)),
    )
    doors, flavors = chance.random() < 0.5, chance.choice((("default",), ("fast", "slow")))
    # By a chance of its own, so that the histories of all others are what they were before there were any.
    limits = Random(f"limits {history.seed}").random() < _LIMITS
    older = Random(f"older {history.seed}").random() < _OLDER
    server = SimulatedServer(folder, loop, Random(chance.random()), doors=doors, older=older)
    witness = Witness(loop.time)
    witness.start(server.objects)
    server.store.listen(witness.heard)
    server.start()
    nodes = Nodes(server.client, Random(chance.random()), flavors)
    people = People(server.client, Random(chance.random()), flavors, doors=doors, limits=limits)
    operators = Operators(server.transport, loop, Random(chance.random()), weather)
    witness.hanging = operators.hanging
    await nodes.open()
    await people.open()
    operators.start()
    pauses = (chance.random() ** 2 * pause_s for _ in range(acts))
    await _trouble(pauses, chance, people, nodes, operators)
    operators.calm()
    nodes.going_on.clear()
    await _quiet(witness, loop)
    operators.check()
    history.breaches += await Settled(server.client, loop.unix, limits=limits).breaches(over=False)
    nodes.going_on.set()
    await people.open_again()
    await _quiet(witness, loop, _ENDED_S)
    operators.check()
    history.breaches += await Settled(server.client, loop.unix, limits=limits).breaches(over=True)
    await operators.stop()
    await nodes.stop()
    await server.stop()
    history.breaches[:0] = witness.breaches
    if not older:  # What those refuse is found out by asking.
        history.breaches += [f"what was written could not be taken: {said}" for said in operators.invalid]
    history.commits, history.seconds = witness.commits, loop.time()
    history.faults, history.admissions = operators.faults, witness.admissions
    return history


async def _trouble(pauses: Iterable[float], chance: Random, people: People, nodes: Nodes, operators: Operators) -> None:
    """People act, and in between operators die, are cut off, and nodes are lost."""
    background: list[asyncio.Task[None]] = []
    happens: list[tuple[int, Callable[[], Coroutine[Any, Any, None]]]] = [
        (3, operators.kill_one),
        (1, operators.part),
        (1, nodes.lose_one),
        (20, people.act),
    ]
    for pause_s in pauses:
        await asyncio.sleep(pause_s)
        (what,) = chance.choices([act for _, act in happens], [weight for weight, _ in happens])
        if what in (operators.part, nodes.lose_one):
            background.append(asyncio.ensure_future(what()))
        else:
            await what()
        operators.check()
    await asyncio.gather(*background)


async def _quiet(witness: Witness, loop: VirtualLoop, least_s: float = _QUIET_S) -> None:
    """Returns when nothing has been written for so long."""
    began = loop.time()
    while loop.time() - max(began, witness.last_at) < least_s:
        await asyncio.sleep(5)
        if loop.time() - began > _MOST_S:
            raise Broken("it does not come to rest: something is written for ever")
