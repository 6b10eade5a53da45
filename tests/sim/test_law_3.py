"""Law 3 is judged strictly: what is forgiven is what was left of pods that go whole, and nothing that was taken for."""

from __future__ import annotations

from msgspec.structs import replace

from tests.scheduler.world import World, pods
from tidegate.scheduler import Cause, Grant, Plan, Rule, Shrink, plan
from tidegate.sim.laws import LawChecker


def crowded() -> World:
    """a holds all 6 cpu in two steps of three and deserves one; b deserves the two single pods of one, and no step of
    the other."""
    world = World(cpu="6")
    for team in "ab":
        world.queue(f"{team}/q", "root")
    world.submit("a/w", pods(6, 0, step=3, cpu="1"), queue="a/q")
    world.settle()
    world.submit("b/large", pods(3, 0, step=3, cpu="1"), queue="b/q")
    world.submit("b/small", pods(2, 0, cpu="1"), queue="b/q", priority=1)
    return world


def breaches(world: World, rule: Rule, **grants: int) -> list[str]:
    """What law 3 says of a Plan that takes a step of a, for the first of those who are granted so many pods."""
    snapshot = world.there.snapshot()
    asker = f"b/{next(iter(grants))}"
    causes = (Cause(rule=rule, needed_by=asker, pods=3),)
    given = tuple(
        Grant(workload=f"b/{name}", admits=True, pods={"main": {"default": n}}, held={"main": {"default": n}})
        for name, n in sorted(grants.items())
    )
    taken = Shrink(workload="a/w", pods={"main": {"default": 3}}, causes=causes)
    real: Plan = plan(snapshot, world.now)
    decided = replace(real, grants=given, shrinks=(taken,), evictions=())
    return [breach.message for breach in LawChecker().breaches(snapshot, world.now, decided) if breach.law == 3]


def test_what_is_within_is_no_breach() -> None:
    assert breaches(crowded(), Rule.FAIR_SHARE, small=2) == []


def test_a_step_beyond_what_is_deserved_is_not_left_over_because_the_victims_step_is_as_large() -> None:
    """Counted pod by pod, all but one of the three seemed to be what is left of a step that goes whole."""
    (message,) = breaches(crowded(), Rule.FAIR_SHARE, large=3)
    assert message == "b/q takes more than it deserves for b/large: its share becomes 1/2, it deserves 1/3"


def test_who_gives_way_by_priority_has_a_lower_one() -> None:
    assert breaches(crowded(), Rule.LOWER_PRIORITY, small=2) == []
    assert "a/w gives way by priority for b/large, whose priority is not higher" in breaches(
        crowded(), Rule.LOWER_PRIORITY, large=3
    )


def test_who_gives_way_within_a_queue_is_in_it() -> None:
    (message,) = breaches(crowded(), Rule.WITHIN_QUEUE, small=2)
    assert message == "a/w gives way as if in one Queue for b/small, which is in another"
