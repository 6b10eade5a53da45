"""KubeRay makes a RayService a second cluster beside the first once its cluster's spec has changed. What it looks at is
all but sizes, tolerations and gates; nothing that Tidegate writes into one that runs is part of that."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.model.jobs.samples import sample
from tidegate.controller.applications.form import Flavors, wanted_form
from tidegate.model.jobs import builtin, podsets, put, with_suspend
from tidegate.model.kinds.flavor import ResourceFlavorSpec
from tidegate.model.resources import Resources
from tidegate.scheduler import PodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import restored, within_grant

Json = Any
SPECS = {"RayService": ("spec", "rayClusterConfig"), "RayCluster": ("spec",)}
FLAVORS: Flavors = {"fast": ResourceFlavorSpec(node_labels={"pool": "fast"})}
LATER: Flavors = {"fast": ResourceFlavorSpec(node_labels={"pool": "fast", "zone": "b"})}


def hashed(spec: Json) -> Json:
    """What KubeRay takes a hash of: `GenerateHashWithoutReplicasAndWorkersToDelete` of ray-operator v1.6.0."""
    spec = copy.deepcopy(spec)
    spec.pop("upgradeStrategy", None)
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        for name in ("tolerations", "schedulingGates"):
            group["template"]["spec"].pop(name, None)
    for group in spec["workerGroupSpecs"]:
        for name in ("replicas", "minReplicas", "maxReplicas"):
            group.pop(name, None)
        (group.get("scaleStrategy") or {}).pop("workersToDelete", None)
    return spec


class Ray:
    """One that runs, with all that it asks for; and the spec that its cluster was made from."""

    def __init__(self, kind: str, obj: Json) -> None:
        self.entry = builtin().of(obj)
        self.at = SPECS[kind]
        self.granted = self.wanted(obj)
        held = with_suspend(self.entry, obj, True)
        self.obj = self._form(held, FLAVORS)
        self.made_of = hashed(self.spec)

    @property
    def spec(self) -> Json:
        found = self.obj
        for step in self.at:
            found = found[step]
        return found

    def wanted(self, obj: Json) -> dict[str, int]:
        return {shape.name: shape.count for shape in podsets(self.entry, restored(obj), find=builtin().find)}

    def edited(self, spec: Json) -> None:
        """Somebody writes a spec, past the door."""
        new = put(self.obj, self.at, spec)
        self.obj = within_grant(self.entry, self.obj, new)[0]
        self._seen()

    def planned(self, *, whole: bool, flavors: Flavors = FLAVORS) -> None:
        """The operator, when all that is wanted is granted, and when it still waits for that."""
        wanted = self.wanted(self.obj)
        granted = {name: min(count, self.granted.get(name, 0)) for name, count in wanted.items()}
        self.granted = wanted if whole else granted
        self.obj = self._form(self.obj, flavors)
        self._seen()

    def _form(self, obj: Json, flavors: Flavors) -> Json:
        one = Resources.parse({"cpu": 1})
        sets = tuple(
            PodSet(name=name, count=count, floor=count, requests=one, granted=self._of(name))
            for name, count in self.wanted(obj).items()
        )
        seen = SeenWorkload(name="a/w", queue="a/default", created=0, admitted_at=1, pod_sets=sets)
        formed = wanted_form(self.entry, obj, seen, flavors, kinds=builtin())
        assert wanted_form(self.entry, formed, seen, flavors, kinds=builtin()) == formed, "and it is at rest then"
        return formed

    def _of(self, name: str) -> dict[str, int]:
        return {"fast": self.granted[name]} if self.granted.get(name) else {}

    def _seen(self) -> None:
        """KubeRay's turn: the same cluster goes on, or one to which groups were added at the end."""
        now = hashed(self.spec)
        there = len(self.made_of["workerGroupSpecs"])
        assert {**now, "workerGroupSpecs": now["workerGroupSpecs"][:there]} == self.made_of, "a second cluster"
        self.made_of = now


@pytest.mark.parametrize("kind", SPECS)
def test_one_that_grows_goes_on_as_the_same(kind: str) -> None:
    """Its group was to be larger, and the flavor was taken out of the marks of that group's template until there was
    room, and put in again then: KubeRay started a second cluster, and a third."""
    ray = Ray(kind, sample(kind))
    spec = copy.deepcopy(ray.spec)
    spec["workerGroupSpecs"][0]["replicas"] = 4
    ray.edited(spec)
    gates = [{"name": "tidegate.dev/quota"}]
    assert ray.spec["workerGroupSpecs"][0]["template"]["spec"]["schedulingGates"] == gates, "what is new waits"
    ray.planned(whole=False)
    assert ray.spec["workerGroupSpecs"][0]["template"]["spec"]["schedulingGates"] == gates
    ray.planned(whole=True)
    assert "schedulingGates" not in ray.spec["workerGroupSpecs"][0]["template"]["spec"]


@pytest.mark.parametrize("kind", SPECS)
def test_a_group_that_was_added_or_empty_gets_its_flavor_pod_by_pod(kind: str) -> None:
    """Nothing was granted for it when the cluster was made, and its template was told the flavor when it was."""
    ray = Ray(kind, put(sample(kind), (*SPECS[kind], "workerGroupSpecs", 1), _group("late", 0)))
    spec = copy.deepcopy(ray.spec)
    spec["workerGroupSpecs"][1]["replicas"] = 2
    spec["workerGroupSpecs"].append(_group("added", 1))
    ray.edited(spec)
    for whole in (False, True):
        ray.planned(whole=whole)
        for group in ray.spec["workerGroupSpecs"][1:]:
            assert group["template"]["spec"]["schedulingGates"] == [{"name": "tidegate.dev/quota"}]
            assert group["template"]["metadata"]["annotations"] == {
                "tidegate.dev/workload": "w",
                "tidegate.dev/pod-set": group["groupName"],
                "tidegate.dev/queue": "default",
            }


def _group(name: str, replicas: int) -> Json:
    group = copy.deepcopy(sample("RayCluster")["spec"]["workerGroupSpecs"][1])
    return {**group, "groupName": name, "replicas": replicas, "minReplicas": 0, "maxReplicas": 9}


@pytest.mark.parametrize("kind", SPECS)
@settings(max_examples=40)
@given(data=st.data())
def test_whatever_sizes_it_is_given_it_goes_on_as_the_same(kind: str, data: st.DataObject) -> None:
    ray = Ray(kind, sample(kind))
    for _ in range(data.draw(st.integers(1, 6))):
        spec = copy.deepcopy(ray.spec)
        for group in spec["workerGroupSpecs"]:
            group |= {"replicas": data.draw(st.integers(0, 3)), "minReplicas": 0, "maxReplicas": 9}
        if len(spec["workerGroupSpecs"]) < 4 and data.draw(st.booleans()):
            spec["workerGroupSpecs"].append(_group(f"added-{len(spec['workerGroupSpecs'])}", 1))
        ray.edited(spec)
        ray.planned(whole=data.draw(st.booleans()), flavors=data.draw(st.sampled_from([FLAVORS, LATER])))
