"""Planning does not wait for writing, and what is given waits for what is taken, and for nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.controller.bench import LONG_S, Bench, Play, quota
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
from tidegate.kube.wire import Object

WHEN = "2026-01-01T00:00:00Z"


def test_a_write_that_takes_long_is_in_nobodys_way(play: Play) -> None:
    """One slow answer of the server, and nobody was given anything until it had come."""

    async def story(bench: Bench) -> None:
        bench.wire.slow = {"slow", "left"}
        await bench.workload("slow", "left", count=1)
        await asyncio.sleep(5)
        for name, queue in (("same", "left"), ("other", "right")):
            await bench.workload(name, queue, count=1)
        await asyncio.sleep(5)
        assert [await bench.state(name) for name in ("slow", "same", "other")] == ["None", "Admitted", "Admitted"]
        await bench.workload("late", "left", count=1)
        await asyncio.sleep(5)
        assert await bench.state("late") != "Admitted", "what is on its way is taken"
        await asyncio.sleep(LONG_S)
        assert [await bench.state(name) for name in ("slow", "late")] == ["Admitted", "Pending"]

    play(story)


def test_who_is_given_room_waits_until_it_is_taken(play: Play) -> None:
    async def story(bench: Bench) -> None:
        await bench.workload("low", "left")
        await asyncio.sleep(5)
        assert await bench.state("low") == "Admitted"
        bench.wire.slow = {"low"}
        await bench.workload("high", "left", priority=9)
        await asyncio.sleep(LONG_S / 2)
        states: list[Any] = [await bench.state(name) for name in ("low", "high")]
        assert states[0] == "Admitted"
        assert states[1] != "Admitted", "killed now, somebody would hold what another has"
        await asyncio.sleep(LONG_S)
        assert [await bench.state(name) for name in ("low", "high")] == ["Evicted", "Admitted"]

    play(story)


def test_nobody_waits_for_what_is_taken_in_another_tree(play: Play) -> None:
    """One eviction took long to write, and until it was nobody anywhere was given anything."""

    async def story(bench: Bench) -> None:
        await bench.workload("low", "left")
        await asyncio.sleep(5)
        bench.wire.slow = {"low"}
        await bench.workload("high", "left", priority=9)
        await asyncio.sleep(3)
        await bench.workload("other", "right")
        await asyncio.sleep(3)
        assert [await bench.state(name) for name in ("low", "other")] == ["Admitted", "Admitted"]
        assert await bench.state("high") != "Admitted"

    play(story)


def test_reports_do_not_keep_whoever_is_given_something_waiting(play: Play) -> None:
    """Everybody who waited was told why before the next cycle began."""

    async def story(bench: Bench) -> None:
        names = [f"w{number}" for number in range(20)]
        bench.wire.slow = {*names, "left", "right"}
        for name in names:
            await bench.workload(name, "left", count=3)
        await asyncio.sleep(5)
        await bench.workload("fits", "left")
        await asyncio.sleep(5)
        assert await bench.state("fits") == "Admitted"

    play(story)


def test_a_report_that_hangs_delays_nobody_elses(play: Play) -> None:
    """The status of one queue took as long as its server let it, and until then nobody was told why he waits."""

    async def story(bench: Bench) -> None:
        bench.wire.slow = {"left", "slow"}
        await bench.workload("slow", "left", count=3)
        await asyncio.sleep(5)
        await bench.workload("big", "right", count=3)
        await asyncio.sleep(3)
        assert await bench.reason("big") == "ExceedsQuota"
        queue: Object = await bench.client.get(QUEUES, "right", "n")
        assert queue["status"]["pendingWorkloads"] == 1
        await bench.client.patch(CLUSTER_QUEUES, "right", {"spec": {"stop": "Hold"}})
        await asyncio.sleep(3)
        assert await bench.reason("big") == "QueueStopped"
        assert await bench.reason("slow") == ""
        await asyncio.sleep(2 * LONG_S)
        assert await bench.reason("slow") == "ExceedsQuota"
        queue = await bench.client.get(QUEUES, "left", "n")
        assert queue["status"]["pendingWorkloads"] == 1

    play(story)


def test_reports_that_hang_leave_room_for_others_while_many_are_given_something(play: Play) -> None:
    """One hung, and as long as four grants were under way at any moment no other was sent."""

    async def story(bench: Bench) -> None:
        await bench.client.patch(CLUSTER_QUEUES, "right", {"spec": {"quotas": quota(40)}})
        names = [f"given{number}" for number in range(8)]
        bench.wire.slow = {"hangs", *names}
        await bench.workload("hangs", "left", count=3)
        await asyncio.sleep(3)
        for name in names:
            await bench.workload(name, "right", count=1)
        await asyncio.sleep(1)
        await bench.workload("waits", "left", count=3)
        await asyncio.sleep(5)
        assert await bench.reason("waits") == "ExceedsQuota"

    play(story)


def test_what_fails_waits_for_nobody_and_nobody_waits_for_it(play: Play) -> None:
    """Somebody else's write came first, and nothing was planned until one that hung had ended too."""

    async def story(bench: Bench) -> None:
        bench.wire.slow, bench.wire.refused = {"hangs"}, {"meets": 409}
        for name, queue in (("hangs", "left"), ("meets", "right")):
            await bench.workload(name, queue, count=1)
        await asyncio.sleep(3)
        await bench.workload("new", "left", count=1)
        await bench.workload("then", "left", count=1)
        await asyncio.sleep(3)
        assert [await bench.state(name) for name in ("hangs", "meets", "new")] == ["None", "Admitted", "Admitted"]
        assert await bench.state("then") != "Admitted", "what is on its way is taken"

    play(story)


def test_a_status_that_is_refused_for_ever_is_tried_ever_more_rarely_and_is_in_nobodys_way(play: Play) -> None:
    """Somebody's policy refused one Workload's status: everything was forgotten, read and decided anew with every try,
    and tried at once."""

    async def story(bench: Bench) -> None:
        bench.wire.refused = {"poor": 403}
        bench.wire.lasting = True
        await bench.workload("poor", "left", count=1)
        await asyncio.sleep(5)
        await bench.workload("rich", "left", count=1)
        await asyncio.sleep(3)
        assert [await bench.state(name) for name in ("poor", "rich")] == ["None", "Admitted"]
        before = bench.wire.refusals
        await asyncio.sleep(600)
        assert 8 <= bench.wire.refusals - before <= 14
        bench.wire.refused = {}
        await asyncio.sleep(61)
        assert await bench.state("poor") == "Admitted"

    play(story)


def test_what_has_ended_is_said_so_while_everybody_is_given_something(play: Play) -> None:
    """Whatever gives was sent first, and there was always something: what had ended was called admitted for minutes."""

    async def story(bench: Bench) -> None:
        await bench.workload("over", "left", count=1)
        await asyncio.sleep(3)
        await bench.client.patch(CLUSTER_QUEUES, "right", {"spec": {"quotas": quota(1000)}})
        names = [f"given{number}" for number in range(100)]
        bench.wire.slow = set(names)
        for name in names:
            await bench.workload(name, "right", count=1)
        found: Object = await bench.client.get(WORKLOADS, "over", "n")
        ended = {"type": "Finished", "status": "True", "reason": "ByHand", "message": "", "lastTransitionTime": WHEN}
        said = {"status": {"conditions": [*found["status"]["conditions"], ended]}}
        await bench.client.patch(WORKLOADS, "over", said, "n", subresource="status")
        await asyncio.sleep(1.5 * LONG_S)
        assert await bench.state("given99") == "None", "some are not even sent yet"
        assert await bench.state("over") == "Finished"

    play(story)


def test_who_is_given_the_room_of_one_without_pods_starts_at_once(play: Play) -> None:
    """A Workload made by hand has no pods, so nobody told that they were gone: who it gave way to was granted its room,
    and held until something else happened (seeds 555 and 610 of the fault histories)."""

    async def story(bench: Bench) -> None:
        elastic = {"name": "main", "count": 2, "minCount": 1, "requests": {"cpu": "1"}}
        spec = {"queue": "left", "podSets": [elastic]}
        await bench.client.create(WORKLOADS, {"metadata": {"name": "gives-way", "namespace": "n"}, "spec": spec})
        await asyncio.sleep(5)
        await bench.workload("comes", "left", count=1)
        await asyncio.sleep(5)
        found = await bench.client.get(WORKLOADS, "comes", "n")
        (pods,) = found["status"]["podSets"]
        assert (pods["granted"], pods["held"]) == (1, {})

    play(story)
