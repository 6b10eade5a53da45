"""One leads at a time, whatever the clocks say; in virtual time, so that no busy machine takes a lease away."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any

import msgspec
import pytest

from tidegate.kube.client import Client
from tidegate.kube.leases import LeaderElection, LeadershipLost, Terms
from tidegate.kube.led import LedWire
from tidegate.kube.resources import LEASES
from tidegate.kube.wire import Request, Response
from tidegate.sim.faults.loop import run

QUICK = Terms(duration_s=1, renew_within_s=0.6, retry_s=0.05)


def in_virtual_time(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Where a second is over when nobody has anything to do before."""

    @wraps(test)
    def played() -> None:
        run(lambda loop: test())

    return played


@dataclass
class LeaseServer:
    """Keeps one Lease as an API server does: a stale write is a conflict."""

    lease: dict[str, Any] | None = None
    away: bool = False
    writes: list[dict[str, Any]] = field(default_factory=list)

    async def send(self, request: Request) -> Response:
        await asyncio.sleep(0)
        if self.away:
            raise ConnectionRefusedError("away")
        if request.method == "GET":
            return _answer(200, self.lease) if self.lease else _refuse(404, "NotFound")
        body = msgspec.json.decode(request.body)
        if request.method == "POST" and self.lease is not None:
            return _refuse(409, "AlreadyExists")
        before = (self.lease or {}).get("metadata", {}).get("resourceVersion", "0")
        if request.method == "PUT" and body["metadata"]["resourceVersion"] != before:
            return _refuse(409, "Conflict")
        body["metadata"]["resourceVersion"] = str(int(before) + 1)
        self.lease = body
        self.writes.append(body["spec"])
        return _answer(200, body)

    async def close(self) -> None:
        pass


def _answer(status: int, body: Any) -> Response:
    return Response(status, json.dumps(body).encode())


def _refuse(status: int, reason: str) -> Response:
    return _answer(status, {"kind": "Status", "code": status, "reason": reason, "message": reason})


@dataclass
class Candidate:
    election: LeaderElection
    leads: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def lead(self) -> None:
        self.leads.set()
        try:
            await asyncio.sleep(3600)
        finally:
            self.stopped.set()


def candidate(server: LeaseServer, name: str, **options: Any) -> Candidate:
    usual = {"terms": QUICK, "clock": asyncio.get_running_loop().time}
    return Candidate(LeaderElection(Client(server), "lock", "default", name, **{**usual, **options}))


@asynccontextmanager
async def standing(*candidates: Candidate) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(one.election.run(one.lead)) for one in candidates]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@in_virtual_time
async def test_one_of_many_leads_and_the_next_follows_at_once_after_a_clean_stop() -> None:
    server = LeaseServer()
    first, second = candidate(server, "one"), candidate(server, "two")
    async with standing(first) as [task]:
        await asyncio.wait_for(first.leads.wait(), 5)
        async with standing(second):
            await asyncio.sleep(0.3)
            assert not second.leads.is_set()
            assert second.election.leader == "one"
            assert first.election.is_leader
            task.cancel()
            await asyncio.wait_for(second.leads.wait(), 0.5)  # without a release it would take a whole second
            assert first.stopped.is_set()
    assert [spec["holderIdentity"] for spec in server.writes if spec["holderIdentity"] != "two"][-1] == ""


@in_virtual_time
async def test_a_leader_that_cannot_renew_stops_before_another_begins() -> None:
    server = LeaseServer()
    first, second = candidate(server, "one"), candidate(server, "two")
    async with standing(first) as [task]:
        await asyncio.wait_for(first.leads.wait(), 5)
        server.away = True
        with pytest.raises(LeadershipLost):
            await asyncio.wait_for(task, 5)
        assert first.stopped.is_set()
        assert not first.election.is_leader
        server.away = False
        async with standing(second):
            await asyncio.wait_for(second.leads.wait(), 5)


@in_virtual_time
async def test_who_lost_the_lease_waits_for_it_like_everybody() -> None:
    """On a busy machine a leader lost its lease and had it again a moment later, since it was in its own name. What it
    had sent before was still on its way: it came after everything had been read anew, and was granted once more."""
    server = LeaseServer()
    first, again = candidate(server, "one"), candidate(server, "one")
    async with standing(first) as [task]:
        await asyncio.wait_for(first.leads.wait(), 5)
        server.away = True
        with pytest.raises(LeadershipLost):
            await asyncio.wait_for(task, 5)
        server.away = False
        began = asyncio.get_running_loop().time()
        async with standing(again):
            await asyncio.wait_for(again.leads.wait(), 5)
        assert asyncio.get_running_loop().time() - began >= 1.0


@in_virtual_time
async def test_whoever_takes_a_lease_that_was_not_given_back_leaves_time_for_what_is_read_late() -> None:
    """A server counts from when it has read a write how long that may take, and a busy one had not read yet what was
    sent by a leader in its last moment: it was read, and took effect, when another had looked at everything."""
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 1, "leaseTransitions": 4}
    meta = {"name": "lock", "namespace": "default", "resourceVersion": "1"}
    server = LeaseServer({"metadata": meta, "spec": spec})
    one = candidate(server, "one")
    began = asyncio.get_running_loop().time()
    async with standing(one):
        await asyncio.wait_for(one.leads.wait(), 10)
    assert asyncio.get_running_loop().time() - began >= 1.0 + QUICK.answer_within_s


@dataclass
class BusyServer(LeaseServer):
    """While a renewal is under way, whoever sent it is busy for longer than it waits; the answer is there by then."""

    asked: list[str] = field(default_factory=list)
    renewed: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, request: Request) -> Response:
        self.asked.append(request.method)
        if request.method == "PUT":
            await asyncio.sleep(0)
            time.sleep(0.1)  # noqa: ASYNC251 - it is the loop that is to be held up
            for _ in range(5):  # As many turns as it takes to read an answer.
                await asyncio.sleep(0)
        answer = await super().send(request)
        if len(self.writes) > 3:
            self.renewed.set()
        return answer


async def test_an_answer_that_came_while_a_leader_was_busy_counts() -> None:
    """The twenty kills for real, on a busy machine: the answer to a renewal was there, and the leader was still reading
    everything anew as its time was up. It let go, began again, and read everything anew: for minutes nothing was done.
    And each renewal was two requests, of which a slow server answered one in time."""
    server = BusyServer()
    quick = Terms(duration_s=2, renew_within_s=0.05, retry_s=0.01)
    # By a clock that stands still nothing is ever lost, and what is renewed was answered.
    one = candidate(server, "one", terms=quick, clock=lambda: 1.0)
    async with standing(one):
        await asyncio.wait_for(server.renewed.wait(), 5)
    assert server.asked[:5] == ["GET", "POST", "PUT", "PUT", "PUT"]


@in_virtual_time
async def test_nothing_is_written_without_a_lease() -> None:
    """A process was held up for longer than its lease was good. Which of its tasks came first then was chance: it wrote
    what it had decided before it found out that another might lead by now."""
    server, now = LeaseServer(), 1.0
    one = candidate(server, "one", clock=lambda: now)
    client = Client(server).over(partial(LedWire, election=one.election))
    note = {"metadata": {"name": "other", "namespace": "default", "resourceVersion": "1"}, "spec": {}}
    with pytest.raises(ConnectionAbortedError):
        await client.update(LEASES, note)
    async with standing(one):
        await asyncio.wait_for(one.leads.wait(), 5)
        assert one.election.is_leader
        now += QUICK.renew_within_s
        with pytest.raises(ConnectionAbortedError):
            await client.update(LEASES, note)
        assert (await client.get(LEASES, "lock", "default"))["spec"]["holderIdentity"] == "one"


@in_virtual_time
async def test_a_silent_holder_is_waited_for_by_our_own_clock_not_by_its_times() -> None:
    """Its renewTime lies hours ahead or behind: only that it does not change counts."""
    for renewed in ("2001-01-01T00:00:00.000000Z", "2901-01-01T00:00:00.000000Z"):
        spec = {"holderIdentity": "other", "leaseDurationSeconds": 1, "renewTime": renewed, "leaseTransitions": 4}
        server = LeaseServer(
            {"metadata": {"name": "lock", "namespace": "default", "resourceVersion": "1"}, "spec": spec}
        )
        one = candidate(server, "one")
        began = asyncio.get_running_loop().time()
        async with standing(one):
            await asyncio.wait_for(one.leads.wait(), 5)
        assert asyncio.get_running_loop().time() - began >= 1.0
        assert server.writes[0]["leaseTransitions"] == 5


@in_virtual_time
async def test_a_holder_that_renews_keeps_the_lease_however_slow_its_clock() -> None:
    server = LeaseServer()
    first, second = candidate(server, "one"), candidate(server, "two")
    async with standing(first, second):
        await asyncio.sleep(1.5)
        assert first.leads.is_set() != second.leads.is_set()


@in_virtual_time
async def test_when_the_work_ends_the_lease_is_released() -> None:
    server = LeaseServer()
    election = candidate(server, "one").election

    async def lead() -> None:
        assert election.is_leader

    await asyncio.wait_for(election.run(lead), 5)
    assert server.writes[-1]["holderIdentity"] == ""


@dataclass
class SlowToAnswer(LeaseServer):
    """Takes a renewal, and is slow to say so."""

    renewed: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, request: Request) -> Response:
        answer = await super().send(request)
        if request.method == "PUT" and not self.renewed.is_set():
            self.renewed.set()
            await asyncio.sleep(3600)
        return answer


@in_virtual_time
async def test_a_lease_whose_renewal_was_cut_off_is_released_too() -> None:
    """The server had taken it, its answer was not waited for, and so the release was refused as out of date: whoever
    came next waited until the lease ran out."""
    server = SlowToAnswer()
    election = candidate(server, "one", terms=Terms(duration_s=15, renew_within_s=10, retry_s=0.05)).election
    await asyncio.wait_for(election.run(server.renewed.wait), 5)  # type: ignore[arg-type]
    assert server.writes[-1]["holderIdentity"] == ""


@in_virtual_time
async def test_an_error_of_the_work_is_raised_and_the_lease_released() -> None:
    server = LeaseServer()

    async def lead() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await candidate(server, "one").election.run(lead)
    assert server.writes[-1]["holderIdentity"] == ""


@in_virtual_time
async def test_a_lease_taken_by_force_ends_the_leading() -> None:
    server = LeaseServer()
    one = candidate(server, "one")
    async with standing(one) as [task]:
        await asyncio.wait_for(one.leads.wait(), 5)
        assert server.lease is not None
        server.lease["spec"]["holderIdentity"] = "usurper"
        server.lease["metadata"]["resourceVersion"] = "99"
        with pytest.raises(LeadershipLost):
            await asyncio.wait_for(task, 5)
    assert server.lease["spec"]["holderIdentity"] == "usurper"


def test_terms_that_would_let_two_lead_are_refused() -> None:
    with pytest.raises(ValueError, match="renew_within_s"):
        Terms(duration_s=5, renew_within_s=6)
