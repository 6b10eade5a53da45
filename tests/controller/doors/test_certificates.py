"""Certificates on a server: made once by whoever is first, renewed while requests go on, put back when taken away."""

from __future__ import annotations

import asyncio
import base64
import itertools
from datetime import UTC, datetime, timedelta

from tests.controller.doors.replicas import bundle_of, forget, judged_soon, known, running, settings, until
from tests.controller.house import House
from tests.harness.cluster import PATIENCE_S
from tidegate.controller.replica import Replica
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.serve.certificates import Terms
from tidegate.kube.serve.kept import KeptCertificates, Place

POD = {"containers": [{"name": "main", "image": "host"}]}


async def test_what_somebody_takes_out_of_the_configuration_is_put_back(client: Client, replica: Replica) -> None:
    """The bundle, a selector that lets everybody pass, a condition that is never true, or all of it."""
    assert replica.certificates is not None
    trusted = replica.certificates.trusted
    whole = (await client.get(r.MUTATINGWEBHOOKCONFIGURATIONS, "tidegate"))["webhooks"]
    hooks = "/webhooks/0"
    for patch in (
        {"op": "replace", "path": f"{hooks}/clientConfig/caBundle", "value": ""},
        {"op": "replace", "path": f"{hooks}/objectSelector", "value": {"matchLabels": {"never": "there"}}},
        {"op": "add", "path": f"{hooks}/matchConditions", "value": [{"name": "never", "expression": "false"}]},
        {"op": "replace", "path": f"{hooks}/failurePolicy", "value": "Ignore"},
        {"op": "remove", "path": hooks},
    ):
        changed = await client.patch(r.MUTATINGWEBHOOKCONFIGURATIONS, "tidegate", [patch], type="json")
        assert changed["webhooks"] != whole
        await until(client, lambda there: there["webhooks"] == whole)
    await client.delete(r.MUTATINGWEBHOOKCONFIGURATIONS, "tidegate")
    await until(client, lambda there: bundle_of(there) == trusted)


async def test_replicas_that_start_together_agree_on_one_certificate(client: Client) -> None:
    await forget(client)
    all_of_them = [KeptCertificates(client, Place("kube-system"), ["127.0.0.1"]) for _ in range(4)]
    tasks = [asyncio.create_task(each.run()) for each in all_of_them]
    try:
        async with asyncio.timeout(PATIENCE_S):
            for each in all_of_them:
                await each.ready.wait()
        secret = await client.get(r.SECRETS, "tidegate-webhook", "kube-system")
        trusted = base64.b64decode(secret["data"]["ca.crt"])
        assert [each.trusted for each in all_of_them] == [trusted] * 4
        assert trusted.count(b"BEGIN CERTIFICATE") == 1
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await forget(client)


class Clock:
    """Begins so long ago that the first certificate is old by now."""

    def __init__(self, ago: timedelta) -> None:
        self.ago = ago

    def __call__(self) -> datetime:
        return datetime.now(UTC) - self.ago


async def test_renewal_while_requests_go_on_refuses_nobody(client: Client) -> None:
    """The server asks the doors all the time while the next certificate is staged, and then served."""
    await forget(client)
    terms = Terms(spread=timedelta(days=1))
    clock = Clock(terms.good_for - timedelta(days=10))
    async with running(client, settings(certificate_terms=terms, clock=clock)) as replica:
        await known(client, replica)
        house = House(client)
        await house.open()
        await house.furnish()
        await judged_soon(house)
        kept = replica.certificates
        assert kept is not None
        stop, enough = asyncio.Event(), asyncio.Event()

        async def ask() -> None:
            for count in itertools.count():
                if stop.is_set():
                    return
                made = await client.create(
                    r.PODS, {"metadata": {"name": "x"}, "spec": POD}, house.namespace, dry_run=True
                )
                assert made["spec"]["schedulingGates"]
                if count % 10 == 0:
                    enough.set()

        asking = asyncio.create_task(ask())
        try:
            first, changed = kept.trusted, asyncio.Event()
            kept.on_change(changed.set)
            for ago in (timedelta(days=35), timedelta(0)):
                clock.ago = ago
                changed.clear()
                kept.look()
                async with asyncio.timeout(PATIENCE_S):
                    await changed.wait()
                await known(client, replica)
                enough.clear()
                async with asyncio.timeout(PATIENCE_S):
                    await enough.wait()
            secret = await client.get(r.SECRETS, "tidegate-webhook", "kube-system")
            assert "next.crt" not in secret["data"]
            assert first in kept.trusted
            assert kept.trusted != first
        finally:
            stop.set()
            await asking
            await house.close()
    await forget(client)
