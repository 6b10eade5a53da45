"""Whose turn it is, and who may not pass: priorities, growth, Strict, patience, backfill, flavors and reasons."""

from __future__ import annotations

from tests.scheduler.world import World, pods, quotas
from tidegate.scheduler import BUILT_IN, Candidate, plan


def test_everybody_starts_before_anybody_grows_and_then_all_grow_alike() -> None:
    world = World(cpu="10")
    world.queue("a/q")
    for index in range(3):
        world.submit(f"a/w{index}", pods(9, 1, cpu="1"), queue="a/q", created=index)
    world.settle(5)
    assert [world.granted(f"a/w{index}") for index in range(3)] == [4, 3, 3]


def test_growth_is_partial_and_in_whole_steps() -> None:
    world = World(cpu="7")
    world.queue("a/q")
    world.submit("a/w", pods(9, 1, cpu="1", step=4), queue="a/q")
    world.settle()
    assert world.granted("a/w") == 5


def test_a_pod_that_ended_well_gives_its_room_back_at_once() -> None:
    world = World(cpu="4")
    world.queue("a/q")
    world.submit("a/gang", pods(4, cpu="1"), queue="a/q")
    world.submit("a/next", pods(1, cpu="1"), queue="a/q", created=1)
    world.settle(1)
    assert not world.admitted("a/next")
    world.succeed("a/gang")
    world.settle(2)
    assert (world.granted("a/gang"), world.granted("a/next")) == (3, 1)


def test_strict_lets_nobody_pass_and_best_effort_does() -> None:
    for ordering, reason in (("Strict", "BehindInQueue"), ("BestEffort", None)):
        world = World(cpu="4")
        world.cluster_queue("c", parent="root", ordering=ordering)
        world.queue("a/q", "c")
        world.submit("a/runs", pods(2, cpu="1"), queue="a/q")
        world.submit("a/large", pods(4, cpu="1"), queue="a/q", created=1)
        world.submit("a/small", pods(1, cpu="1"), queue="a/q", created=2)
        world.settle(3)
        assert world.reason("a/small") == reason


def test_a_large_gang_that_lost_patience_collects_room_against_a_stream_of_small_ones() -> None:
    world = World(cpu="4")
    world.queue("a/q")
    world.queue("b/q")
    for index in range(4):
        world.submit(f"b/s{index}", pods(1, cpu="1"), queue="b/q")
    world.settle()
    world.submit("a/large", pods(4, cpu="1"), queue="a/q", created=1)
    for index in range(4):
        world.now = 3700 + index
        world.submit(f"b/t{index}", pods(1, cpu="1"), queue="b/q", created=3000)
        world.end(f"b/s{index}")
        world.settle()
    assert world.admitted("a/large")


def test_a_short_job_may_use_held_room_that_it_leaves_in_time() -> None:
    world = World(cpu="4")
    world.queue("a/q")
    world.submit("a/runs", pods(3, cpu="1"), queue="a/q", max_run_seconds=9000)
    world.settle()
    world.submit("a/large", pods(4, cpu="1"), queue="a/q", created=1)
    world.submit("a/long", pods(1, cpu="1"), queue="a/q", created=4000)
    world.submit("a/short", pods(1, cpu="1"), queue="a/q", created=4001, max_run_seconds=60)
    world.settle(4002)
    assert world.admitted("a/short")
    assert not world.admitted("a/long")


def test_who_waits_for_held_room_is_told_for_whom_it_is_held() -> None:
    """Two gangs hold room, one of fast machines, one of slow ones. Both small jobs were told that the first of them
    was in their way, though to one of them it made no difference: its machines were held for the other."""
    world = World()
    for kind in ("fast", "slow"):
        world.node(kind, {"kind": kind}, cpu="4")
        world.flavor(kind, nodeLabels={"kind": kind})
        world.cluster_queue(kind, quotas(kind, cpu="0"), parent="root")
        world.queue(f"{kind}/runs", kind)
        world.queue(f"{kind}/waits", kind)
        world.submit(f"{kind}/runs", pods(2, cpu="1"), queue=f"{kind}/runs")
        world.submit(f"{kind}/gang", pods(4, cpu="1"), queue=f"{kind}/waits", created=1)
    world.settle(4000)
    for kind in ("fast", "slow"):
        world.submit(f"{kind}/small", pods(1, cpu="1"), queue=f"{kind}/runs")
    world.settle()
    told = [world.waiting(f"{kind}/small") for kind in ("fast", "slow")]
    assert [one and one.behind for one in told] == ["fast/gang", "slow/gang"]


def test_flavors_guarantee_first_then_borrowing_and_pods_that_may_mix_do() -> None:
    world = World()
    world.cluster_queue("root", quotas("fast", cpu="4"), quotas("slow", cpu="4"))
    world.cluster_queue("c", quotas("fast", cpu="0"), quotas("slow", cpu="3"), parent="root")
    world.queue("a/q", "c")
    world.submit("a/mixes", pods(6, 0, cpu="1"), queue="a/q")
    world.settle()
    assert world.granted("a/mixes") == {"fast": 3, "slow": 3}


def test_pods_of_one_template_stay_in_one_flavor() -> None:
    world = World()
    world.cluster_queue("root", quotas("fast", cpu="4"), quotas("slow", cpu="4"))
    world.queue("a/q")
    world.submit("a/job", pods(6, 2, cpu="1", mixes=False), queue="a/q")
    world.settle()
    assert world.workloads["a/job"].pod_sets[0].granted == {"fast": 4}


def test_reasons_say_what_can_never_be() -> None:
    world = World(cpu="4")
    world.node("other", cpu="4")
    world.queue("a/q")
    world.submit("a/huge", pods(9, cpu="1"), queue="a/q")
    world.submit("a/wide", pods(1, cpu="5"), queue="a/q")
    world.submit("a/gpu", pods(1, **{"nvidia.com/gpu": "1"}), queue="a/q")
    world.submit("a/lost", pods(1, cpu="1"), queue="nowhere/q")
    world.submit("a/off", pods(1, cpu="1"), queue="a/q", active=False)
    world.settle()
    names = ("huge", "wide", "gpu", "lost", "off")
    reasons = [world.reason(f"a/{name}") for name in names]
    assert reasons == ["ExceedsQuota", "ExceedsQuota", "NoMatchingFlavor", "NoQueue", "Inactive"]


def test_only_named_submitters_may_ask() -> None:
    world = World(cpu="4")
    world.cluster_queue("c", parent="root", submitters={"users": ["ann"], "groups": ["ops"]})
    world.queue("a/q", "c")
    world.submit("a/ann", pods(1, cpu="1"), queue="a/q", user="ann")
    world.submit("a/op", pods(1, cpu="1"), queue="a/q", user="bob", groups=("ops",))
    world.submit("a/eve", pods(1, cpu="1"), queue="a/q", user="eve")
    world.settle()
    assert [world.reason(f"a/{name}") for name in ("ann", "op", "eve")] == [None, None, "NotAllowed"]


def test_a_policy_of_ones_own_is_a_small_object() -> None:
    class LargestFirst:
        def order(self, candidate: Candidate) -> int:
            return -candidate.pods

    world = World(cpu="4")
    world.cluster_queue("c", parent="root", policy="largest")
    for name, size in (("a", 1), ("b", 4)):
        world.queue(f"{name}/q", "c")
        world.submit(f"{name}/w", pods(size, cpu="1"), queue=f"{name}/q")
    decided = plan(world.snapshot(), 0, policies={**BUILT_IN, "largest": LargestFirst()})
    assert [grant.workload for grant in decided.grants] == ["b/w"]
    assert plan(world.snapshot(), 0).unknown_policies == ("c",)
