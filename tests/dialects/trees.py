"""Queue trees, drawn at random and drawn to be difficult."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = Any
# What Kubernetes takes for an amount and other schedulers have no notation for, or no room.
ODD = st.sampled_from(["0", "0.1Gi", "1500m", "2.5", "1e3", "100n", "333u", "12E", "7Ei", "1Ki", "0.5"])
NAMES = st.sampled_from(["a", "b", "q0", "node-0", "node-1", "a-b", "b-q0", "v1.2", "a-node-0"])
FLAVORS, RESOURCES = ["default", "a100", "spot"], ["cpu", "memory", "nvidia.com/gpu"]


def _amount(resource: str) -> st.SearchStrategy[str]:
    unit = {"memory": "Gi"}.get(resource, "")
    return st.integers(0, 64).map(lambda number: f"{number}{unit}")


@st.composite
def quotas(draw: st.DrawFn) -> list[Json]:
    listed = []
    for flavor in draw(st.lists(st.sampled_from(FLAVORS), unique=True, max_size=3)):
        resources: Json = {}
        for name in draw(st.lists(st.sampled_from(RESOURCES), unique=True, min_size=1, max_size=3)):
            quota = {"nominalQuota": draw(_amount(name))}
            for limit in draw(st.lists(st.sampled_from(["borrowingLimit", "lendingLimit"]), unique=True)):
                quota[limit] = draw(_amount(name))
            # Kueue takes no lending limit above the quota, and Tidegate would not notice it.
            if _number(quota.get("lendingLimit", "0")) > _number(quota["nominalQuota"]):
                quota["lendingLimit"] = quota["nominalQuota"]
            resources[name] = quota
        listed.append({"flavor": flavor, "resources": resources})
    return listed


def _number(text: str) -> int:
    return int(text.removesuffix("Gi"))


@st.composite
def queue_objects(draw: st.DrawFn) -> list[Json]:
    """Up to six nodes under any of those before them, and up to four doors."""
    objects: list[Json] = []
    names = [f"node-{index}" for index in range(draw(st.integers(1, 6)))]
    for index, name in enumerate(names):
        spec: Json = {"quotas": draw(quotas()), "weight": draw(st.integers(1, 5))}
        if index and draw(st.booleans()):
            spec["parent"] = draw(st.sampled_from(names[:index]))
        spec["ordering"] = draw(st.sampled_from(["BestEffort", "Strict"]))
        spec["preemption"] = {
            "withinQueue": draw(st.sampled_from(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])),
            "acrossQueues": draw(st.sampled_from(["Never", "LowerPriority", "FairShare"])),
        }
        objects.append({"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec})
    for index in range(draw(st.integers(0, 4))):
        spec = {"clusterQueue": draw(st.sampled_from(names)), "weight": draw(st.integers(1, 3))}
        metadata = {"namespace": draw(st.sampled_from(["a", "b"])), "name": f"q{index % 3}"}
        if metadata not in [one["metadata"] for one in objects]:
            objects.append({"kind": "Queue", "metadata": metadata, "spec": spec})
    return objects


@st.composite
def odd_objects(draw: st.DrawFn) -> list[Json]:
    """Trees with amounts that others cannot write, with doors called like nodes, and with limits and submitters."""
    objects = draw(queue_objects())
    for obj in objects:
        if obj["kind"] == "ClusterQueue":
            for quotas in obj["spec"]["quotas"]:
                for quota in quotas["resources"].values():
                    quota |= {key: draw(ODD) for key in quota if key != "lendingLimit"}
            if draw(st.booleans()):
                obj["spec"]["submitters"] = {"users": draw(st.lists(st.sampled_from(["anna", "bo"]), unique=True))}
                obj["spec"]["submitters"]["groups"] = draw(st.lists(st.sampled_from(["g1", "g2"]), unique=True))
        elif draw(st.booleans()):
            obj["metadata"]["name"] = draw(NAMES)
            obj["spec"]["limits"] = {draw(st.sampled_from(["cpu", "memory"])): draw(ODD)}
    doors: Json = {(obj["metadata"].get("namespace"), obj["metadata"]["name"]): obj for obj in objects}
    return list(doors.values())


COMPANY: list[Json] = [
    {"kind": "ResourceFlavor", "metadata": {"name": "a100"}, "spec": {"nodeLabels": {"gpu": "a100"}}},
    {
        "kind": "ClusterQueue",
        "metadata": {"name": "company"},
        "spec": {
            "quotas": [
                {"flavor": "default", "resources": {"cpu": {"nominalQuota": "40"}, "memory": {"nominalQuota": "160Gi"}}}
            ]
        },
    },
    {
        "kind": "ClusterQueue",
        "metadata": {"name": "research"},
        "spec": {
            "parent": "company",
            "weight": 2,
            "quotas": [{"flavor": "default", "resources": {"cpu": {"nominalQuota": "16", "borrowingLimit": "8"}}}],
        },
    },
    {"kind": "ClusterQueue", "metadata": {"name": "lab"}, "spec": {"parent": "research"}},
    {"kind": "Queue", "metadata": {"namespace": "a", "name": "ray"}, "spec": {"clusterQueue": "research"}},
    {"kind": "Queue", "metadata": {"namespace": "lab", "name": "default"}, "spec": {"clusterQueue": "lab"}},
]
"""A company, a department with doors of its own and a lab below it."""
