"""Queue trees for other schedulers: what is guaranteed stays so, and what is lost is said."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings

from tests.dialects.trees import COMPANY, queue_objects
from tidegate.dialects import DialectError
from tidegate.dialects.queues import TARGETS, QueueTree, drifts, from_kueue, parse_tree
from tidegate.dialects.queues.tree import cells
from tidegate.model.quantity import ZERO, Quantity

Json = Any


def _essence(tree: QueueTree) -> Json:
    """Tree, quotas, weights and rules; without what an amount looks like."""
    nodes = {
        node.metadata.name: (
            node.spec.parent,
            node.spec.weight,
            {
                cell: (quota.nominal_quota, quota.borrowing_limit, quota.lending_limit)
                for cell, quota in cells(node).items()
            },
        )
        for node in tree.nodes
    }
    doors = {
        (door.metadata.namespace, door.metadata.name): (door.spec.cluster_queue, door.spec.weight)
        for door in tree.doors
    }
    return nodes, doors


def _without_what_roots_cannot(objects: list[Json]) -> list[Json]:
    """Limits of a root, and a guarantee below that of the children, mean nothing, and Kueue has no place for them."""
    tree = parse_tree(objects)
    result = copy.deepcopy(objects)
    for obj in result:
        if obj["kind"] != "ClusterQueue":
            continue
        node = tree.node(obj["metadata"]["name"])
        for quotas in obj["spec"]["quotas"]:
            for name, quota in quotas["resources"].items():
                cell = (quotas["flavor"], name)
                below = sum((tree.guarantee(child, cell) for child in tree.children(node)), ZERO)
                quota["nominalQuota"] = str(max(Quantity.parse(quota["nominalQuota"]), below))
                if node.spec.parent is None:
                    quota.pop("borrowingLimit", None)
                    quota.pop("lendingLimit", None)
    return result


@given(queue_objects())
def test_a_tree_comes_back_from_kueue_as_it_went(objects: list[Json]) -> None:
    # Raising a guarantee may raise what its parent must have: once per level.
    for _ in range(6):
        objects = _without_what_roots_cannot(objects)
    tree = parse_tree(objects)
    back = from_kueue(TARGETS["kueue"](tree).objects)
    again = parse_tree(back.objects)
    assert _essence(again) == _essence(tree)
    for node in tree.nodes:
        if not tree.children(node):
            came = again.node(node.metadata.name).spec
            assert (came.ordering, came.preemption, came.stop) == (
                node.spec.ordering, node.spec.preemption, node.spec.stop
            )  # fmt: skip


@given(queue_objects())
def test_kueue_objects_keep_kueues_own_rules(objects: list[Json]) -> None:
    """Every flavor of a group has all its resources, a resource is in one group, limits need somebody above."""
    for obj in TARGETS["kueue"](parse_tree(objects)).objects:
        seen: list[str] = []
        for group in obj["spec"].get("resourceGroups", []):
            seen += group["coveredResources"]
            for flavor in group["flavors"]:
                assert [one["name"] for one in flavor["resources"]] == group["coveredResources"]
                for quota in flavor["resources"]:
                    above = obj["spec"].get("cohortName") or obj["spec"].get("parentName")
                    assert above or not {"borrowingLimit", "lendingLimit"} & quota.keys()
        assert len(seen) == len(set(seen))


def _walk(queue: Json) -> list[Json]:
    return [queue, *(one for inner in queue.get("queues", []) for one in _walk(inner))]


@given(queue_objects())
def test_yunikorn_queues_keep_yunikorns_own_rules(objects: list[Json]) -> None:
    """The root states nothing, children stay within their parent, names are unique and leaves serve in order."""
    (document,) = TARGETS["yunikorn"](parse_tree(objects)).objects
    root = document["partitions"][0]["queues"][0]
    assert "resources" not in root
    for queue in _walk(root):
        inside = queue.get("queues", [])
        assert len({one["name"] for one in inside}) == len(inside)
        own = queue.get("resources", {})
        for name, amount in own.get("guaranteed", {}).items():
            below = [one.get("resources", {}).get("guaranteed", {}).get(name, "0") for one in inside]
            assert sum(map(Quantity.parse, below), ZERO) <= Quantity.parse(amount)
        for name, amount in own.get("max", {}).items():
            below = [one.get("resources", {}).get("max", {}).get(name, amount) for one in inside]
            assert all(Quantity.parse(one) <= Quantity.parse(amount) for one in below)
        if not queue.get("parent", True):
            assert queue["properties"]["application.sort.policy"] == "fifo"


@pytest.mark.parametrize("scheduler", TARGETS)
@settings(max_examples=30)
@given(objects=queue_objects())
def test_nothing_drifts_from_itself(scheduler: str, objects: list[Json]) -> None:
    rendered = TARGETS[scheduler](parse_tree(objects)).objects
    assert drifts(scheduler, rendered, json.loads(json.dumps(rendered))) == ()


def _company(scheduler: str) -> list[Json]:
    rendered = TARGETS[scheduler](parse_tree(COMPANY)).objects
    return list(yaml.safe_load(yaml.safe_dump(list(rendered))))


def test_a_drift_is_named_with_both_values() -> None:
    live = _company("yunikorn")
    research = live[0]["partitions"][0]["queues"][0]["queues"][0]["queues"][0]
    assert research["name"] == "research"
    research["resources"]["guaranteed"]["vcore"] = 12
    del research["queues"][1]
    found = [str(drift) for drift in drifts("yunikorn", TARGETS["yunikorn"](parse_tree(COMPANY)).objects, live)]
    assert found[0] == "root.company.research: resources.guaranteed.vcore: is 12, should be 16"
    assert any("root.company.research.ray" in line and "is absent" in line for line in found)


def test_the_same_amount_written_otherwise_is_no_drift() -> None:
    live = _company("yunikorn")
    live[0]["partitions"][0]["queues"][0]["queues"][0]["resources"]["max"] = {"memory": 171798691840, "vcore": "40000m"}
    wanted = TARGETS["yunikorn"](parse_tree(COMPANY)).objects
    assert drifts("yunikorn", wanted, live) == ()
    config_map = {"kind": "ConfigMap", "data": {"queues.yaml": yaml.safe_dump(live[0])}}
    assert drifts("yunikorn", wanted, [config_map]) == ()
    with pytest.raises(DialectError, match="has no partitions"):
        drifts("yunikorn", wanted, [{"kind": "ConfigMap"}])


def test_what_servers_fill_in_and_volcano_makes_itself_is_no_drift() -> None:
    wanted = TARGETS["kueue"](parse_tree(COMPANY)).objects
    live = json.loads(json.dumps(wanted))
    for obj in live:
        if obj["kind"] == "ClusterQueue":
            obj["spec"]["flavorFungibility"] = {"whenCanBorrow": "Borrow", "whenCanPreempt": "TryNextFlavor"}
            obj["spec"]["preemption"]["borrowWithinCohort"] = {"policy": "Never"}
            obj["spec"]["cohort"] = obj["spec"].pop("cohortName")
        if obj["kind"] == "LocalQueue":
            obj["spec"]["stopPolicy"] = "None"
    assert drifts("kueue", wanted, live) == ()
    live[-1]["spec"]["stopPolicy"] = "Hold"
    (drift,) = drifts("kueue", wanted, live)
    assert str(drift) == "LocalQueue a/ray: stopPolicy: is Hold, should be absent"
    wanted = TARGETS["volcano"](parse_tree(COMPANY)).objects
    own = [{"kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1}} for name in ("root", "default")]
    assert drifts("volcano", wanted, [*own, *wanted]) == ()
    stranger = {"kind": "Queue", "metadata": {"name": "x"}, "spec": {"parent": "root"}}
    assert [drift.where for drift in drifts("volcano", wanted, [*wanted, stranger])] == ["Queue x"]


@pytest.mark.parametrize("scheduler", ["kueue", "volcano"])
def test_a_file_with_nothing_to_compare_is_refused(scheduler: str) -> None:
    wanted = TARGETS[scheduler](parse_tree(COMPANY)).objects
    with pytest.raises(DialectError, match="has none of what is compared; give it the"):
        drifts(scheduler, wanted, [{"kind": "ConfigMap", "metadata": {"name": "x"}}])


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([{"kind": "ClusterQueue", "metadata": {}}], "a ClusterQueue has no name; give it metadata.name"),
        ([{"kind": "Queue", "metadata": {"namespace": "a"}}], "a Queue has no name"),
        ([COMPANY[1], COMPANY[1]], "ClusterQueue company is there twice; remove one"),
        ([*COMPANY, COMPANY[-1]], "Queue lab/default is there twice"),
    ],
)
def test_trees_that_lose_something_are_refused(objects: list[Json], said: str) -> None:
    """Of two ClusterQueues of one name the second silently took the place of the first."""
    with pytest.raises(DialectError, match=said):
        parse_tree(objects)


def test_drift_in_kueue_is_said_by_flavor_and_resource() -> None:
    live = _company("kueue")
    cohort = next(obj for obj in live if obj["kind"] == "Cohort" and obj["metadata"]["name"] == "research")
    cohort["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = "20"
    (found,) = drifts("kueue", TARGETS["kueue"](parse_tree(COMPANY)).objects, live)
    assert str(found).startswith("Cohort research: ")
    assert str(found).endswith("default.resources.cpu.nominalQuota: is 20, should be 16")


def test_what_a_scheduler_cannot_say_is_said() -> None:
    objects = copy.deepcopy(COMPANY)
    objects[2]["spec"] |= {"policy": "fifo", "submitters": {"users": ["anna"]}}
    objects[4]["spec"] |= {"limits": {"cpu": "4"}, "request": {"cpu": "1"}, "weight": 3}
    notes = {name: " ".join(map(str, target(parse_tree(objects)).notes)) for name, target in TARGETS.items()}
    for word in ("policy", "submitters", "limits", "request", "patience"):
        assert f"dropped: {word}" in notes["kueue"]
    for word in ("policy", "weight", "request"):
        assert f"dropped: {word}" in notes["yunikorn"]
    assert "submitacl: anna" in yaml.safe_dump(list(TARGETS["yunikorn"](parse_tree(objects)).objects))
    assert "dropped: submitters" in notes["volcano"]


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        (
            [{"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"parent": "b"}}],
            "a is below b, which is not th",
        ),
        ([{"kind": "Queue", "metadata": {"name": "q"}, "spec": {"clusterQueue": "x"}}], "ClusterQueue x, which is not"),
        (
            [
                {"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"parent": "b"}},
                {"kind": "ClusterQueue", "metadata": {"name": "b"}, "spec": {"parent": "a"}},
            ],
            "is below itself",
        ),
    ],
)
def test_a_tree_that_does_not_hold_together_is_refused(objects: list[Json], said: str) -> None:
    with pytest.raises(DialectError, match=said):
        parse_tree(objects)


def test_a_lending_limit_above_the_quota_is_the_quota() -> None:
    """Kueue's webhook refuses it, and it means no more than all there is."""
    objects = copy.deepcopy(COMPANY)
    objects[3]["spec"]["quotas"] = [
        {"flavor": "default", "resources": {"cpu": {"nominalQuota": "4", "lendingLimit": "9"}}}
    ]
    done = TARGETS["kueue"](parse_tree(objects))
    lab = next(obj for obj in done.objects if obj["kind"] == "ClusterQueue" and obj["metadata"]["name"] == "lab")
    assert lab["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["lendingLimit"] == "4"
    assert any("more than there is to lend" in note.message for note in done.notes)


def test_yunikorn_is_told_amounts_that_it_can_read() -> None:
    """It knows no fractions, no exponents and no thousandths of anything but cores."""
    amounts = {"cpu": "1e3", "memory": "0.1Gi", "nvidia.com/gpu": "1.5"}
    quotas = [{"flavor": "default", "resources": {name: {"nominalQuota": text} for name, text in amounts.items()}}]
    done = TARGETS["yunikorn"](
        parse_tree([{"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"quotas": quotas}}])
    )
    (queue,) = done.objects[0]["partitions"][0]["queues"][0]["queues"]
    assert queue["resources"]["guaranteed"] == {"vcore": "1k", "memory": "107374182", "nvidia.com/gpu": "1"}
    assert {note.about for note in done.notes} >= {"107374182400m memory", "1500m nvidia.com/gpu"}


def test_a_door_called_like_a_node_has_its_namespace_in_yunikorn() -> None:
    nodes = [{"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec} for name, spec in
             {"org": {}, "ray": {"parent": "org"}}.items()]  # fmt: skip
    door = {"kind": "Queue", "metadata": {"namespace": "a", "name": "ray"}, "spec": {"clusterQueue": "org"}}
    (document,) = TARGETS["yunikorn"](parse_tree([*nodes, door])).objects
    (org,) = document["partitions"][0]["queues"][0]["queues"]
    assert [queue["name"] for queue in org["queues"]] == ["ray", "a_ray"]


def test_more_groups_of_flavors_than_kueue_takes_are_refused() -> None:
    quotas = [{"flavor": f"f{one}", "resources": {f"example.com/r{one}": {"nominalQuota": "1"}}} for one in range(17)]
    tree = parse_tree([{"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"quotas": quotas}}])
    with pytest.raises(DialectError, match="has 17 groups of flavors"):
        TARGETS["kueue"](tree)
