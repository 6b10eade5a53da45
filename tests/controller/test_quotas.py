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


async def test_where_a_queue_leaves_all_open_there_is_no_quota(bare: House) -> None:
    """One that says nothing was made for every Queue with limits, as soon as a Queue beside them had none."""
    await bare.create(QUEUES, "first", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3"}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-first", lambda quota: quota["spec"]["hard"] == {"requests.cpu": "3"})
    await bare.create(QUEUES, "open", spec={"clusterQueue": bare.namespace})
    await bare.until(lambda: gone(bare, "tidegate-first"))
    await bare.client.delete(QUEUES, "open", bare.namespace)
    await bare.see(r.RESOURCEQUOTAS, "tidegate-first", lambda quota: quota["spec"]["hard"] == {"requests.cpu": "3"})


async def test_the_owner_of_a_quota_that_was_made_is_put_back(bare: House) -> None:
    """`kubectl replace` with a file drops owners: the quota was taken for people's own, and stayed for ever."""
    await bare.create(QUEUES, "default", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3"}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: True)
    await bare.patch(r.RESOURCEQUOTAS, "tidegate-default", {"metadata": {"ownerReferences": None}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: quota["metadata"].get("ownerReferences"))
    await bare.patch(QUEUES, "default", {"spec": {"limits": None}})
    await bare.until(lambda: gone(bare, "tidegate-default"))


async def test_a_queue_of_any_name_is_linked(bare: House) -> None:
    """Only one that was called `default` was: of the others nobody was told that they differ."""
    await bare.create(QUEUES, "research", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "3"}})
    await bare.create(r.RESOURCEQUOTAS, "mine", spec={"hard": {"requests.cpu": "2"}})
    queue = await bare.see(QUEUES, "research", lambda queue: linked(queue))
    assert linked(queue)["message"] == "ResourceQuota mine differs (cpu: 3 here, 2 there); make them the same"
    await bare.create(QUEUES, "other", spec={"clusterQueue": bare.namespace, "limits": {"cpu": "1"}})
    message = "ResourceQuota mine differs (cpu: 4 for the 2 Queues together, 2 there); make them the same"
    for name in ("research", "other"):
        await bare.see(QUEUES, name, lambda queue: linked(queue) and linked(queue)["message"] == message)


async def test_of_several_quotas_the_least_holds_and_what_is_said_of_some_pods_does_not_count(bare: House) -> None:
    """Only the first by name was read, and one for pods that end soon was taken for all."""
    await bare.create(r.RESOURCEQUOTAS, "counts", spec={"hard": {"pods": "9", "requests.cpu": "5"}})
    await bare.create(r.RESOURCEQUOTAS, "some", spec={"hard": {"cpu": "1"}, "scopes": ["Terminating"]})
    await bare.create(r.RESOURCEQUOTAS, "sums", spec={"hard": {"cpu": "4", "memory": "1Gi"}})
    queue = await bare.see(
        QUEUES,
        "default",
        lambda queue: (
            queue["spec"]["limits"] == {"cpu": "4", "memory": "1Gi"} and (linked(queue) or {}).get("status") == "True"
        ),
    )
    assert linked(queue)["message"] == "ResourceQuotas counts, some, sums say the same"


async def test_limits_from_a_quota_go_with_it_and_come_back_with_another(bare: House) -> None:
    """Who deleted the quota was given one of ours with the same numbers, and the Queue kept them."""
    await bare.create(r.RESOURCEQUOTAS, "mine", spec={"hard": {"cpu": "2"}})
    await bare.see(QUEUES, "default", lambda queue: queue["spec"]["limits"] == {"cpu": "2"})
    await bare.client.delete(r.RESOURCEQUOTAS, "mine", bare.namespace)
    await bare.see(QUEUES, "default", lambda queue: not queue["spec"].get("limits"))
    assert await gone(bare, "tidegate-default")
    await bare.create(r.RESOURCEQUOTAS, "again", spec={"hard": {"cpu": "3"}})
    await bare.see(QUEUES, "default", lambda queue: queue["spec"].get("limits") == {"cpu": "3"})
    await bare.client.delete(r.RESOURCEQUOTAS, "again", bare.namespace)
    await bare.see(QUEUES, "default", lambda queue: not queue["spec"].get("limits"))
    await bare.patch(QUEUES, "default", {"spec": {"limits": {"cpu": "5"}}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: quota["spec"]["hard"] == {"requests.cpu": "5"})


async def test_a_quota_that_the_server_does_not_take_is_told_and_is_in_nobodys_way(bare: House) -> None:
    """`requests.cpu` for `cpu`: no ResourceQuota of any namespace behind it was kept from then on."""
    await bare.create(QUEUES, "default", spec={"clusterQueue": bare.namespace, "limits": {"requests.cpu": "3"}})
    queue = await bare.see(QUEUES, "default", lambda queue: linked(queue))
    assert linked(queue)["reason"] == "Refused"
    assert "requests.requests.cpu" in linked(queue)["message"], "what the server said"
    await bare.patch(QUEUES, "default", {"spec": {"limits": {"requests.cpu": None, "cpu": "3"}}})
    await bare.see(r.RESOURCEQUOTAS, "tidegate-default", lambda quota: quota["spec"]["hard"] == {"requests.cpu": "3"})
    await bare.see(QUEUES, "default", lambda queue: not linked(queue))


async def gone(house: House, name: str) -> bool:
    return not await house.exists(r.RESOURCEQUOTAS, name)
