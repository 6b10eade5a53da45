"""The laws of the work queue."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.harness.cluster import PATIENCE_S
from tidegate.kube.workqueue import WorkQueue


@asynccontextmanager
async def working(
    queue: WorkQueue[str], handle: Callable[[str], Awaitable[float | None]], workers: int = 1
) -> AsyncIterator[None]:
    task = asyncio.create_task(queue.run(handle, workers=workers))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_key_is_in_line_at_most_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    handled: list[str] = []
    done = asyncio.Event()

    async def handle(key: str) -> None:
        handled.append(key)
        if key == "last":
            done.set()

    for key in ("a", "b", "a", "a", "last"):
        queue.add(key)
    assert len(queue) == 3
    async with working(queue, handle):
        await asyncio.wait_for(done.wait(), PATIENCE_S)
    assert handled == ["a", "b", "last"]


async def test_a_key_added_while_in_hand_is_handled_again_but_never_twice_at_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    started, go, again = asyncio.Event(), asyncio.Event(), asyncio.Event()
    busy = 0
    count = 0

    async def handle(key: str) -> None:
        nonlocal busy, count
        busy += 1
        count += 1
        assert busy == 1
        (again if count == 2 else started).set()
        await go.wait()
        busy -= 1

    queue.add("a")
    async with working(queue, handle, workers=4):
        await asyncio.wait_for(started.wait(), PATIENCE_S)
        queue.add("a")
        queue.add("a")
        assert len(queue) == 0
        go.set()
        await asyncio.wait_for(again.wait(), PATIENCE_S)
    assert count == 2


async def test_a_failure_is_retried_ever_later_and_forgotten_after_a_success(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue: WorkQueue[str] = WorkQueue(base_s=0.02, most_s=0.15)
    loop = asyncio.get_running_loop()
    times: list[float] = []
    done = asyncio.Event()

    async def handle(key: str) -> float | None:
        times.append(loop.time())
        if len(times) in (5, 7):
            if len(times) == 7:
                done.set()
            else:
                return 0.001
            return None
        raise ValueError("not yet")

    queue.add("a")
    async with working(queue, handle):
        await asyncio.wait_for(done.wait(), PATIENCE_S)
    gaps = [later - sooner for sooner, later in pairwise(times)]
    assert all(gap >= least for gap, least in zip(gaps, (0.02, 0.04, 0.08, 0.15, 0.0, 0.02), strict=True))
    assert gaps[5] < 0.15  # after the success it began at the shortest delay again
    assert "ValueError: not yet" in caplog.text


async def test_a_returned_number_asks_for_another_look() -> None:
    queue: WorkQueue[str] = WorkQueue()
    times: list[float] = []
    done = asyncio.Event()

    async def handle(key: str) -> float | None:
        times.append(asyncio.get_running_loop().time())
        if len(times) == 1:
            return 0.05
        done.set()
        return None

    queue.add("a")
    async with working(queue, handle):
        await asyncio.wait_for(done.wait(), PATIENCE_S)
    assert times[1] - times[0] >= 0.05


async def test_of_several_delays_the_shortest_counts() -> None:
    queue: WorkQueue[str] = WorkQueue()
    handled: list[str] = []
    done = asyncio.Event()

    async def handle(key: str) -> None:
        handled.append(key)
        done.set()

    for delay_s in (30.0, 0.01, 60.0):
        queue.add_after("a", delay_s)
    async with working(queue, handle):
        await asyncio.wait_for(done.wait(), PATIENCE_S)
        await asyncio.sleep(0.02)
    assert handled == ["a"]


async def test_a_key_in_hand_when_the_queue_stops_is_first_for_the_next_run() -> None:
    queue: WorkQueue[str] = WorkQueue()
    started = asyncio.Event()

    async def hang(key: str) -> None:
        started.set()
        await asyncio.sleep(3600)

    queue.add("a")
    async with working(queue, hang):
        await asyncio.wait_for(started.wait(), PATIENCE_S)
    assert len(queue) == 1


@settings(max_examples=40, deadline=None)
@given(adds=st.lists(st.sampled_from("abcd"), max_size=30), workers=st.integers(1, 4), failing=st.booleans())
def test_every_add_is_followed_by_a_full_handling(adds: list[str], workers: int, failing: bool) -> None:
    """No wish is lost: after the last `add` of a key, a handling of it begins and comes to its end."""

    async def story() -> None:
        queue: WorkQueue[str] = WorkQueue(base_s=0.0001, most_s=0.001)
        pending: Counter[str] = Counter()
        busy: set[str] = set()
        empty = asyncio.Event()

        async def handle(key: str) -> None:
            assert key not in busy
            busy.add(key)
            wishes = pending[key]
            await asyncio.sleep(0)
            busy.discard(key)
            if failing and wishes % 2:
                pending[key] += 1
                raise OSError("once more")
            pending[key] -= wishes
            if not pending.total():
                empty.set()

        async with working(queue, handle, workers):
            for key in adds:
                pending[key] += 1
                queue.add(key)
                await asyncio.sleep(0)
            if adds:
                await asyncio.wait_for(empty.wait(), PATIENCE_S)

    asyncio.run(story())
