"""Random worlds: trees of quotas, queues and workloads, small enough that every law can be checked after every step."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tests.scheduler.world import World, pods, quotas

FLAVORS = ("default", "fast", "spot")


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to three flavors and resources, a tree of up to six levels with guarantees that may be more than there is,
    queues at any of its nodes, workloads that all just arrived; pods that go at once, or take their time."""
    world = World(stop=draw(st.sampled_from([0, 0, 2, 40])))
    flavors = FLAVORS[: draw(st.sampled_from([1, 1, 2, 3]))]
    if len(flavors) > 1:
        for flavor in flavors:
            world.flavor(flavor, nodeLabels={"kind": flavor})
    for index in range(draw(st.integers(1, 4))):
        join(draw, world, f"n{index}", flavors)
    names = ["root"]
    for index in range(draw(st.integers(0, 5))):
        name = f"cq{index}"
        world.cluster_queue(name, *_quotas(draw, flavors), parent=draw(st.sampled_from(names)), **_rules(draw))
        names.append(name)
    for index in range(draw(st.integers(1, 5))):
        fields = {"limits": {"cpu": str(draw(st.integers(0, 9)))}} if draw(st.integers(0, 4)) == 0 else {}
        if draw(st.integers(0, 9)) == 0:
            fields["request"] = {"cpu": str(draw(st.integers(1, 6)))}
        world.queue(f"t{index}/q", draw(st.sampled_from(names)), weight=draw(st.integers(1, 3)), **fields)
    for index in range(draw(st.integers(1, 6))):
        submit(draw, world, f"w{index}")
    return world


def join(draw: st.DrawFn, world: World, name: str, flavors: Sequence[str]) -> None:
    """A node of any flavor, and of any size."""
    amounts = {"cpu": str(draw(st.integers(1, 13))), "memory": str(draw(st.integers(1, 13)))}
    world.node(name, {"kind": draw(st.sampled_from(flavors))}, **amounts, gpu=str(draw(st.integers(0, 2))))


def submit(draw: st.DrawFn, world: World, name: str) -> None:
    """A workload of one to three pod sets in any queue."""
    queue = draw(st.sampled_from(sorted(world.queues)))
    sets = []
    for index in range(draw(st.sampled_from([1, 1, 2, 3]))):
        floor = draw(st.integers(0, 3))
        requests = {resource: draw(st.sampled_from(["0", "1", "500m", "2", "3"])) for resource in ("cpu", "memory")}
        requests["gpu"] = draw(st.sampled_from(["0", "0", "0", "1"]))
        extra, step = draw(st.sampled_from([0, 1, 3, 8])), draw(st.sampled_from([1, 1, 2, 3]))
        sets.append(pods(floor + extra, floor, name=f"p{index}", step=step, mixes=draw(st.booleans()), **requests))
    seconds = draw(st.sampled_from([None, None, 60]))
    priority = draw(st.sampled_from([0, 0, 1, 2, 5]))
    world.submit(f"{queue.partition('/')[0]}/{name}", *sets, queue=queue, priority=priority, max_run_seconds=seconds)


def requota(draw: st.DrawFn, world: World) -> None:
    """A ClusterQueue is guaranteed something else, or is stopped, or open again."""
    name = draw(st.sampled_from(sorted(world.cluster_queues)))
    flavors = sorted(world.flavors) or ["default"]
    rules = _rules(draw) | {"stop": draw(st.sampled_from(["None", "None", "Hold", "HoldAndDrain"]))}
    world.cluster_queue(name, *_quotas(draw, flavors), parent=world.cluster_queues[name].parent, **rules)


def _quotas(draw: st.DrawFn, flavors: Sequence[str]) -> list[dict[str, object]]:
    chosen = draw(st.lists(st.sampled_from(flavors), unique=True))
    limit = st.one_of(st.none(), st.integers(0, 4).map(str))
    return [
        quotas(
            flavor, cpu=(str(draw(st.integers(0, 6))), draw(limit), draw(limit)), memory=(str(draw(st.integers(0, 6))),)
        )
        for flavor in chosen
    ]


def _rules(draw: st.DrawFn) -> dict[str, object]:
    return {
        "weight": draw(st.integers(1, 3)),
        "ordering": draw(st.sampled_from(["BestEffort", "BestEffort", "Strict"])),
        "patience": draw(st.sampled_from(["1h", "5s"])),
        "policy": draw(st.sampled_from(["drf", "drf", "fifo", "priority"])),
        "preemption": {
            "withinQueue": draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
            "acrossQueues": draw(st.sampled_from(["Never", "LowerPriority", "FairShare"])),
        },
    }
