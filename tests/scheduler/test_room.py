"""Making room: who gives way to whom, in which order, and that it settles."""

from __future__ import annotations

from tests.scheduler.world import World, pods, quotas
from tidegate.scheduler import Rule, message


def two_teams(cpu: str = "10", *, stop: int = 0, **rules: object) -> World:
    world = World(cpu=cpu, stop=stop)
    for team in "ab":
        world.cluster_queue(team, parent="root", preemption=rules)
        world.queue(f"{team}/q", team)
    return world


def test_surplus_goes_before_floors_and_only_down_to_what_is_deserved() -> None:
    world = two_teams()
    world.submit("a/elastic", pods(8, 1, cpu="1"), queue="a/q")
    world.submit("a/gang", pods(2, cpu="1"), queue="a/q")
    world.settle()
    world.submit("b/w", pods(9, 0, cpu="1"), queue="b/q", created=1)
    world.settle(1)
    assert (world.granted("a/elastic"), world.granted("a/gang"), world.granted("b/w")) == (3, 2, 5)
    assert world.evictions.total() == 0


def test_a_floor_above_what_is_deserved_gives_way_and_says_for_whom() -> None:
    world = two_teams()
    for index in range(2):
        world.submit(f"a/g{index}", pods(5, cpu="1"), queue="a/q", created=index)
    world.settle(1)
    world.submit("b/g", pods(5, cpu="1"), queue="b/q", created=2)
    world.now = 2
    decided = world.cycle()
    (eviction,) = decided.evictions
    assert eviction.workload == "a/g1"
    assert [(cause.rule, cause.needed_by) for cause in eviction.causes] == [(Rule.FAIR_SHARE, "b/g")]
    world.settle(100)
    assert world.admitted("b/g")
    assert world.evictions == {"a/g1": 1}


def test_no_floor_is_taken_across_queues_where_that_is_never_allowed() -> None:
    world = two_teams(acrossQueues="Never")
    world.submit("a/g", pods(10, cpu="1"), queue="a/q")
    world.settle()
    world.submit("b/g", pods(5, cpu="1"), queue="b/q", created=1)
    world.settle(1)
    assert not world.admitted("b/g")
    assert world.reason("b/g") == "WaitingForQuota"
    waiting = world.waiting("b/g")
    assert waiting is not None
    assert message(waiting) == "needs 5 cpu of flavor default more; root has nothing left"


def test_what_several_roots_read_is_called_the_cluster() -> None:
    """Two roots that state nothing share the nodes, which are no ClusterQueue: the message had a hole for its name."""
    world = World(cpu="4")
    world.cluster_queue("second")
    world.queue("a/q")
    world.queue("b/q", "second")
    world.submit("a/w", pods(3, cpu="1"), queue="a/q")
    world.submit("b/w", pods(2, cpu="1"), queue="b/q", created=1)
    world.settle(1)
    waiting = world.waiting("b/w")
    assert waiting is not None
    assert message(waiting) == "needs 1 cpu of flavor default more; the cluster has 1 cpu of flavor default left"


def test_a_higher_priority_takes_a_floor_within_its_queue_only_where_allowed() -> None:
    for within, admitted in (("Never", False), ("LowerPriority", True)):
        world = two_teams(withinQueue=within)
        world.submit("a/low", pods(10, cpu="1"), queue="a/q")
        world.settle()
        world.submit("a/high", pods(10, cpu="1"), queue="a/q", priority=1, created=1)
        world.settle(1)
        assert world.admitted("a/high") is admitted
        assert world.admitted("a/low") is not admitted


def test_the_newer_gives_way_although_an_older_one_came_in_after_it() -> None:
    """Whoever came in last is asked first. It was older than the asker and refused, and with it all of its size."""
    world = World(cpu="2")
    world.cluster_queue("root", preemption={"withinQueue": "LowerOrNewerEqualPriority"})
    world.queue("a/q")
    world.submit("a/newer", pods(1, cpu="1"), queue="a/q", created=20)
    world.settle(20)
    world.submit("a/oldest", pods(1, cpu="1"), queue="a/q", created=0)
    world.settle(21)
    world.submit("a/older", pods(1, cpu="1"), queue="a/q", created=10)
    world.settle(22)
    assert (world.admitted("a/oldest"), world.admitted("a/older"), world.admitted("a/newer")) == (True, True, False)


def test_a_waiting_floor_takes_surplus_of_its_own_queue() -> None:
    world = World(cpu="10")
    world.queue("a/q")
    world.submit("a/elastic", pods(10, 2, cpu="1"), queue="a/q")
    world.settle()
    world.submit("a/gang", pods(4, cpu="1"), queue="a/q", created=1)
    decided_at_once = world.settle(1)
    assert (world.granted("a/elastic"), world.granted("a/gang")) == (6, 4)
    assert decided_at_once.is_empty


def test_room_is_held_for_whom_it_was_made_until_the_pods_are_gone() -> None:
    world = two_teams(stop=5)
    world.submit("a/w", pods(10, 0, cpu="1"), queue="a/q")
    world.settle()
    world.submit("b/w", pods(5, cpu="1"), queue="b/q", created=1)
    world.now = 1
    world.cycle()
    assert world.workloads["b/w"].pod_sets[0].held == {"default": 5}
    world.submit("a/other", pods(1, cpu="1"), queue="a/q", created=1)
    assert world.settle(1).is_empty is True
    assert world.reason("b/w") == "WaitingForPreempted"
    world.settle(6)
    assert not any(world.workloads["b/w"].pod_sets[0].held.values())
    assert world.reason("b/w") is None


def test_two_gangs_that_fit_only_one_at_a_time_do_not_deadlock() -> None:
    """Gang deadlock: each would hold half and wait for the other for ever."""
    world = World(cpu="10")
    for team in "ab":
        world.queue(f"{team}/q")
        world.submit(f"{team}/gang", pods(6, cpu="1"), queue=f"{team}/q")
    world.settle()
    assert (world.granted("a/gang"), world.granted("b/gang")) == (6, 0)
    world.end("a/gang")
    world.settle(1)
    assert world.granted("b/gang") == 6


def test_equal_demands_do_not_take_turns_in_evicting_each_other() -> None:
    """Ping-pong: gangs of which only one fits; whoever runs is left alone, however long the other waits."""
    world = two_teams()
    for team in "ab":
        world.submit(f"{team}/gang", pods(10, cpu="1"), queue=f"{team}/q")
    for now in range(0, 20000, 1000):
        world.settle(now)
    assert world.evictions.total() == 0


def test_a_lost_node_takes_surplus_first_and_then_the_newest_floor() -> None:
    world = World()
    world.node("n0", cpu="6")
    world.node("n1", cpu="6")
    world.queue("a/q")
    world.submit("a/old", pods(4, cpu="1"), queue="a/q")
    world.submit("a/elastic", pods(4, 2, cpu="1"), queue="a/q")
    world.settle()
    world.submit("a/new", pods(4, cpu="1"), queue="a/q", created=1)
    world.settle(1)
    del world.nodes["n1"]
    world.now = 2
    decided = world.cycle()
    assert [eviction.workload for eviction in decided.evictions] == ["a/new"]
    assert (world.granted("a/old"), world.granted("a/elastic")) == (4, 2)


def test_a_stopped_queue_admits_nothing_and_a_drained_one_keeps_nothing() -> None:
    world = two_teams()
    world.submit("a/w", pods(3, cpu="1"), queue="a/q")
    world.settle()
    world.cluster_queue("a", parent="root", stop="Hold")
    world.submit("a/late", pods(1, cpu="1"), queue="a/q")
    world.settle(1)
    assert (world.granted("a/w"), world.reason("a/late")) == (3, "QueueStopped")
    world.cluster_queue("a", parent="root", stop="HoldAndDrain")
    world.settle(2)
    assert not world.admitted("a/w")
    assert world.reason("a/w") == "QueueStopped"


def test_what_was_borrowed_from_inside_a_guarantee_is_never_taken() -> None:
    world = World()
    world.cluster_queue("root", quotas(cpu="10"))
    world.cluster_queue("a", quotas(cpu="10"), parent="root")
    world.cluster_queue("b", parent="root")
    for team in "ab":
        world.queue(f"{team}/q", team)
    world.submit("a/w", pods(10, 0, cpu="1"), queue="a/q")
    world.settle()
    world.submit("b/w", pods(1, cpu="1"), queue="b/q", created=1)
    world.settle(1)
    assert world.granted("a/w") == 10
