"""What Kueue counts for each pod of each set, against what Tidegate counts for the same object."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.dialects.peers.asking_kueue import (
    CONFIG,
    GROUPED,
    KUEUE,
    RUNTIME,
    WHO,
    all_pods_of,
    has,
    is_true,
    path_of,
    what_it_makes,
    workloads_of,
)
from tests.harness import Cluster
from tests.model.jobs.samples import KINDS, sample
from tidegate.dialects import render
from tidegate.model.jobs import Form, builtin, peek, podsets
from tidegate.model.resources import NOTHING, Resources
from tidegate.workloads import describe

pytestmark = pytest.mark.kube
Json = Any
BY_PODS = ("Deployment", "StatefulSet")
SPARK = ("SparkApplication", "ScheduledSparkApplication")
WHOLE = [kind for kind in KINDS if kind not in (*GROUPED, *BY_PODS, *SPARK, "LeaderWorkerSet", "AppWrapper")]
# What Kueue calls sets that KubeRay has another name for.
RENAMED = {"head": "headgroup", "submitter": "submittergroup"}
# Limits that stand for requests; containers that run first, and one that stays; one that asks for more than all others.
ODD: Json = {
    "containers": [
        {"name": "main", "image": "busybox:1", "resources": {"limits": {"cpu": "1500m", "memory": "700Mi"}}},
        {
            "name": "beside",
            "image": "busybox:1",
            "resources": {"requests": {"cpu": "250m"}, "limits": {"memory": "1G"}},
        },
    ],
    "initContainers": [
        {"name": "first", "image": "busybox:1", "resources": {"requests": {"cpu": "3", "memory": "10Mi"}}},
        {"name": "stays", "image": "busybox:1", "restartPolicy": "Always", "resources": {"requests": {"cpu": "300m"}}},
        {"name": "large", "image": "busybox:1", "resources": {"requests": {"memory": "4Gi"}}},
    ],
}


def _object(kind: str, variant: str) -> Json:
    obj = sample(kind)
    obj["metadata"]["name"] = f"{kind.lower()}-{variant}"
    if variant == "odd":
        for shape in podsets(builtin().of(obj), obj, find=builtin().find):
            if shape.place is not None and shape.place.form is not Form.SPARK and shape.place.absent is None:
                pod = peek(obj, shape.place.pod)
                names = [one["name"] for one in pod["containers"]]
                pod |= copy.deepcopy(ODD)
                pod["containers"][0]["name"] = names[0]  # Training operators know their container by its name.
    return obj


def _ours(obj: Json) -> dict[str, tuple[int, Resources]]:
    referred = RUNTIME if obj["kind"] == "TrainJob" else None
    sets = describe(builtin().of(obj), obj, referred=referred).spec.pod_sets
    return {one.name: (one.count, one.requests) for one in sets}


def _by_shape(pod_sets: dict[str, tuple[int, Resources]]) -> dict[Resources, int]:
    """How many pods ask for the same."""
    shapes: dict[Resources, int] = {}
    for count, each in pod_sets.values():
        shapes[each] = shapes.get(each, 0) + count
    return shapes


def _theirs(workload: Json) -> dict[str, tuple[int, Resources]]:
    """By pod set: how many pods were given quota, and what each of them was counted for."""
    given = {}
    for one in workload["status"]["admission"]["podSetAssignments"]:
        whole, count = Resources.parse(one["resourceUsage"]), one["count"]
        each = {name: amount // count for name, amount in whole.items()}
        assert Resources(each) * count == whole
        given[RENAMED.get(one["name"], one["name"])] = (count, Resources(each))
    return given


def _admitted(server: Cluster, obj: Json, count: int = 1) -> list[Json]:
    kept = server.create(f"{path_of(obj)}?fieldValidation=Strict", obj)
    return workloads_of(server, kept["metadata"]["uid"], count)


@pytest.mark.parametrize("variant", ["plain", "odd"])
@pytest.mark.parametrize("kind", WHOLE)
def test_kueue_counts_each_pod_as_tidegate_does(server: Cluster, kind: str, variant: str) -> None:
    made = what_it_makes(render(_object(kind, variant), WHO, CONFIG).object)
    (workload,) = _admitted(server, made)
    assert _theirs(workload) == _ours(made)


@pytest.mark.parametrize("variant", ["plain", "odd"])
def test_kueue_counts_what_is_wrapped_as_tidegate_does(server: Cluster, variant: str) -> None:
    """The sets have names of their own in each of the two."""
    made = render(_object("AppWrapper", variant), WHO, CONFIG).object
    (workload,) = _admitted(server, made)
    assert sorted(map(str, _theirs(workload).values())) == sorted(map(str, _ours(made).values()))


@pytest.mark.parametrize("variant", ["plain", "odd"])
def test_a_replica_of_a_leader_worker_set_is_a_part_of_ours(server: Cluster, variant: str) -> None:
    made = render(_object("LeaderWorkerSet", variant), WHO, CONFIG).object
    made["spec"]["rolloutStrategy"] = {"type": "RollingUpdate"}  # Its own webhook would fill it in.
    found, ours = _admitted(server, made, 2), _by_shape(_ours(made))
    for workload in found:
        # Where leader and workers ask for the same they are one pod set of ours, and two of theirs.
        assert _by_shape(_theirs(workload)) == {each: count // 2 for each, count in ours.items()}


@pytest.mark.parametrize("kind", SPARK)
def test_kueue_counts_spark_without_overhead_which_is_said(server: Cluster, kind: str) -> None:
    """Cores and executors it counts as they are, since rendering spells them out; memory it counts without overhead."""
    obj = _object(kind, "plain")
    inner = obj["spec"].get("template", obj["spec"])
    inner["executor"] = {"cores": 2, "memory": "512m"}  # Without instances, of which Spark then starts two.
    done = render(obj, WHO, CONFIG)
    made = what_it_makes(done.object)
    (workload,) = _admitted(server, made)
    theirs, ours = _theirs(workload), _ours(made)
    for name, (count, each) in ours.items():
        assert theirs[name][0] == count
        assert theirs[name][1].of("cpu") == each.of("cpu")
        assert theirs[name][1].quantities()["memory"] == "512Mi"
        assert any(note.about.endswith(f"{name}.memory") for note in done.notes)


@pytest.mark.parametrize("variant", ["plain", "odd"])
@pytest.mark.parametrize("kind", GROUPED)
def test_kueue_counts_the_pods_of_a_group_as_tidegate_does(server: Cluster, kind: str, variant: str) -> None:
    """All pods of the samples are of one shape, which is what Kueue takes them for where they come one by one."""
    rendered = render(_object(kind, variant), WHO, CONFIG).object
    for pod in all_pods_of(rendered):
        server.create(f"{path_of(pod)}?fieldValidation=Strict", pod)
    group = f"{KUEUE}/namespaces/team-a/workloads/{rendered['metadata']['name']}"
    workload = server.eventually(group, is_true("QuotaReserved")).json
    theirs = sum((each * count for count, each in _theirs(workload).values()), NOTHING)
    assert theirs == sum((each * count for count, each in _ours(rendered).values()), NOTHING)


@pytest.mark.parametrize("kind", BY_PODS)
def test_kueue_counts_pods_of_controllers_as_tidegate_does(server: Cluster, kind: str) -> None:
    made = render(_object(kind, "odd"), WHO, CONFIG).object
    label = {"app": made["metadata"]["name"]}
    made["spec"]["selector"]["matchLabels"] = label
    made["spec"]["template"]["metadata"]["labels"] |= label
    server.create(f"{path_of(made)}?fieldValidation=Strict", made)

    def mine(reply: Any) -> list[Json]:
        """Those that belong to the controller or to one of its pods, once they have their quota."""
        owners = {
            one["metadata"]["name"]: {owner["name"] for owner in one["metadata"].get("ownerReferences") or ()}
            for one in reply.json["items"]
            if has(one, "QuotaReserved")
        }
        named = [one for one, names in owners.items() if any(n.startswith(label["app"]) for n in names)]
        return [one for one in reply.json["items"] if one["metadata"]["name"] in named]

    found = mine(server.eventually(f"{KUEUE}/namespaces/team-a/workloads", lambda reply: bool(mine(reply))))
    ((_, each),) = _ours(made).values()
    assert {str(one) for workload in found for _, one in _theirs(workload).values()} == {str(each)}
