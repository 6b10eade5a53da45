"""What a leader writes is sent while it leads, and takes effect before another does, or never."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from functools import partial

import pytest

from tests.kube.faultserver import FaultServer, running
from tests.kube.test_leases import LeaseServer, candidate, in_virtual_time
from tidegate.kube.client import Client
from tidegate.kube.leases import LeaderElection, Terms
from tidegate.kube.led import LedWire
from tidegate.kube.resources import LEASES
from tidegate.kube.wire import Request, Response

OTHER = {"metadata": {"name": "other", "namespace": "default", "resourceVersion": "1"}, "spec": {}}


@dataclass
class Hanging(LeaseServer):
    """Keeps the lease, and never answers anything else."""

    asked: list[Request] = field(default_factory=list)
    hangs: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, request: Request) -> Response:
        if request.path.endswith("/lock") or request.method == "POST":
            return await super().send(request)
        self.asked.append(request)
        self.hangs.set()
        await asyncio.sleep(3600)
        raise AssertionError


@in_virtual_time
async def test_the_server_is_told_by_when_to_give_a_write_up() -> None:
    """A write hung in the server until after the lease had run out. Who led by then had given its room to another."""
    server = Hanging()
    one = candidate(server, "one", terms=Terms(duration_s=15, renew_within_s=10, retry_s=2))
    client = Client(server).over(partial(LedWire, election=one.election))
    leading = asyncio.create_task(one.election.run(one.lead))
    await asyncio.wait_for(one.leads.wait(), 5)
    writing = asyncio.create_task(client.update(LEASES, OTHER))
    await asyncio.wait_for(server.hangs.wait(), 5)
    (sent,) = server.asked
    assert sent.query["timeout"] == "4000ms", "less than the five seconds between its lease and another's"
    assert sent.still is not None
    assert sent.still()
    for task in (writing, leading):
        task.cancel()
    await asyncio.gather(writing, leading, return_exceptions=True)


@in_virtual_time
async def test_a_lease_is_kept_while_a_write_without_an_answer_may_take_effect() -> None:
    """Told to end, an operator cut off what it was writing and gave its lease back at once: the next one led before
    that write had arrived."""
    server = Hanging()
    one = candidate(server, "one", terms=Terms(duration_s=2, renew_within_s=1.5, retry_s=0.05))
    client = Client(server).over(partial(LedWire, election=one.election))

    async def lead() -> None:
        await client.update(LEASES, OTHER)

    leading = asyncio.create_task(one.election.run(lead))
    await asyncio.wait_for(server.hangs.wait(), 5)
    ended = asyncio.get_running_loop().time()
    leading.cancel()
    await asyncio.gather(leading, return_exceptions=True)
    assert asyncio.get_running_loop().time() - ended >= one.election.terms.answer_within_s
    assert server.writes[-1]["holderIdentity"] == "", "and is given back after that"


async def test_what_may_not_be_sent_any_more_when_its_connection_is_there_is_not() -> None:
    """On a busy machine making a connection took longer than the lease was good: what was made while it was good was
    sent all the same, when another led."""
    server, may, path = FaultServer(), True, "/api/v1/namespaces/default/configmaps/a"
    server.canned["PUT", path] = (200, {})
    request = Request("PUT", path, {}, {"content-type": "application/json"}, b"{}", still=lambda: may)
    async with running(server) as transport:
        assert (await transport.send(request)).status == 200
        may = False
        with pytest.raises(ConnectionError):
            await transport.send(request)
        may = True
        assert (await transport.send(request)).status == 200
    assert [(call.method, call.body) for call in server.calls] == [("PUT", b"{}")] * 2


class Losing(LeaderElection):
    """Has the lease when a write is made, and no longer when it is sent."""

    asked = 0

    @property
    def is_leader(self) -> bool:
        self.asked += 1
        return self.asked == 1


@pytest.mark.parametrize("body", [b"", b'{"kind":"DeleteOptions","apiVersion":"v1"}'])
async def test_a_deletion_is_held_back_like_every_write(body: bytes) -> None:
    """Only a body can be held back when it is to be sent, and a deletion needs none: one that had none was sent after
    the lease had run out."""
    server, path = FaultServer(), "/api/v1/namespaces/default/pods/a"
    server.canned["DELETE", path] = (200, {})
    request = Request("DELETE", path, {}, {}, body)
    async with running(server) as transport:
        lost = Losing(Client(transport), "lock", "default", "one")
        with pytest.raises(ConnectionError):
            await LedWire(transport, lost).send(request)
        assert lost.asked > 1, "when it was made, and whenever it was to be sent"
        assert server.calls == []
        one = candidate(LeaseServer(), "one", terms=Terms())
        leading = asyncio.create_task(one.election.run(one.lead))
        await asyncio.wait_for(one.leads.wait(), 5)
        assert (await LedWire(transport, one.election).send(request)).status == 200
        leading.cancel()
        await asyncio.gather(leading, return_exceptions=True)
    (sent,) = server.calls
    assert json.loads(sent.body) == {"kind": "DeleteOptions", "apiVersion": "v1"}
    assert sent.query["timeout"] == f"{one.election.terms.answer_within_s * 1000:.0f}ms"
