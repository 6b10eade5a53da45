"""Random worlds: trees of quotas, queues and workloads, small enough that every law can be checked after every step."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.scheduler.world import World, pods, quotas

RESOURCES = ("cpu", "memory")


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """One or two flavors, a tree of up to three levels, queues at any of its nodes, workloads that all just arrived;
    pods that go at once, or take their time."""
    world = World(stop=draw(st.sampled_from([0, 0, 2, 40])))
    flavors = draw(st.sampled_from([("default",), ("default", "fast")]))
    if len(flavors) > 1:
        for flavor in flavors:
            world.flavor(flavor, nodeLabels={"kind": flavor})
    for index in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(flavors))
        amounts = {"cpu": str(draw(st.integers(1, 8))), "memory": str(draw(st.integers(1, 8)))}
        world.node(f"n{index}", {"kind": kind}, **amounts)
    names = ["root"]
    for index in range(draw(st.integers(0, 3))):
        name = f"cq{index}"
        world.cluster_queue(name, *_quotas(draw, flavors), parent=draw(st.sampled_from(names)), **_rules(draw))
        names.append(name)
    for index in range(draw(st.integers(1, 4))):
        fields = {"limits": {"cpu": str(draw(st.integers(0, 9)))}} if draw(st.integers(0, 4)) == 0 else {}
        world.queue(f"t{index}/q", draw(st.sampled_from(names)), weight=draw(st.integers(1, 3)), **fields)
    for index in range(draw(st.integers(1, 6))):
        submit(draw, world, f"w{index}")
    return world


def submit(draw: st.DrawFn, world: World, name: str) -> None:
    """A workload of one or two pod sets in any queue."""
    queue = draw(st.sampled_from(sorted(world.queues)))
    sets = []
    for index in range(draw(st.integers(1, 2))):
        floor = draw(st.integers(0, 3))
        requests = {resource: str(draw(st.integers(0, 3))) for resource in RESOURCES}
        extra, step = draw(st.integers(0, 5)), draw(st.sampled_from([1, 1, 2]))
        sets.append(pods(floor + extra, floor, name=f"p{index}", step=step, mixes=draw(st.booleans()), **requests))
    seconds = draw(st.sampled_from([None, None, 60]))
    priority = draw(st.integers(0, 2))
    world.submit(f"{queue.partition('/')[0]}/{name}", *sets, queue=queue, priority=priority, max_run_seconds=seconds)


def _quotas(draw: st.DrawFn, flavors: tuple[str, ...]) -> list[dict[str, object]]:
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
