"""Queues and ResourceQuotas: linked, made from one another, and put back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.controller.house import House
from tidegate.controller.kinds import QUEUES
from tidegate.kube import resources as r
from tidegate.kube.client import Client

Json = Any


@pytest.fixture
async def bare(client: Client) -> AsyncIterator[House]:
    """A managed namespace with neither Queue nor ResourceQuota."""
    house = House(client)
    await house.open()
    house.start()
    yield house
    await house.close()


def linked(queue: Json) -> Json:
    conditions = (queue.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each["type"] == "QuotaLinked"), None)


async def test_both_made_by_people_are_linked_and_a_mismatch_is_shown(bare: House) -> None:
    await bare.create(QUEUES, "default", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3"}})
    await bare.create(r.RESOURCEQUOTAS, "mine", spec={"hard": {"requests.cpu": "2", "pods": "10"}})
    queue = await bare.see(QUEUES, "default", lambda queue: linked(queue) and linked(queue)["status"] == "False")
    assert linked(queue)["message"] == "ResourceQuota mine differs (cpu: 3 here, 2 there); make them the same"
    await bare.patch(QUEUES, "default", {"spec": {"limits": {"cpu": "2"}}})
    await bare.see(QUEUES, "default", lambda queue: linked(queue)["status"] == "True")


async def test_the_quota_of_a_queue_with_limits_is_made_and_put_back(bare: House) -> None:
    await bare.create(QUEUES, "default", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3", "memory": "1Gi"}})
    hard = {"requests.cpu": "3", "requests.memory": "1Gi"}
    made = await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: quota["spec"]["hard"] == hard)
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Queue"
    await bare.patch(r.RESOURCEQUOTAS, "tidegate-default", {"spec": {"hard": {"requests.cpu": "99"}}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: quota["spec"]["hard"] == hard)
    await bare.patch(QUEUES, "default", {"spec": {"limits": {"cpu": "4"}}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: quota["spec"]["hard"]["requests.cpu"] == "4")


async def test_a_queue_is_made_from_a_quota_and_follows_it(bare: House) -> None:
    await bare.create(
        r.RESOURCEQUOTAS, "mine", spec={"hard": {"cpu": "2", "requests.example.com/gpu": "1", "pods": "9"}}
    )
    await bare.see(QUEUES, "default", lambda queue: queue["spec"]["limits"] == {"cpu": "2", "example.com/gpu": "1"})
    await bare.patch(r.RESOURCEQUOTAS, "mine", {"spec": {"hard": {"cpu": "5"}}})
    await bare.see(QUEUES, "default", lambda queue: queue["spec"]["limits"]["cpu"] == "5")


async def test_the_quota_of_a_queue_goes_with_its_limits(bare: House) -> None:
    await bare.create(QUEUES, "default", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3"}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: True)
    await bare.patch(QUEUES, "default", {"spec": {"limits": None}})
    await bare.until(lambda: gone(bare, "tidegate-default"))


async def test_a_quota_that_people_make_takes_the_place_of_ours(bare: House) -> None:
    await bare.create(QUEUES, "default", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3"}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: True)
    await bare.create(r.RESOURCEQUOTAS, "mine", spec={"hard": {"requests.cpu": "3"}})
    await bare.until(lambda: gone(bare, "tidegate-default"))
    await bare.see(QUEUES, "default", lambda queue: linked(queue) and linked(queue)["status"] == "True")


async def test_two_queues_of_a_namespace_may_use_their_limits_both(bare: House) -> None:
    """A ResourceQuota is for all pods of a namespace: each says what the Queues may use together."""
    for name, limits in (("default", {"cpu": "3", "memory": "1Gi"}), ("other", {"cpu": "500m"})):
        await bare.create(QUEUES, name, spec={"clusterQueue": bare.namespace, "limits": limits})
    for name in ("tidegate-default", "tidegate-other"):
        await bare.see(r.RESOURCEQUOTAS, name, lambda quota: quota["spec"]["hard"] == {"requests.cpu": "3500m"})


async def gone(house: House, name: str) -> bool:
    return not await house.exists(r.RESOURCEQUOTAS, name)
