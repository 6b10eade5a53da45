"""What is measured is what happened, and the page is one that Prometheus reads."""

from __future__ import annotations

import asyncio

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from tests.controller.house import House
from tests.local.controllers.stage import succeeds
from tidegate.controller.metrics.metrics import COUNTED, MEASURED, Metrics
from tidegate.controller.metrics.standing import GAUGES
from tidegate.controller.operator import Operator
from tidegate.controller.replica import Replica, Settings
from tidegate.kube import resources as r
from tidegate.kube.client import Client
from tidegate.kube.serve.listener import Bind

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(page: bytes) -> Samples:
    found = text_string_to_metric_families(page.decode())
    return {(each.name, tuple(sorted(each.labels.items()))): each.value for family in found for each in family.samples}


async def test_the_page_says_what_happened(house: House) -> None:
    """A Job comes in, one waits and one can never fit; the first ends, pod by pod."""
    await house.kill()
    metrics = Metrics()
    operator = Operator(house.client, tally=metrics)
    metrics.follow(operator.cache)
    running = asyncio.create_task(operator.run())

    def value(name: str, **labels: str) -> float:
        key = (f"tidegate_{name}", tuple(sorted({"cluster_queue": house.namespace, **labels}.items())))
        return samples(metrics.page()[2]).get(key, 0)

    try:
        await house.queued_job("first", 4)
        await house.state("job-first", "Admitted", granted=4)
        await house.queued_job("second", 4)
        await house.waits("job-second", "WaitingForQuota")
        await house.queued_job("never", 9)
        await house.waits("job-never", "ExceedsQuota")
        assert value("admitted_workloads_total") == 1
        assert value("granted_pods_total") == 4
        assert value("admission_wait_time_seconds_count") == 1

        async def shown() -> bool:
            stands = (value("pending_workloads", status="active"), value("pending_workloads", status="inadmissible"))
            held = value("cluster_queue_resource_reservation", flavor="default", resource="cpu")
            return (*stands, value("admitted_active_workloads"), held) == (1, 1, 1, 4)

        await house.until(shown)
        assert value("cluster_queue_nominal_quota", flavor="default", resource="cpu") == 4
        await house.play(r.JOBS, "first", succeeds, lambda job: bool(job["status"].get("completionTime")))
        await house.state("job-second", "Admitted", granted=4)

        async def gave_back() -> bool:
            return value("reclaimed_pods_total") == 4 and value("admitted_workloads_total") == 2

        await house.until(gave_back)
        assert ("tidegate_leader", ()) in samples(metrics.page()[2])
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    metrics.forget()
    assert not [name for name, _ in samples(metrics.page()[2]) if name.removeprefix("tidegate_") in GAUGES]


def test_every_metric_is_in_the_table_that_the_reference_is_made_of() -> None:
    told = {family.name for family in text_string_to_metric_families(Metrics().page()[2].decode())}
    assert told == {f"tidegate_{name}" for name in (*COUNTED, *MEASURED, "leader")}


async def test_health_is_answered_before_and_while_it_leads(client: Client) -> None:
    replica = Replica(client, Settings(health=Bind(), lease_s=3))
    running = asyncio.create_task(replica.run())
    try:
        assert replica.health is not None
        await replica.health.listening.wait()
        for path in ("/healthz", "/readyz", "/metrics"):
            async with aiohttp.request("GET", f"http://127.0.0.1:{replica.health.port}{path}") as answer:
                assert answer.status == 200
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
