"""A Workload's status is the only memory: what is written down and read back is what was decided."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tidegate.controller.seen.workloads import Facts, seen_workload
from tidegate.controller.told.workloads import News, status_of
from tidegate.model.codec import encode, read
from tidegate.model.jobs import Outcome
from tidegate.model.kinds.shape import Metadata
from tidegate.model.kinds.workload import PodSet, State, Workload, WorkloadSpec
from tidegate.model.resources import Resources
from tidegate.scheduler import Eviction
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.scheduler.outcome import backoff_seconds

CREATED, NOW = 1_800_000_000, 1_800_001_000
FLAVORS = ("default", "a100")


def counts(most: int) -> st.SearchStrategy[dict[str, int]]:
    """Pods by flavor, so many at most in all."""
    whole = st.dictionaries(st.sampled_from(FLAVORS), st.integers(1, max(1, most)), max_size=2)
    return whole.filter(lambda some: sum(some.values()) <= most)


@st.composite
def pod_sets(draw: st.DrawFn, name: str) -> PodSet:
    count = draw(st.integers(1, 6))
    floor = draw(st.none() | st.integers(0, count))
    return PodSet(name=name, count=count, min_count=floor, requests=Resources.parse({"cpu": 1}))


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    names = draw(st.sampled_from([("main",), ("driver", "executor")]))
    at = datetime.fromtimestamp(CREATED, UTC)
    return Workload(
        metadata=Metadata(name="w", namespace="a", creation_timestamp=at, generation=draw(st.integers(1, 3))),
        spec=WorkloadSpec(pod_sets=tuple(draw(pod_sets(name)) for name in names), priority=draw(st.integers(-1, 1))),
    )


@st.composite
def decided(draw: st.DrawFn, workload: Workload) -> SeenWorkload:
    """A Workload with anything a planner may have decided of it."""
    seen = seen_workload(workload, Facts())
    sets = []
    for one in seen.pod_sets:
        ended = draw(st.integers(0, one.count))
        granted = draw(counts(one.count - ended))
        held = {flavor: draw(st.integers(1, count)) for flavor, count in granted.items() if draw(st.booleans())}
        sets.append(replace(one, ended=ended, granted=granted, held=held))
    evictions = draw(st.integers(0, 3))
    evicted_at = NOW - draw(st.integers(0, 500))
    seen = replace(
        seen,
        evictions=evictions,
        requeue_at=evicted_at + backoff_seconds(evictions - 1) if evictions else None,
        waiting_since=evicted_at if evictions else None,
    )
    # Nobody is admitted without anything of a floor: that is read as not admitted.
    if (any(one.granted for one in sets) or not any(one.least for one in sets)) and draw(st.booleans()):
        return replace(seen, pod_sets=tuple(sets), admitted_at=NOW)
    kept = tuple(replace(one, granted={}, held={}) for one in sets)
    return replace(seen, pod_sets=kept, admitted_at=None)


def kept(workload: Workload, seen: SeenWorkload, news: News = News()) -> Workload:  # noqa: B008 - frozen
    """The Workload as an API server has it after the decision was written."""
    status = status_of(workload, seen, news, NOW)
    manifest = encode(Workload(metadata=workload.metadata, spec=workload.spec, status=status))
    manifest["metadata"] |= {"creationTimestamp": "2027-01-15T08:00:00Z"}
    return read(Workload, manifest)


@given(st.data())
def test_what_was_decided_is_what_is_seen_after_a_restart(data: st.DataObject) -> None:
    workload = data.draw(workloads())
    seen = data.draw(decided(workload))
    assert seen_workload(kept(workload, seen), Facts()) == seen


@given(st.data())
def test_what_is_written_twice_is_the_same(data: st.DataObject) -> None:
    workload = data.draw(workloads())
    seen = data.draw(decided(workload))
    once = kept(workload, seen)
    assert kept(once, seen).status == once.status


@given(st.data())
def test_what_has_finished_holds_nothing_for_ever(data: st.DataObject) -> None:
    workload = data.draw(workloads())
    running = kept(workload, data.draw(decided(workload)))
    over = seen_workload(running, Facts(outcome=Outcome.SUCCEEDED))
    ended = kept(running, over, News(outcome=Outcome.SUCCEEDED))
    assert ended.status.state is State.FINISHED
    again: Any = seen_workload(ended, Facts())
    assert not again.active
    assert again.admitted_at is None
    assert not any(one.granted or one.held for one in again.pod_sets)


@given(st.data())
def test_an_evicted_workload_is_so_until_it_is_admitted_again(data: st.DataObject) -> None:
    workload = data.draw(workloads())
    seen = replace(data.draw(decided(workload)), admitted_at=NOW - 5)
    gone = tuple(replace(one, granted={}, held={}) for one in seen.pod_sets)
    count = seen.evictions + 1
    at = NOW + backoff_seconds(seen.evictions)
    evicted = replace(
        seen, pod_sets=gone, admitted_at=None, evictions=count, requeue_at=at, waiting_since=NOW
    )  # fmt: skip
    news = News(eviction=Eviction(workload=seen.name, pods={}, causes=(), requeue_at=at))
    after = kept(kept(workload, seen), evicted, news)
    assert after.status.state is State.EVICTED
    assert seen_workload(after, Facts()) == evicted
    back = kept(after, replace(seen, evictions=count, requeue_at=at, waiting_since=NOW, admitted_at=NOW + 9))
    assert back.status.state is State.ADMITTED
    flags = {each.type: str(each.status) for each in back.status.conditions}
    assert flags["Evicted"] == "False"


@given(st.data())
def test_what_has_ended_holds_nothing_though_the_planner_has_not_heard_of_it(data: st.DataObject) -> None:
    """It was said to be finished with its grant, and to hold nothing a moment later, when others had that already."""
    workload = data.draw(workloads())
    seen = data.draw(decided(workload))
    status = status_of(workload, seen, News(outcome=Outcome.FAILED), NOW)
    assert status.state is State.FINISHED
    assert not any(each.granted or each.flavors or each.held for each in status.pod_sets)
    assert not any(each.type == "Admitted" and each.status == "True" for each in status.conditions)
