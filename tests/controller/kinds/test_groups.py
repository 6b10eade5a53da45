"""A LeaderWorkerSet runs in whole groups: floors, growth and what is taken back are groups, never a part of one."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.controller.house import House
from tests.controller.kinds.played import pods_for
from tests.controller.kinds.serving import resource_of, serve
from tests.harness import Cluster
from tidegate.controller.applications.groups import groups_of
from tidegate.kube import resources as r
from tidegate.kube.wire import Object
from tidegate.model.jobs import builtin
from tidegate.scheduler import PodSet as SeenPodSet
from tidegate.scheduler import Workload as SeenWorkload
from tidegate.workloads import POD_SET, describe, hold_pods

Json = Any
HEAD = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}
ENTRY = builtin().of(HEAD)
SETS = resource_of(ENTRY)
INDEX = "leaderworkerset.sigs.k8s.io/group-index"


def template(cpu: int) -> Json:
    container = {"name": "main", "image": "host", "resources": {"requests": {"cpu": str(cpu)}}}
    return {"spec": {"containers": [container]}}


def worker_set(replicas: int, size: int, *, least: int | None = None, leader: int | None = 1) -> Json:
    """Workers of one cpu each; the leader's own template says how many it has, None: it has none."""
    meta: Json = {"name": "app"} | ({} if least is None else {"annotations": {"tidegate.dev/min-count": str(least)}})
    pods = {"size": size, "workerTemplate": template(1)} | (
        {} if leader is None else {"leaderTemplate": template(leader)}
    )
    return {**HEAD, "metadata": meta, "spec": {"replicas": replicas, "leaderWorkerTemplate": pods}}


@given(st.integers(1, 5), st.integers(2, 5), st.none() | st.integers(0, 30), st.sampled_from([None, 1, 2]))
def test_what_is_asked_for_is_whole_groups(replicas: int, size: int, least: int | None, leader: int | None) -> None:
    sets = describe(ENTRY, worker_set(replicas, size, least=least, leader=leader)).spec.pod_sets
    each = [size] if leader != 2 else [1, size - 1]
    assert [one.step for one in sets] == each, "a group, or its part of one where its pods are not alike"
    assert [one.count for one in sets] == [replicas * pods for pods in each]
    floors = {one.floor / one.step for one in sets}
    assert len(floors) == 1
    floor = floors.pop()
    assert floor == int(floor)
    if least is None:
        assert floor == replicas
    else:
        of_workers = size if leader is None else size - 1
        assert floor == min(replicas, -(-min(least, replicas * of_workers) // of_workers))


def test_pods_say_which_set_they_are_counted_in() -> None:
    for leader, wanted in ((1, {"worker": 6}), (2, {"leader": 2, "worker": 4})):
        held = dict(hold_pods(ENTRY, worker_set(2, 3, leader=leader), "w", {}))
        held["metadata"] = {**held["metadata"], "uid": "1"}
        assert Counter(pod["metadata"]["annotations"][POD_SET] for pod in pods_for(ENTRY, held)) == wanted


@given(st.integers(0, 4), st.integers(0, 12), st.sets(st.integers(0, 3)))
def test_a_group_of_which_a_part_is_granted_does_not_run(leaders: int, workers: int, running: set[int]) -> None:
    """Leader and workers are not alike, so each is granted by itself: what is granted of a part waits for the rest."""
    obj = worker_set(4, 4, leader=2)
    groups = groups_of(ENTRY, obj, kinds=builtin())
    assert groups is not None
    pods = [pod(group, member, gated=group not in running) for group in range(4) for member in range(4)]
    sets = tuple(
        SeenPodSet(name=name, count=count, floor=0, step=step, granted={"default": granted})
        for name, count, step, granted in (("leader", 4, 1, leaders), ("worker", 12, 3, workers))
    )
    seen = SeenWorkload(name="a/w", queue="a/q", created=0, pod_sets=sets)
    stay = {each["metadata"]["labels"][INDEX] for each in groups.not_whole(seen, pods)}
    run = {"0", "1", "2", "3"} - stay
    assert len(run) == min(leaders, workers // 3)
    assert len(groups.not_whole(seen, pods)) == 4 * len(stay)
    assert len(run & set(map(str, running))) == min(len(run), len(running)), "those that run go on before others start"


def pod(group: int, member: int, *, gated: bool) -> Object:
    gates = [{"name": "tidegate.dev/quota"}] if gated else []
    meta = {"name": f"app-{group}-{member}", "labels": {INDEX: str(group)}}
    return {"metadata": meta, "spec": {"schedulingGates": gates, "containers": []}}


async def test_whole_groups_run_grow_and_give_way(cluster: Cluster, house: House) -> None:
    """Groups of three: with room for seven pods six run, with room for five three do."""
    await serve(house, ENTRY, real=cluster.name == "real")
    await house.quota({"cpu": {"nominalQuota": "7"}})
    await house.client.create(SETS, worker_set(3, 3, least=2), house.namespace)
    await runs(house, {"0": 3, "1": 3})
    await house.state("leaderworkerset-app", "Admitted", granted=6)
    await house.quota({"cpu": {"nominalQuota": "9"}})
    await runs(house, {"0": 3, "1": 3, "2": 3})
    await house.quota({"cpu": {"nominalQuota": "5"}})
    await house.state("leaderworkerset-app", "Admitted", granted=3)
    found = await runs(house, None, groups=1)
    assert set(found.values()) == {3}


async def runs(house: House, wanted: dict[str, int] | None, *, groups: int = 0) -> dict[str, int]:
    """Pods that are free to run, by group, once they are as wanted; the set's own operator is played meanwhile."""

    async def free() -> dict[str, int] | None:
        app = await house.get(SETS, "app")
        there = await house.list(r.PODS)
        names = {each["metadata"]["name"] for each in there}
        if "tidegate.dev/workload" in (app["metadata"].get("annotations") or {}):
            for each in pods_for(ENTRY, app):
                if each["metadata"]["name"] not in names:
                    await house.client.create(r.PODS, each, house.namespace)
        counted = Counter(
            each["metadata"]["labels"][INDEX] for each in there if not each["spec"].get("schedulingGates")
        )
        return dict(counted) if (counted == wanted if wanted is not None else len(counted) == groups) else None

    found: dict[str, int] = await house.until(free)
    return found
