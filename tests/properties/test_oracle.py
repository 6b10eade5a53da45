"""What everybody deserves, and every share, as a brute-force reading of the design has them."""

from __future__ import annotations

import os
from random import Random

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.properties.oracle import HandingOut
from tests.scheduler.world import World, pods, quotas
from tidegate.model.flavored import Flavored
from tidegate.scheduler import plan
from tidegate.sim.laws.quota import Amounts, QuotaTree

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
RESOURCES = ("cpu", "memory")


def worlds(chance: Random) -> World:
    """One flavor or two, up to three levels, every sort of quota and rule, workloads of one pod set."""
    world = World()
    flavors = chance.choice([("default",), ("default",), ("fast", "slow")])
    for flavor in flavors if len(flavors) > 1 else ():
        world.flavor(flavor, nodeLabels={"kind": flavor})
    for index in range(chance.randint(1, 3)):
        amounts = {resource: str(chance.randint(2, 12)) for resource in RESOURCES}
        world.node(f"n{index}", {"kind": flavors[index % len(flavors)]}, **amounts)
    names = ["root"]
    if chance.random() < 0.3:
        world.cluster_queue("root", policy=chance.choice(["drf", "fifo", "priority"]))
    for index in range(chance.randint(0, 4)):
        rules = {"ordering": "Strict"} if chance.random() < 0.15 else {}
        if chance.random() < 0.2:
            rules["policy"] = chance.choice(["fifo", "priority"])
        weight = chance.randint(1, 3)
        named = [flavor for flavor in flavors if chance.random() < 0.4]
        given = [_quota(chance, flavor) for flavor in chance.sample(named, len(named))]
        world.cluster_queue(f"c{index}", *given, parent=chance.choice(names), weight=weight, **rules)
        names.append(f"c{index}")
    for index in range(chance.randint(1, 5)):
        fields = {"limits": {"cpu": str(chance.randint(0, 9))}} if chance.random() < 0.2 else {}
        if chance.random() < 0.15:
            fields["request"] = {"cpu": str(chance.randint(1, 6))}
        world.queue(f"t{index}/q", chance.choice(names), weight=chance.randint(1, 3), **fields)
    for index in range(chance.randint(1, 9)):
        submit(chance, world, f"w{index}")
    return world


def _quota(chance: Random, flavor: str) -> dict[str, object]:
    def limit() -> str | None:
        return str(chance.randint(0, 4)) if chance.random() < 0.3 else None

    return quotas(flavor, cpu=(str(chance.randint(0, 6)), limit(), limit()), memory=(str(chance.randint(0, 6)),))


def submit(chance: Random, world: World, name: str) -> None:
    queue = chance.choice(sorted(world.queues))
    floor, more = chance.choice([0, 1, 1, 2, 3]), chance.choice([0, 0, 2, 5])
    shape = {resource: str(chance.choice([0, 1, 1, 2, 3])) for resource in RESOURCES}
    if set(shape.values()) == {"0"}:
        shape["cpu"] = "1"
    wanted = pods(floor + more, floor, step=chance.choice([1, 1, 2]), mixes=chance.random() < 0.5, **shape)
    if chance.random() < 0.1 and wanted.count:
        wanted = replace(wanted, ended=1)
    full = f"{queue.partition('/')[0]}/{name}"
    world.submit(full, wanted, queue=queue, priority=chance.choice([0, 0, 1]), created=chance.randint(0, 3))


def amounts_of(flavored: Flavored) -> Amounts:
    return {(flavor, name): n for flavor, some in flavored.items() for name, n in some.items() if n}


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
@example(12061)  # What a neighbour took of their guarantee had one choose another flavor, and it was weighed as before.
@example(2297576667)  # A gang that fitted one flavor no more, and several by what is guaranteed, was weighed as before.
@example(1831521)  # A floor that its Queue's limit shut out, with a choice of flavors, stood for its ClusterQueue.
def test_what_is_deserved_is_what_handing_out_by_the_book_gives(seed: int) -> None:
    world = worlds(Random(seed))
    by_the_book = HandingOut(world.snapshot())
    amounts = by_the_book.all()
    assume(not by_the_book.looked_past)
    standings = plan(world.snapshot(), 0).standings
    assert {name: amounts_of(one.deserved) for name, one in standings.items()} == amounts, seed


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
def test_every_share_is_what_the_book_makes_of_what_is_held(seed: int) -> None:
    world = worlds(Random(seed))
    standings = world.settle().standings
    for name, place in QuotaTree(world.snapshot()).places.items():
        assert standings[name].share == place.share(amounts_of(standings[name].allocated)), (seed, name)
