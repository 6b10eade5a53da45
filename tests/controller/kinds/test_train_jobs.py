"""TrainJobs: another object describes their pods, and what is said of these may be changed only while they are held."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.controller.house import House
from tests.controller.kinds.life import Life
from tests.harness import Cluster
from tests.model.jobs.samples import sample
from tidegate.controller.applications.form import Flavors, wanted_form
from tidegate.controller.kinds import CLUSTER_QUEUES, FLAVORS
from tidegate.kube import resources as r
from tidegate.model.jobs import builtin, with_suspend
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.resources import Resources
from tidegate.scheduler import PodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import LetGo, let_go, stop

Json = Any
TRAIN = builtin().of(sample("TrainJob"))
FLAVOR = "tidegate.dev/flavor"
FIRST = {"fast": ResourceFlavorSpec(node_labels={"pool": "fast"}), "slow": ResourceFlavorSpec()}


def seen(**pod_set: Json) -> SeenWorkload:
    pods = PodSet(name="node", count=3, floor=3, requests=Resources.parse({"cpu": 1}), **pod_set)
    return SeenWorkload(name="a/w", queue="a/default", created=0, admitted_at=1, pod_sets=(pods,))


def form(obj: Json, told: SeenWorkload, flavors: Flavors = FIRST) -> Json:
    return wanted_form(TRAIN, obj, told, flavors, kinds=builtin())


def let_run() -> Json:
    prepared = form(with_suspend(TRAIN, sample("TrainJob"), True), seen(granted={"fast": 3}))
    assert prepared["spec"]["suspend"], "what is written into it is written while it is held"
    running = form(prepared, seen(granted={"fast": 3}))
    assert not running["spec"]["suspend"]
    return running


def test_a_flavor_that_changes_changes_nothing_of_what_runs() -> None:
    """A ResourceFlavor got another label, and that was written into a TrainJob that ran; its operator refuses that, and
    as nothing else could be written with it, what was granted was not noted on it any more, either."""
    running = let_run()
    later = {"fast": ResourceFlavorSpec(node_labels={"pool": "fast", "zone": "b"})}
    assert form(running, seen(granted={"fast": 3}, present={"fast": 3}), later) == running


def test_its_runtime_may_change_while_it_runs() -> None:
    """The runtime of one that ran was edited: there are other pod sets by it, and these are for the next start."""
    running = let_run()
    template = {"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "host"}]}}}}
    runtime = {"spec": {"template": {"spec": {"replicatedJobs": [{"name": "other", "template": template}]}}}}
    told = seen(granted={"fast": 3}, present={"fast": 3})
    again = wanted_form(TRAIN, running, told, FIRST, kinds=builtin(), referred=runtime)
    assert again["spec"] == running["spec"]


def test_it_counts_where_it_was_let_go_before_its_pods_are_there() -> None:
    """Nothing told of which flavor the pods would be that a TrainJob was about to make, so they counted as those of the
    flavor `default`, and the room that they were to have was anybody's."""
    running = let_run()
    assert let_go(TRAIN, running) == {"node": LetGo(3, "fast")}
    assert FLAVOR not in (stop(TRAIN, running)["metadata"].get("annotations") or {})


def test_one_that_is_given_another_flavor_is_held_first() -> None:
    running = let_run()
    held = form(running, seen(granted={"slow": 3}, present={"fast": 3}))
    assert held["spec"] == {**running["spec"], "suspend": True}


def test_one_that_an_earlier_version_let_go_goes_on() -> None:
    """It was not noted then of which flavor its pods are."""
    running = let_run()
    del running["metadata"]["annotations"][FLAVOR]
    again = form(running, seen(granted={"fast": 3}, present={"fast": 3}))
    assert again["spec"] == running["spec"]
    assert let_go(TRAIN, again) == {"node": LetGo(3, "fast")}


async def test_its_pods_take_room_of_their_flavor_until_they_are_gone(cluster: Cluster, house: House) -> None:
    """A TrainJob was evicted, and as it was granted nothing any more, its pods counted as those of the flavor
    `default` while they still ran: the room that they took was given away. On the way, its flavor gets a label."""
    life = Life(house, "TrainJob", real=cluster.name == "real")
    await life.begin()
    await life.runs()
    running = await house.get(life.resource, "app")
    name = house.namespace
    await house.client.patch(FLAVORS, name, {"spec": {"nodeLabels": {"pool": name, "zone": "b"}}})
    await house.client.patch(life.resource, "app", {"metadata": {"labels": {"seen": "again"}}}, name)
    # Whatever comes after it has been seen after it.
    await house.workload("later", 1)
    await house.state("later", "Admitted")
    assert (await house.get(life.resource, "app"))["spec"] == running["spec"]

    await life._queue(stop="HoldAndDrain")
    await house.state(life.workload, "Evicted", granted=0)
    await house.until(partial(_tells, house))
    told = (await house.client.get(CLUSTER_QUEUES, name))["status"]
    assert {flavor: each["cpu"] for flavor, each in told["used"].items()} == {name: "3"}
    await life.evicted()
    await life.comes_back()
    pods = await house.list(r.PODS)
    assert {pod["spec"]["nodeSelector"]["zone"] for pod in pods} == {"b"}


async def _tells(house: House) -> bool:
    """Whether the ClusterQueue tells that nothing of it is granted any more."""
    told = (await house.client.get(CLUSTER_QUEUES, house.namespace))["status"]
    return not told.get("allocated")
