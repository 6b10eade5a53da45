"""A tree of namespaces can be the tree of ClusterQueues: made, kept, and gone with the namespaces."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.controller.house import House
from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES
from tidegate.controller.queues.tree import tree_of
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object

Json = Any
DEPTH = "tree.hnc.x-k8s.io/depth"


def labelled(name: str, *above: str, **more: str) -> Object:
    """A namespace as hierarchical namespaces label it: itself at depth 0, and those above it."""
    labels = {f"{each}.{DEPTH}": str(depth) for depth, each in enumerate((name, *above))}
    return {"metadata": {"name": name, "labels": {**labels, **{f"tidegate.dev/{key}": to for key, to in more.items()}}}}


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[Object], dict[str, str]]:
    """Namespaces, each under an earlier one or none, some trees opted in; and which of them hang under what."""
    paths: list[tuple[str, ...]] = []
    wanted: dict[str, str] = {}
    made = []
    for index in range(draw(st.integers(1, 8))):
        above = draw(st.sampled_from([(), *paths]))
        name = f"n{index}"
        paths.append((name, *above))
        top = draw(st.booleans()) and not above
        made.append(labelled(name, *above, **({"tree-under": "root"} if top else {})))
        if top:
            made[-1]["metadata"]["labels"]["tidegate.dev/tree-under"] = wanted[name] = "root"
        elif above and above[-1] in wanted:
            wanted[name] = above[0]
    return made, wanted


@given(forests())
def test_every_namespace_of_a_tree_hangs_under_the_one_above_it(forest: tuple[list[Object], dict[str, str]]) -> None:
    namespaces, wanted = forest
    assert tree_of(namespaces) == wanted


def test_a_label_that_says_no_depth_is_no_label() -> None:
    odd = labelled("below")
    odd["metadata"]["labels"] |= {f"top.{DEPTH}": "many", f".{DEPTH}": "1"}
    assert tree_of([labelled("top", **{"tree-under": "root"}), odd]) == {"top": "root"}


@pytest.fixture
async def company(client: Client) -> AsyncIterator[House]:
    """A house whose namespace is the top of a tree that hangs under the house's own ClusterQueue."""
    house = House(client)
    await house.open()
    house.start()
    yield house
    for name in (below(house), house.namespace):
        with contextlib.suppress(StatusError):
            await client.delete(r.NAMESPACES, name)
    await house.close()


def below(house: House) -> str:
    return f"{house.namespace}-below"


async def make_below(house: House) -> None:
    """A namespace under the house's, which is under nothing."""
    top, name = house.namespace, below(house)
    labels = {f"{top}.{DEPTH}": "1", f"{name}.{DEPTH}": "0", "tidegate.dev/managed": "true"}
    await house.client.create(r.NAMESPACES, {"metadata": {"name": name, "labels": labels}})
    # The house's own ClusterQueue has the name that the namespace's would have, and is people's: it stays theirs.
    tops = {f"{top}.{DEPTH}": "0", "tidegate.dev/tree-under": "somewhere"}
    await house.client.patch(r.NAMESPACES, top, {"metadata": {"labels": tops}})


async def the_queue(house: House, accept: Any) -> Object:
    async def found() -> Object | None:
        with contextlib.suppress(StatusError):
            queue = await house.client.get(CLUSTER_QUEUES, below(house))
            return queue if accept(queue) else None
        return None

    made: Object = await house.until(found)
    return made


async def test_the_tree_is_made_and_put_back(company: House) -> None:
    await make_below(company)
    made = await the_queue(company, lambda queue: True)
    key = f"{below(company)}.{DEPTH}"
    selector = {"matchExpressions": [{"key": key, "operator": "Exists"}]}
    assert made["spec"]["parent"] == company.namespace
    assert made["spec"]["namespaceSelector"] == selector
    assert made["metadata"]["ownerReferences"][0]["kind"] == "Namespace"
    door = await company.until(lambda: _door(company))
    assert door["spec"]["clusterQueue"] == below(company)
    await company.client.patch(CLUSTER_QUEUES, below(company), {"spec": {"parent": "elsewhere", "weight": 3}})
    kept = await the_queue(company, lambda queue: queue["spec"]["parent"] == company.namespace)
    assert kept["spec"]["weight"] == 3, "the rest is people's to write"
    theirs = await company.client.get(CLUSTER_QUEUES, company.namespace)
    assert "parent" not in theirs["spec"]


async def _door(house: House) -> Object | None:
    with contextlib.suppress(StatusError):
        return await house.client.get(QUEUES, "default", below(house))
    return None


@pytest.mark.parametrize("how", ["its namespace goes", "the tree is given up"])
async def test_the_tree_goes_with_its_namespaces(company: House, how: str) -> None:
    await make_below(company)
    await the_queue(company, lambda queue: True)
    if how == "its namespace goes":
        await company.client.delete(r.NAMESPACES, below(company))
    else:
        await company.client.patch(
            r.NAMESPACES, company.namespace, {"metadata": {"labels": {"tidegate.dev/tree-under": None}}}
        )

    async def is_gone() -> bool:
        try:
            await company.client.get(CLUSTER_QUEUES, below(company))
        except StatusError as refused:
            return refused.code == 404
        return False

    await company.until(is_gone)
