"""Shares and deserved: the worked examples of the DRF and H-DRF papers, weights, guarantees, borrowing and lending."""

from __future__ import annotations

from fractions import Fraction

from tests.scheduler.world import World, pods, quotas


def test_the_drf_papers_example_gives_three_to_a_and_two_to_b() -> None:
    """9 cpu and 18 Gi: a's pods are heavy in memory, b's in cpu; both end at a dominant share of two thirds."""
    world = World(cpu="9", memory="18Gi")
    for team in "ab":
        world.queue(f"{team}/default")
    world.submit("a/a", pods(9, 0, cpu="1", memory="4Gi"), queue="a/default")
    world.submit("b/b", pods(9, 0, cpu="3", memory="1Gi"), queue="b/default")
    last = world.settle()
    assert (world.granted("a/a"), world.granted("b/b")) == (3, 2)
    assert (world.deserved("a/default"), world.deserved("a/default", "memory")) == ("3", "12Gi")
    assert world.deserved("b/default") == "6"
    assert last.standings["a/default"].share == last.standings["b/default"].share == Fraction(2, 3)


def test_no_leaf_starves_in_the_hdrf_papers_example() -> None:
    """n2's children need different resources; that one takes cpu must not keep the other from memory nobody uses."""
    world = World(cpu="10", memory="10Gi")
    world.cluster_queue("n1", parent="root")
    world.cluster_queue("n2", parent="root")
    world.queue("n1/q", "n1")
    world.queue("n2/one", "n2")
    world.queue("n2/two", "n2")
    world.submit("n1/w", pods(20, 0, cpu="1"), queue="n1/q")
    world.submit("n2/one", pods(20, 0, cpu="1"), queue="n2/one")
    world.submit("n2/two", pods(20, 0, memory="1Gi"), queue="n2/two")
    world.settle()
    assert world.granted("n2/two") == 10
    assert world.granted("n1/w") == 5
    assert world.granted("n2/one") == 5


def test_a_weight_of_two_deserves_twice_as_much() -> None:
    world = World(cpu="9")
    world.queue("a/q", weight=2)
    world.queue("b/q")
    for team in "ab":
        world.submit(f"{team}/w", pods(9, 0, cpu="1"), queue=f"{team}/q")
    world.settle()
    assert (world.granted("a/w"), world.granted("b/w")) == (6, 3)


def test_asks_inside_a_guarantee_come_first() -> None:
    world = World()
    world.cluster_queue("root", quotas(cpu="10"))
    world.cluster_queue("sure", quotas(cpu="8"), parent="root")
    world.cluster_queue("rest", parent="root")
    world.queue("sure/q", "sure")
    world.queue("rest/q", "rest")
    world.submit("rest/w", pods(10, 0, cpu="1"), queue="rest/q")
    world.submit("sure/w", pods(10, 0, cpu="1"), queue="sure/q", created=1)
    world.settle()
    assert (world.granted("sure/w"), world.granted("rest/w")) == (9, 1)


def test_borrowing_stops_at_its_limit_and_lending_at_its_own() -> None:
    world = World()
    world.cluster_queue("root", quotas(cpu="24"))
    world.cluster_queue("borrower", quotas(cpu=("4", "3")), parent="root")
    world.cluster_queue("greedy", quotas(cpu="4"), parent="root")
    world.cluster_queue("lender", quotas(cpu=("12", None, "5")), parent="root")
    for name in ("borrower", "greedy", "lender"):
        world.queue(f"{name}/q", name)
    world.submit("borrower/w", pods(20, 0, cpu="1"), queue="borrower/q")
    world.submit("greedy/w", pods(20, 0, cpu="1"), queue="greedy/q")
    world.settle()
    assert (world.granted("borrower/w"), world.granted("greedy/w")) == (7, 10)
    assert world.reason("borrower/w") == "ExceedsQuota"
    world.submit("lender/w", pods(7, cpu="1"), queue="lender/q")
    world.settle()
    assert world.admitted("lender/w")
    assert world.shrinks.total() == 0


def test_what_was_borrowed_comes_back_to_its_owner_one_surplus_pod_at_a_time() -> None:
    world = World()
    world.cluster_queue("root", quotas(cpu="10"))
    for name in "ab":
        world.cluster_queue(name, quotas(cpu="5"), parent="root")
        world.queue(f"{name}/q", name)
    world.submit("a/w", pods(10, 2, cpu="1"), queue="a/q")
    world.settle()
    assert world.granted("a/w") == 10
    world.submit("b/w", pods(3, cpu="1"), queue="b/q", created=1)
    world.settle(1)
    assert (world.granted("a/w"), world.granted("b/w")) == (7, 3)
    assert world.evictions.total() == 0


def test_a_standing_request_is_deserved_but_granted_to_nobody() -> None:
    world = World(cpu="8")
    world.queue("a/q", request={"cpu": "4"})
    world.queue("b/q")
    world.submit("b/w", pods(8, 0, cpu="1"), queue="b/q")
    world.settle()
    assert world.granted("b/w") == 8
    assert (world.deserved("a/q"), world.deserved("b/q")) == ("4", "4")


def test_guarantees_above_a_lost_capacity_are_shown_and_nothing_is_over_committed() -> None:
    world = World(cpu="4")
    for name in "ab":
        world.cluster_queue(name, quotas(cpu="4"), parent="root")
        world.queue(f"{name}/q", name)
        world.submit(f"{name}/w", pods(4, 0, cpu="1"), queue=f"{name}/q")
    last = world.settle()
    assert world.granted("a/w") + world.granted("b/w") == 4  # type: ignore[operator]
    assert last.standings["root"].short_of_guarantees.total().quantities() == {"cpu": "4"}


def test_two_roots_that_are_sized_from_the_nodes_do_not_both_use_them() -> None:
    """Each alone may use all there is; together they have no more than that."""
    world = World(cpu="10")
    world.cluster_queue("other")
    world.queue("a/q", "root")
    world.queue("b/q", "other")
    world.submit("a/w", pods(8, 0, cpu="1"), queue="a/q")
    world.submit("b/w", pods(8, 0, cpu="1"), queue="b/q")
    last = world.settle()
    assert world.granted("a/w") + world.granted("b/w") == 10  # type: ignore[operator]
    assert sorted(last.standings) == ["a/q", "b/q", "other", "root"]
    world.node("node", cpu="6")
    world.settle()
    assert world.granted("a/w") + world.granted("b/w") == 6  # type: ignore[operator]
