"""The laws of a pod's life, for any pod and any story of its processes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.local.agent.pod.decide import decide, is_sidecar
from tidegate.local.agent.pod.facts import Attempt, BackOff, Decision, Facts, Health, Obstacle, Start
from tidegate.local.agent.pod.status import stamp

NOW = 1_800_000_000.0


def pod_of(mains: int = 1, *, inits: tuple[bool, ...] = (), policy: str = "Always", **more: Any) -> dict[str, Any]:
    """A pod with so many containers; `inits` says of each init container whether it is a sidecar."""
    spec = {
        "restartPolicy": policy,
        "containers": [{"name": f"m{n}", "image": "host"} for n in range(mains)],
        "initContainers": [
            {"name": f"i{n}", "image": "host", **({"restartPolicy": "Always"} if sidecar else {})}
            for n, sidecar in enumerate(inits)
        ],
    }
    meta = {"name": "p", "namespace": "n", "uid": "u", **more.pop("metadata", {})}
    return {"metadata": meta, "spec": spec | more, "status": {"startTime": stamp(NOW)}}


class World:
    """A machine that does what is decided, with processes that end when and how the test says."""

    def __init__(self, pod: dict[str, Any]) -> None:
        self.pod = pod
        self.now = NOW
        self.attempts: dict[str, tuple[Attempt, ...]] = {}
        self.starts: list[Start] = []

    def step(self) -> Decision:
        """Decides and obeys until nothing more is to be done at this moment."""
        for _ in range(50):
            decision = decide(self.pod, Facts(attempts=self.attempts), now=self.now)
            for start in decision.start:
                before = self.attempts.get(start.container, ())
                assert start.attempt == len(before), "an attempt is numbered by those before it"
                assert not (before and before[-1].alive), "a running container is never started again"
                run = Attempt(start.attempt, "running", self.now, self.now, step=start.step)
                self.attempts[start.container] = (*before, run)
                self.starts.append(start)
            for stop in decision.stop:
                self.end(stop.container, 143)
            self.pod = {**self.pod, "status": decision.status}
            if not decision.start and not decision.stop:
                return decision
        raise AssertionError("the pod never comes to rest")

    def end(self, name: str, code: int) -> None:
        *before, last = self.attempts[name]
        self.attempts[name] = (*before, replace(last, state="exited", finished=self.now, code=code))

    def running(self) -> list[str]:
        return [name for name, attempts in self.attempts.items() if attempts[-1].alive]


stories = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 2), st.sampled_from([0.0, 1.0, 15.0, 700.0])), max_size=12
)
pods = st.builds(
    pod_of,
    st.integers(1, 3),
    inits=st.lists(st.booleans(), max_size=3).map(tuple),
    policy=st.sampled_from(["Always", "OnFailure", "Never"]),
)


def told(pod: dict[str, Any], story: list[tuple[int, int, float]]) -> World:
    world = World(pod)
    world.step()
    for which, code, later_s in story:
        if running := sorted(world.running()):
            world.end(running[which % len(running)], code)
        world.now += later_s
        world.step()
    return world


@settings(deadline=None, max_examples=100)
@given(pods, stories)
def test_deciding_again_changes_nothing(pod: dict[str, Any], story: list[tuple[int, int, float]]) -> None:
    """A pod at rest stays at rest, and its status stays the same."""
    world = told(pod, story)
    once = decide(world.pod, Facts(attempts=world.attempts), now=world.now)
    again = decide({**world.pod, "status": once.status}, Facts(attempts=world.attempts), now=world.now)
    assert (once.status, once.start) == (again.status, again.start)


@settings(deadline=None, max_examples=100)
@given(pods, stories)
def test_init_containers_come_one_after_the_other_and_before_all_others(
    pod: dict[str, Any], story: list[tuple[int, int, float]]
) -> None:
    """Nothing starts before every init container in front of it has succeeded, or runs as a sidecar."""
    world = told(pod, story)
    order = [each["name"] for each in (*pod["spec"]["initContainers"], *pod["spec"]["containers"])]
    first = {}
    for at, start in enumerate(world.starts):
        first.setdefault(start.container, at)
    ranks = [order.index(name) for name in first if name.startswith("i")]
    assert ranks == sorted(ranks)
    if any(name.startswith("m") for name in first):
        for init in pod["spec"]["initContainers"]:
            assert init["name"] in first
            if not is_sidecar(init):
                assert world.attempts[init["name"]][-1].succeeded


@settings(deadline=None, max_examples=100)
@given(pods, stories)
def test_a_pod_that_has_ended_stays_so(pod: dict[str, Any], story: list[tuple[int, int, float]]) -> None:
    """The phase of an ended pod never changes, and nothing runs any more."""
    world = World(pod)
    world.step()
    ended = ""
    for which, code, later_s in story:
        if running := sorted(world.running()):
            world.end(running[which % len(running)], code)
        world.now += later_s
        decision = world.step()
        if ended:
            assert decision.status["phase"] == ended
        if decision.over:
            ended = decision.status["phase"]
            assert world.running() == []


@settings(deadline=None, max_examples=100)
@given(pods, stories)
def test_a_pod_succeeds_only_if_all_its_containers_did(
    pod: dict[str, Any], story: list[tuple[int, int, float]]
) -> None:
    """And one that must never restart has no second attempt."""
    world = told(pod, story)
    lasts = [world.attempts.get(each["name"], (None,))[-1] for each in pod["spec"]["containers"]]
    if world.pod["status"]["phase"] == "Succeeded":
        assert all(last is not None and last.succeeded for last in lasts)
    if pod["spec"]["restartPolicy"] == "Never":
        sidecars = {each["name"] for each in pod["spec"]["initContainers"] if is_sidecar(each)}
        assert all(len(runs) == 1 for name, runs in world.attempts.items() if name not in sidecars)


@settings(deadline=None, max_examples=100)
@given(pods, stories, st.integers(0, 30))
def test_a_deleted_pod_ends_and_starts_nothing(
    pod: dict[str, Any], story: list[tuple[int, int, float]], grace_s: int
) -> None:
    """Whatever it was doing; sidecars are stopped only after the containers."""
    world = told(pod, story)
    world.pod["metadata"] = world.pod["metadata"] | {
        "deletionTimestamp": stamp(world.now + grace_s),
        "deletionGracePeriodSeconds": grace_s,
    }
    decision = decide(world.pod, Facts(attempts=world.attempts), now=world.now)
    assert decision.start == ()
    assert all(stop.grace_s <= grace_s for stop in decision.stop)
    sidecars = {each["name"] for each in pod["spec"]["initContainers"] if is_sidecar(each)}
    stopped = {stop.container for stop in decision.stop}
    assert not (stopped & sidecars and stopped - sidecars)
    final = world.step()
    assert final.over
    assert final.status["phase"] in ("Succeeded", "Failed")


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from([0.0, 1.0, 700.0]), min_size=1, max_size=30))
def test_back_off_doubles_up_to_a_limit_and_is_forgiven_by_a_long_run(runs: list[float]) -> None:
    """The first restart is immediate, the next waits ten seconds, then twice as long each, at most five minutes."""
    back_off = BackOff()
    step, in_a_row = 0, 0
    for ran_s in runs:
        attempt = Attempt(0, "exited", NOW, NOW, NOW + ran_s, code=1, step=step)
        in_a_row = 1 if ran_s >= 600 else in_a_row + 1
        assert back_off.delay_s(attempt) == (0 if in_a_row == 1 else min(300, 10 * 2 ** (in_a_row - 2)))
        step = back_off.step_after(attempt)


def test_a_crashing_container_waits_and_says_so() -> None:
    """The status of a container in back-off is what kubectl shows as CrashLoopBackOff."""
    attempts = (
        Attempt(0, "exited", NOW - 3, NOW - 3, NOW - 2, 1),
        Attempt(1, "exited", NOW - 1, NOW - 1, NOW, 1, step=1),
    )
    decision = decide(pod_of(), Facts(attempts={"m0": attempts}), now=NOW + 1)
    status = decision.status["containerStatuses"][0]
    assert decision.wake_at == NOW + 10
    assert status["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert "back-off 10s restarting failed container=m0 pod=p_n(u)" in status["state"]["waiting"]["message"]
    assert status["lastState"]["terminated"]["exitCode"] == 1
    assert decision.status["phase"] == "Running"


def test_a_lost_container_is_told_as_unknown() -> None:
    """Exit code 137 and a reason that claims nothing."""
    attempts = {"m0": (Attempt(0, "lost", NOW - 5, NOW - 5),)}
    decision = decide(pod_of(policy="Never"), Facts(attempts=attempts), now=NOW)
    told_of = decision.status["containerStatuses"][0]["state"]["terminated"]
    assert (told_of["reason"], told_of["exitCode"]) == ("ContainerStatusUnknown", 137)
    assert (decision.over, decision.status["phase"]) == (True, "Failed")


def test_an_obstacle_keeps_the_pod_pending_with_its_words() -> None:
    """A missing configMap is a reason to wait, not to fail."""
    facts = Facts(obstacle=Obstacle("ContainerCreating", 'configmap "c" not found'))
    decision = decide(pod_of(), facts, now=NOW)
    assert decision.start == ()
    assert decision.status["phase"] == "Pending"
    assert decision.status["containerStatuses"][0]["state"]["waiting"]["message"] == 'configmap "c" not found'


def test_the_deadline_ends_a_pod_for_good() -> None:
    """It is stopped, then Failed with its reason; and it is looked at in time."""
    pod = pod_of(activeDeadlineSeconds=10)
    running = Facts(attempts={"m0": (Attempt(0, "running", NOW, NOW),)})
    assert decide(pod, running, now=NOW + 1).wake_at == NOW + 10
    late = decide(pod, running, now=NOW + 10)
    assert [stop.container for stop in late.stop] == ["m0"]
    assert late.status["phase"] == "Running"
    ended = Facts(attempts={"m0": (Attempt(0, "exited", NOW, NOW, NOW + 11, 0),)})
    over = decide(pod, ended, now=NOW + 11)
    assert (over.status["phase"], over.status["reason"]) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize(
    ("health", "ready", "stopped"),
    [
        (Health(), True, []),
        (Health(ready=False), False, []),
        (Health(started=False), False, []),
        (Health(failure="Liveness probe failed: no", grace_s=3), True, ["m0"]),
    ],
)
def test_probes_make_a_container_ready_or_end_it(health: Health, ready: bool, stopped: list[str]) -> None:
    facts = Facts(attempts={"m0": (Attempt(0, "running", NOW, NOW),)}, health={"m0": health})
    decision = decide(pod_of(), facts, now=NOW)
    conditions = {each["type"]: each["status"] for each in decision.status["conditions"]}
    assert decision.status["containerStatuses"][0]["ready"] is ready
    assert conditions["Ready"] == ("True" if ready else "False")
    assert [stop.container for stop in decision.stop] == stopped


def test_conditions_keep_their_time_until_they_change() -> None:
    """A status that says the same later still says since when."""
    facts = Facts(attempts={"m0": (Attempt(0, "running", NOW, NOW),)})
    first = decide(pod_of(), facts, now=NOW)
    later = decide({**pod_of(), "status": first.status}, facts, now=NOW + 100)
    assert later.status == first.status
