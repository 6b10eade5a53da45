"""What everybody deserves is mended after a change, and is then what handing everything out anew would give."""

from __future__ import annotations

import os
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.scheduler.world import World, pods, quotas
from tidegate.model.kinds.cluster_queue import Ordering
from tidegate.model.resources import Resources
from tidegate.scheduler import BUILT_IN, Planner, Workload
from tidegate.scheduler.fair.deserved import Deserved
from tidegate.scheduler.fair.mending import can_be_mended
from tidegate.scheduler.policies import Candidate, Fifo
from tidegate.scheduler.tree.tree import Tree

FINEST = [Resources(dict.fromkeys(("cpu", "memory", "gpu"), 1))]
"""Whatever comes later is a multiple of that."""
EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
STEPS = 25


def tree_of(chance: Random) -> World:
    """Up to three levels, weights, any built-in policy, here and there a guarantee, Strict, machines of another kind,
    or a tree of its own: what can be mended, as long as nobody has a choice of flavors."""
    world = World(cpu=str(chance.randint(5, 60)), memory=str(chance.randint(5, 60)))
    if chance.random() < 0.3:
        world.flavor("plain", nodeLabels={"kind": "plain"})
        world.flavor("fast", nodeLabels={"kind": "fast"})
        world.node("node", {"kind": "plain"}, cpu=str(chance.randint(5, 60)), memory=str(chance.randint(5, 60)))
        world.node("fast", {"kind": "fast"}, cpu=str(chance.randint(3, 30)), memory=str(chance.randint(3, 30)))
    names = ["root"]
    policies = chance.choice([["drf"], ["drf"], ["fifo"], ["priority"], ["drf", "fifo", "priority"]])
    if policies != ["drf"]:
        world.cluster_queue("root", policy=chance.choice(policies))
    for index in range(chance.choice([0, 0, 1, 2])):
        world.cluster_queue(f"r{index}", quotas(cpu=str(chance.randint(3, 30)), memory=str(chance.randint(3, 30))))
        names.append(f"r{index}")
    limited = chance.random() < 0.3
    for index in range(chance.randint(0, 4)):
        quota = (
            [quotas(cpu=_quota(chance, limited, policies == ["drf"]))]
            if chance.random() < (0.5 if limited else 0.15)
            else []
        )
        rules = {"parent": chance.choice(names), "weight": chance.randint(1, 3)}
        rules["policy"] = chance.choice(policies)
        if not limited and chance.random() < 0.15:
            rules["ordering"] = "Strict"
        world.cluster_queue(f"c{index}", *quota, **rules)
        names.append(f"c{index}")
    for index in range(chance.randint(1, 6)):
        limit = {"limits": {"cpu": "4"}} if chance.random() < 0.03 and "fast" not in world.flavors else {}
        world.queue(f"t{index}/q", chance.choice(names), weight=chance.randint(1, 2), **limit)
    return world


def _quota(chance: Random, limited: bool, guaranteed: bool) -> tuple[str | None, ...]:
    """A guarantee, where turns are by share, and perhaps how much more may be borrowed, and how much of it lent."""
    limit = str(chance.randint(0, 9)) if limited and chance.random() < 0.5 else None
    lent = str(chance.randint(0, 5)) if limited and chance.random() < 0.5 else None
    return (str(chance.randint(0, 9)) if guaranteed else "0", limit, lent)


def workload(chance: Random, world: World, number: int) -> Workload:
    """A gang, or something elastic, of one of a few shapes."""
    queue = chance.choice(sorted(world.queues))
    least = chance.choice([1, 1, 2, 3, 0])
    more = chance.choice([0, 0, 0, 4])
    shape = chance.choice([{"cpu": "1", "memory": "1"}, {"cpu": "2", "memory": "1"}, {"cpu": "1", "memory": "3"}])
    if chance.random() < 0.1:
        shape = {"cpu": str(chance.randint(1, 7))}
    elif chance.random() < 0.03:
        shape = {}
    name = f"{queue.partition('/')[0]}/w{number}"
    priority = chance.choice([0, 0, 0, 1] if number % 2 else [0, 1, 2])
    created = number if chance.random() < 0.8 else chance.randint(0, number)
    pod_sets = (pods(least + more, least, **shape),)
    if "fast" in world.flavors and chance.random() < 0.98:
        kind = {"kind": chance.choice(["plain", "fast"])}
        pod_sets = (replace(pod_sets[0], node_selector=kind),)
    return Workload(name=name, queue=queue, created=created, priority=priority, pod_sets=pod_sets)


def change(chance: Random, world: World, demand: dict[str, Workload], number: int) -> None:
    """Somebody comes, goes, or wants something else."""
    known = sorted(demand)
    what = chance.choice(["come", "come", "go", "end", "resize"])
    if what == "come" or not known:
        new = workload(chance, world, number)
        demand[new.name] = new
        return
    name = chance.choice(known)
    old = demand[name]
    first = old.pod_sets[0]
    if what == "go":
        del demand[name]
    elif what == "end" and first.ended < first.count:
        demand[name] = replace(old, pod_sets=(replace(first, ended=first.ended + 1),))
    elif what == "resize":
        demand[name] = replace(old, pod_sets=(replace(first, count=first.floor + chance.randint(0, 5)),))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
@example(588)  # A Strict queue at its own limit had blocked its siblings, and was given more than that limit.
@example(9866)  # A node at its borrowing limit gave back what had not come last there: somebody had been passed.
def test_what_is_deserved_is_the_same_mended_or_anew(seed: int) -> None:
    chance = Random(seed)
    world = tree_of(chance)
    demand: dict[str, Workload] = {}
    for number in range(chance.randint(0, 30)):
        new = workload(chance, world, number)
        demand[new.name] = new
    tree = Tree(world.snapshot(), requests=FINEST)
    is_strict = any(rules.ordering is Ordering.STRICT for rules in world.cluster_queues.values())
    assert can_be_mended(tree, BUILT_IN) or (is_strict and any(queue.limits for queue in world.queues.values()))
    kept = Deserved(tree, BUILT_IN, world.snapshot())
    known: dict[str, Workload] = {}
    for step in range(STEPS):
        for name in known.keys() - demand.keys():
            kept.forget(name)
        for new in demand.values():
            kept.want(new)
        known = dict(demand)
        anew = Deserved(tree, BUILT_IN, world.snapshot(), mends=False)
        for new in demand.values():
            anew.want(new)
        for node in tree.in_order:
            assert kept.amounts(node) == anew.amounts(node), (seed, step, node.name)
        for _ in range(chance.randint(1, 2)):
            change(chance, world, demand, 100 + step)


def test_a_registered_policy_is_not_foreseen() -> None:
    """Its order may follow anything, whatever its name."""

    class Smallest(Fifo):
        def order(self, candidate: Candidate) -> int:
            return candidate.pods

    world = World(cpu="5")
    world.cluster_queue("root", policy="fifo")
    world.queue("a/q")
    tree = Tree(world.snapshot())
    assert can_be_mended(tree, BUILT_IN)
    assert not can_be_mended(tree, {**BUILT_IN, "fifo": Smallest()})


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.integers(0, 2**32))
def test_what_is_deserved_is_the_same_whether_or_not_a_cycle_began_to_hand_it_out(seed: int) -> None:
    """A cycle that starts from empty goes the same way until somebody does not fit; that part is not gone twice."""
    chance = Random(seed)
    world = tree_of(chance)
    planner = Planner()
    planner.configure(world.snapshot())
    anew = Deserved(Tree(world.snapshot(), requests=FINEST), BUILT_IN, world.snapshot(), mends=False)
    for number in range(chance.randint(10, 60)):
        new = workload(chance, world, number)
        # Who needs nothing to start begins to hold something before anybody has a turn.
        if any(one.least for one in new.pod_sets) or chance.random() < 0.05:
            planner.put(new)
            anew.want(new)
    standings = planner.plan(100, report=True).standings
    for node in anew.tree.in_order:
        assert standings[node.name].deserved == anew.tree.axes.flavored(anew.amounts(node)), (seed, node.name)
