"""Whatever part of what was decided is written when the operator dies, too little was given, never too much."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tests.controller.test_hazards import workload
from tidegate.controller.seen.workloads import Facts, seen_workload
from tidegate.controller.told.room import room_of
from tidegate.controller.underway import Step, Underway, Urgency
from tidegate.model.kinds.shape import ConditionStatus
from tidegate.model.kinds.workload import PodSetStatus, ReclaimedPods, WorkloadStatus
from tidegate.scheduler import Plan

QUOTA = {"a": 6, "b": 4, "c": 4}
"""Pods of each flavor that fit into each tree."""
FLOORS = {"main": 3}
"""Of everybody: less is nothing."""
ROOTS = {"u": "left", "v": "left", "w": "right", "x": "right", "y": "right"}
NAMES = tuple(ROOTS)
ADMITTED = workload().status
NOTHING = WorkloadStatus()


def status(flavors: dict[str, int], running: int = 0) -> WorkloadStatus:
    some = {flavor: count for flavor, count in flavors.items() if count}
    pods = PodSetStatus(name="main", granted=sum(some.values()), flavors=some, running=running)
    return structs.replace(ADMITTED if some else NOTHING, pod_sets=(pods,))


def obj(name: str, version: int = 1) -> Any:
    return {"metadata": {"namespace": "n", "name": name, "resourceVersion": str(version)}}


class World:
    """Planner, server and what is on its way between them. What is in flight may have taken effect or not."""

    def __init__(self) -> None:
        self.underway = Underway()
        self.planned = {name: dict.fromkeys(QUOTA, 0) for name in NAMES}
        self.stored = dict.fromkeys(NAMES, NOTHING)
        self.flying: list[tuple[Step, Any]] = []

    def plan(self, wishes: dict[str, dict[str, int]]) -> None:
        """Everybody gets what is wished for as far as it fits and is a floor, decided together and put in no particular
        order."""
        for name, wish in wishes.items():
            self.planned[name] = {flavor: min(count, self.planned[name][flavor]) for flavor, count in wish.items()}
        for name, wish in wishes.items():
            for flavor, count in wish.items():
                left = QUOTA[flavor] - self.planned_in(ROOTS[name], flavor)
                self.planned[name][flavor] += min(left, count - self.planned[name][flavor])
            if sum(self.planned[name].values()) < FLOORS["main"]:
                self.planned[name] = dict.fromkeys(QUOTA, 0)
        for name in wishes:
            self.put(name, status(self.planned[name], running=len(self.flying)))

    def planned_in(self, root: str, flavor: str) -> int:
        return sum(one[flavor] for name, one in self.planned.items() if ROOTS[name] == root)

    def put(self, name: str, decided: WorkloadStatus) -> None:
        key = "n", name
        if decided != (self.underway.assumed(key) or self.stored[name]):
            self.underway.put(
                key, obj(name), self.stored[name], decided, urgency=Urgency.TELLS, root=ROOTS[name], floors=FLOORS
            )

    def send(self) -> None:
        while (found := self.underway.next(Urgency.REPORTS)) is not None:
            self.flying.append(found)
            self.check()

    def land(self, which: int) -> None:
        if self.flying:
            step, made_from = self.flying.pop(which % len(self.flying))
            self.stored[step.key[1]] = step.status
            self.underway.written(step, obj(step.key[1], int(made_from["metadata"]["resourceVersion"]) + 1))
            assert sum(each.granted for each in step.status.pod_sets) not in range(1, FLOORS["main"]), "half a floor"

    def fail(self, which: int, *, has_come: bool) -> None:
        """One had no answer; what became of it is read again, and all that was assumed and not sent is seen anew."""
        if self.flying:
            step, _ = self.flying.pop(which % len(self.flying))
            if has_come:
                self.stored[step.key[1]] = step.status
            for key in self.underway.forget(step):
                now = self.underway.assumed(key) or self.stored[key[1]]
                flavors = now.pod_sets[0].flavors if now.pod_sets else {}
                self.planned[key[1]] = {flavor: flavors.get(flavor, 0) for flavor in QUOTA}
            for flavor, most in QUOTA.items():
                assert all(self.planned_in(root, flavor) <= most for root in ROOTS.values())

    def check(self) -> None:
        """The most that may be stored if any of what is in flight has taken effect."""
        for flavor, most in QUOTA.items():
            totals: Counter[str] = Counter()
            for name, root in ROOTS.items():
                said = [self.stored[name], *(step.status for step, _ in self.flying if step.key[1] == name)]
                totals[root] += max(room_of(each).get(("main", flavor, False), 0) for each in said)
            assert max(totals.values()) <= most, (flavor, totals)


WISHES = st.dictionaries(
    st.sampled_from(NAMES),
    st.fixed_dictionaries({flavor: st.integers(0, most) for flavor, most in QUOTA.items()}),
    min_size=1,
)
FAILURES = st.tuples(st.integers(0, 9), st.booleans())
EVENTS = st.lists(st.one_of(WISHES, st.sampled_from(("send", "replant")), st.integers(0, 9), FAILURES), max_size=40)


@settings(max_examples=400)
@given(EVENTS)
def test_at_no_moment_is_more_written_than_there_is(events: list[Any]) -> None:
    world = World()
    for event in events:
        if isinstance(event, dict):
            world.plan(event)
        elif event == "send":
            world.send()
        elif event == "replant":
            world.underway.replant()
        elif isinstance(event, tuple):
            world.fail(event[0], has_come=event[1])
        else:
            world.land(event)
        world.check()
    world.send()
    while world.flying:
        world.land(0)
        world.send()
    assert not len(world.underway), "nothing waits for ever"
    for name in NAMES:
        assert room_of(world.stored[name]) == room_of(status(world.planned[name]))


def test_a_floor_that_moves_to_another_flavor_is_whole_at_any_moment() -> None:
    """Seed 380: of a floor of two one moved to another flavor. What it lost was written first, and as the operator was
    killed before it wrote what was given, half a gang ran on."""
    underway = Underway()
    told: Any = {"urgency": Urgency.TELLS, "floors": {"main": 2}}
    underway.put(("n", "w"), obj("w"), status({"a": 2}), status({"a": 1, "b": 1}), **told)
    underway.put(("n", "x"), obj("x"), NOTHING, status({"a": 2}), **told)
    underway.put(("n", "y"), obj("y"), status({"b": 2}), NOTHING, **told)
    for name, flavors in (("y", {}), ("w", {"a": 1, "b": 1}), ("x", {"a": 2})):
        found = underway.next(Urgency.REPORTS)
        assert found is not None
        assert (found[0].key[1], room_of(found[0].status)) == (name, room_of(status(flavors)))
        assert underway.next(Urgency.REPORTS) is None, "each waits for the one before"
        underway.written(*found)


def test_of_two_floors_that_change_places_one_holds_nothing_for_a_moment() -> None:
    """Each waits for the other, so one has to let go first. Half of it is not kept: whoever starts anew finds it not
    admitted, and decides anew."""
    underway = Underway()
    told: Any = {"urgency": Urgency.TELLS, "floors": {"main": 2}}
    underway.put(("n", "w"), obj("w"), status({"a": 2}), status({"a": 1, "b": 1}), **told)
    underway.put(("n", "x"), obj("x"), status({"b": 2}), status({"a": 1, "b": 1}), **told)
    names = []
    while (found := underway.next(Urgency.REPORTS)) is not None:
        names.append((found[0].key[1], sum(each.granted for each in found[0].status.pod_sets)))
        if names[-1] == ("x", 0):
            seen = seen_workload(structs.replace(workload(), status=found[0].status), Facts())
            assert seen.admitted_at is None
        underway.written(*found)
    assert names == [("x", 0), ("w", 2), ("x", 2)]


def moved(*moves: tuple[str, str]) -> list[tuple[str, dict[str, int]]]:
    """What is written, in order, where gangs of two pods each move one of them: each from a flavor to another."""
    underway, written = Underway(), []
    for number, (source, target) in enumerate(moves):
        name, after = f"w{number}", status({source: 1, target: 1})
        told: Any = {"urgency": Urgency.TELLS, "floors": {"main": 2}}
        underway.put(("n", name), obj(name), status({source: 2}), after, **told)
    while (found := underway.next(Urgency.REPORTS)) is not None:
        written.append((found[0].key[1], dict(found[0].status.pod_sets[0].flavors)))
        underway.written(*found)
    assert not len(underway)
    return written


def test_floors_that_move_at_once_and_need_nothing_of_each_other_are_whole_at_any_moment() -> None:
    """A node was lost, and several gangs went to another flavor in one plan. The first did so in one write; of the
    others it was written first that they hold nothing, and whoever killed the operator then cost them their pods."""
    assert moved(("a", "b"), ("a", "b"), ("a", "b")) == [(f"w{number}", {"a": 1, "b": 1}) for number in range(3)]


def test_of_floors_that_move_up_each_goes_where_the_one_before_has_gone_from() -> None:
    assert moved(("a", "b"), ("b", "c")) == [("w1", {"b": 1, "c": 1}), ("w0", {"a": 1, "b": 1})]


def test_of_floors_that_move_in_a_circle_one_holds_nothing_for_a_moment() -> None:
    written = moved(("a", "b"), ("b", "c"), ("c", "a"))
    assert [name for name, flavors in written if not flavors] == ["w2"]
    assert [name for name, flavors in written if flavors] == ["w1", "w0", "w2"]


def test_who_moves_and_grows_waits_for_everybody_who_moves_and_shrinks() -> None:
    """A Queue's limits count pods of all flavors: one more of a flavor may need one less of any other."""
    underway, sent = Underway(), []
    told: Any = {"urgency": Urgency.TELLS, "floors": {"main": 2}}
    underway.put(("n", "grows"), obj("grows"), status({"a": 2}), status({"a": 1, "b": 2}), **told)
    underway.put(("n", "shrinks"), obj("shrinks"), status({"c": 3}), status({"c": 1, "d": 1}), **told)
    while (found := underway.next(Urgency.REPORTS)) is not None:
        sent.append(found)
    assert [step.key[1] for step, _ in sent] == ["shrinks"]
    underway.written(*sent[0])
    assert underway.next(Urgency.REPORTS) is not None


def test_of_one_workload_only_one_is_sent_at_a_time_and_the_next_is_made_from_the_answer() -> None:
    underway, key = Underway(), ("n", "w")
    underway.put(key, obj("w"), NOTHING, status({"a": 1}), urgency=Urgency.TELLS)
    first = underway.next(Urgency.REPORTS)
    assert first is not None
    underway.put(key, obj("w", 9), NOTHING, status({"a": 2}), urgency=Urgency.TELLS)
    assert underway.next(Urgency.REPORTS) is None
    underway.written(first[0], obj("w", 2))
    second = underway.next(Urgency.REPORTS)
    assert second is not None
    assert second[1]["metadata"]["resourceVersion"] == "2", "not one that was heard of meanwhile"
    assert underway.assumed(key) == status({"a": 2})


def test_who_gives_way_is_written_before_whoever_was_put_first() -> None:
    """The give was put before the take of the same plan, and went out with it: for a moment both held the room."""
    underway = Underway()
    underway.put(("n", "a"), obj("a"), NOTHING, status({"a": 6}), urgency=Urgency.TELLS)
    underway.put(("n", "b"), obj("b"), status({"a": 6}), status({}), urgency=Urgency.TELLS)
    found = underway.next(Urgency.REPORTS)
    assert found is not None
    assert found[0].key == ("n", "b")
    assert underway.next(Urgency.REPORTS) is None
    underway.written(*found)
    found = underway.next(Urgency.REPORTS)
    assert found is not None
    assert found[0].key == ("n", "a")


def test_one_that_others_call_finished_holds_nothing_and_nobody_waits_for_the_rest_of_it() -> None:
    over = structs.replace(ADMITTED.conditions[0], type="Finished", status=ConditionStatus.TRUE)
    said = structs.replace(status({"a": 6}), conditions=(*ADMITTED.conditions, over))
    underway = Underway()
    underway.put(("n", "b"), obj("b"), said, structs.replace(said, pod_sets=()), urgency=Urgency.TELLS)
    underway.put(("n", "a"), obj("a"), NOTHING, status({"a": 6}), urgency=Urgency.TELLS)
    sent = [underway.next(Urgency.REPORTS) for _ in range(2)]
    assert [found[0].key[1] for found in sent if found is not None] == ["a", "b"], "and grants come first"


def test_trees_take_turns_and_who_waits_in_one_is_in_no_others_way() -> None:
    underway = Underway()

    def put(name: str, before: dict[str, int], after: dict[str, int], root: str) -> None:
        key = "n", name
        underway.put(key, obj(name), status(before), status(after), urgency=Urgency.TELLS, root=root)

    for name in ("u", "v"):
        put(name, {}, {"a": 1}, "left")
    put("w", {}, {"a": 1}, "right")
    put("loses", {"b": 1}, {}, "left")
    sent = [underway.next(Urgency.REPORTS) for _ in range(3)]
    assert [found[0].key[1] for found in sent if found is not None] == ["loses", "w"]
    assert sent[0] is not None
    underway.written(*sent[0])
    put("x", {}, {"a": 1}, "right")
    sent = [underway.next(Urgency.REPORTS) for _ in range(3)]
    assert [found[0].key[1] for found in sent if found is not None] == ["u", "x", "v"]


def test_when_trees_change_what_is_taken_in_one_is_waited_for_in_all() -> None:
    underway = Underway()
    underway.put(("n", "b"), obj("b"), status({"a": 6}), status({}), urgency=Urgency.TELLS, root="left")
    found = underway.next(Urgency.REPORTS)
    underway.replant()
    underway.put(("n", "a"), obj("a"), NOTHING, status({"a": 6}), urgency=Urgency.TELLS, root="right")
    assert found is not None
    assert underway.next(Urgency.REPORTS) is None
    underway.written(*found)
    assert underway.next(Urgency.REPORTS) is not None


def test_what_ended_is_written_before_its_room_is_given() -> None:
    """Two pods had ended, of which the status did not tell yet: whoever read it took the Job for one that starts two
    more, and their room was another's already."""
    ended = structs.replace(status({"a": 1}), reclaimed_pod_set_pods=(ReclaimedPods(name="main", count=2),))
    underway = Underway()
    underway.put(("n", "a"), obj("a"), NOTHING, status({"a": 2}), urgency=Urgency.TELLS)
    underway.put(("n", "b"), obj("b"), status({"a": 1}), ended, urgency=Urgency.TELLS)
    found = underway.next(Urgency.REPORTS)
    assert found is not None
    assert found[0].key == ("n", "b")
    assert underway.next(Urgency.REPORTS) is None


def test_one_of_which_pods_ended_is_admitted_again_in_one_write() -> None:
    pods = (ReclaimedPods(name="main", count=2),)
    evicted, back = (structs.replace(status(each), reclaimed_pod_set_pods=pods) for each in ({}, {"a": 1}))
    underway = Underway()
    underway.put(("n", "a"), obj("a"), evicted, back, urgency=Urgency.TELLS)
    found = underway.next(Urgency.REPORTS)
    assert found is not None
    assert (found[0].status, found[0].urgency) == (back, Urgency.GIVES)


def test_who_is_admitted_while_pods_of_it_end_is_not_before_its_floor_is_written() -> None:
    """Seed 4: that a pod had ended was written first, as taken, with the word Admitted and no pods; then something else
    failed, and what was to follow was forgotten. It was called admitted without its floor, and grew from nothing."""
    ended = (ReclaimedPods(name="main", count=1),)
    back = structs.replace(status({"a": 2}), reclaimed_pod_set_pods=ended)
    underway = Underway()
    underway.put(("n", "a"), obj("a"), NOTHING, back, urgency=Urgency.TELLS)
    first = underway.next(Urgency.REPORTS)
    assert first is not None
    assert first[0].status == structs.replace(NOTHING, reclaimed_pod_set_pods=ended)
    underway.written(first[0], obj("a", 2))
    second = underway.next(Urgency.REPORTS)
    assert second is not None
    assert second[0].status == back


def test_whoever_is_held_back_is_sent_when_it_is_let_go() -> None:
    underway, key = Underway(), ("n", "w")
    underway.hold_back(key)
    underway.put(key, obj("w"), NOTHING, status({"a": 1}), urgency=Urgency.TELLS)
    assert underway.next(Urgency.REPORTS) is None
    underway.let_go(key)
    assert underway.next(Urgency.REPORTS) is not None


def test_words_that_were_not_sent_are_forgotten_and_grants_are_not() -> None:
    underway, key = Underway(), ("n", "w")
    underway.put(key, obj("w"), status({"a": 1}), status({"a": 1}, running=1), urgency=Urgency.REPORTS)
    underway.forget_words(key)
    assert key not in underway
    assert underway.next(Urgency.REPORTS) is None
    told = (Plan(),)
    underway.put(key, obj("w"), status({"a": 1}), status({"a": 2}), urgency=Urgency.TELLS, told=told)
    underway.forget_words(key)
    found = underway.next(Urgency.REPORTS)
    assert found is not None
    assert found[0].told == told
