"""What the server does not take is tried again ever more rarely, and whose it is is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.controller.bench import Bench, Play
from tidegate.kube.client import Client, StatusError
from tidegate.kube.patience import PatientWire, RefusedBeforeError
from tidegate.kube.resources import EVENTS, JOBS, PODS
from tidegate.kube.wire import Object, Request, Response

Json = Any


async def job(bench: Bench, name: str, *, count: int = 1) -> None:
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": "1"}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    meta = {"name": name, "namespace": "n", "labels": {"tidegate.dev/queue": "left"}}
    spec = {"suspend": True, "parallelism": count, "completions": count, "template": template}
    await bench.client.create(JOBS, {"metadata": meta, "spec": spec})


async def told(bench: Bench, reason: str) -> list[tuple[str, str, str]]:
    """Events with this reason: about what, of which type, and what they say."""
    found: list[Object] = (await bench.client.list(EVENTS, "n")).items
    return [
        (each["involvedObject"]["kind"], each["type"], each["message"]) for each in found if each["reason"] == reason
    ]


@pytest.mark.parametrize(("code", "remedy"), [(403, "change the policy"), (422, "mend the field that is named")])
def test_an_application_that_may_not_be_let_go_is_tried_ever_more_rarely_and_its_owner_is_told(
    play: Play, code: int, remedy: str
) -> None:
    """Somebody's policy kept a Job from being let go: it was tried every second for ever, and only the log told."""

    async def story(bench: Bench) -> None:
        bench.wire.part, bench.wire.refused, bench.wire.lasting = "", {"poor": code}, True
        await job(bench, "poor")
        await asyncio.sleep(10)
        assert await bench.state("job-poor") == "Admitted"
        for kind, type_, note in (found := await told(bench, "Refused")):
            assert type_ == "Warning"
            assert remedy in note
            assert note.endswith("The server says: not so")
            assert kind in ("Job", "Workload")
        assert len(found) == 2
        before = bench.wire.refusals
        await asyncio.sleep(600)
        assert 8 <= bench.wire.refusals - before <= 14
        bench.wire.refused = {}
        await asyncio.sleep(61)
        found_job: Object = await bench.client.get(JOBS, "poor", "n")
        assert found_job["spec"]["suspend"] is False

    play(story)


def test_whatever_happens_around_it_does_not_hurry_what_was_refused(play: Play) -> None:
    """With every word of its controller, a Job that may not be let go was tried again."""

    async def story(bench: Bench) -> None:
        bench.wire.part, bench.wire.refused, bench.wire.lasting = "", {"poor": 403}, True
        await job(bench, "poor")
        await asyncio.sleep(100)
        before = bench.wire.refusals
        for number in range(30):
            said = {"status": {"active": number, "ready": number}}
            await bench.client.patch(JOBS, "poor", said, "n", subresource="status")
            await asyncio.sleep(2)
        assert bench.wire.refusals - before <= 2

    play(story)


class No:
    """A server that refuses, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def send(self, request: Request) -> Response:
        self.asked.append(request)
        return Response(403, b'{"kind": "Status", "code": 403, "message": "no"}')

    async def close(self) -> None:
        """Nothing to close."""


async def test_another_write_of_the_same_object_is_sent_at_once() -> None:
    """It may be the one that holds what was let go."""
    wire = No()
    client = Client(PatientWire(wire))
    pod = {"metadata": {"name": "p", "namespace": "n", "resourceVersion": "1"}, "spec": {"priority": 1}}
    with pytest.raises(StatusError) as first:
        await client.update(PODS, pod)
    assert first.value.retry_after_s == 1.0
    newer = {**pod, "metadata": {**pod["metadata"], "resourceVersion": "2"}, "status": {"phase": "Running"}}
    with pytest.raises(RefusedBeforeError) as again:
        await client.update(PODS, newer)
    assert again.value.retry_after_s is not None
    assert again.value.retry_after_s <= 1.0
    with pytest.raises(StatusError):
        await client.update(PODS, {**pod, "spec": {"priority": 2}})
    for name in ("a", "b"):
        with pytest.raises(StatusError):
            await client.create(PODS, {"metadata": {"name": name, "namespace": "n"}})
    assert [request.method for request in wire.asked] == ["PUT", "PUT", "POST", "POST"]
