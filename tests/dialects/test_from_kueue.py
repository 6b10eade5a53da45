"""Kueue's objects as people write them, in both versions of its API."""

from __future__ import annotations

from typing import Any

import pytest

from tidegate.dialects import DialectError
from tidegate.dialects.queues import from_kueue
from tidegate.model.problems import ManifestError

Json = Any


def _object(kind: str, name: str, version: str = "v1beta1", **spec: Json) -> Json:
    return {"apiVersion": f"kueue.x-k8s.io/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _quota(nominal: str, **more: str) -> list[Json]:
    resource = {"name": "cpu", "nominalQuota": nominal, **more}
    return [{"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [resource]}]}]


def _converted(*objects: Json) -> tuple[dict[str, Json], str]:
    done = from_kueue(objects)
    by_name = {f"{obj['kind']} {obj['metadata']['name']}": obj.get("spec", obj) for obj in done.objects}
    return by_name, "\n".join(map(str, done.notes))


def test_a_cohort_that_is_only_named_becomes_a_parent() -> None:
    one = _object(
        "ClusterQueue", "one", cohort="all", resourceGroups=_quota("9", borrowingLimit="3"), namespaceSelector={}
    )
    two = _object("ClusterQueue", "two", "v1beta2", cohortName="all", resourceGroups=_quota("3"))
    door = {**_object("LocalQueue", "q", clusterQueue="one"), "metadata": {"name": "q", "namespace": "n"}}
    got, notes = _converted(one, two, door)
    assert "quotas" not in got["ClusterQueue all"] or got["ClusterQueue all"]["quotas"] == []
    assert got["ClusterQueue one"]["parent"] == "all"
    assert got["ClusterQueue one"]["quotas"] == [
        {"flavor": "default", "resources": {"cpu": {"nominalQuota": "9", "borrowingLimit": "3"}}}
    ]
    assert got["Queue q"] == {"clusterQueue": "one"}
    assert "namespaceSelector of two: none means nobody" in notes


def test_a_cohorts_quota_comes_on_top_of_its_members() -> None:
    cohort = _object("Cohort", "all", "v1beta2", resourceGroups=_quota("5"))
    one = _object("ClusterQueue", "one", "v1beta2", cohortName="all", resourceGroups=_quota("9"))
    got, _ = _converted(cohort, one)
    assert got["ClusterQueue all"]["quotas"][0]["resources"]["cpu"]["nominalQuota"] == "14"


def test_what_is_called_alike_is_kept_apart() -> None:
    cohort = _object("Cohort", "one", "v1beta2")
    queue = _object("ClusterQueue", "one", "v1beta2", cohortName="one", resourceGroups=_quota("9"))
    got, notes = _converted(cohort, queue)
    assert got["ClusterQueue one"]["parent"] == "one-cohort"
    assert "it became one-cohort" in notes


def test_weights_keep_their_proportions() -> None:
    queues = [
        _object("ClusterQueue", name, "v1beta2", cohortName="all", fairSharing={"weight": weight})
        for name, weight in (("a", "0.5"), ("b", "2"), ("c", 1))
    ]
    got, _ = _converted(*queues)
    assert [got[f"ClusterQueue {name}"].get("weight", 1) for name in "abc"] == [1, 4, 2]


def test_what_has_no_counterpart_is_said() -> None:
    queue = _object(
        "ClusterQueue",
        "one",
        flavorFungibility={"whenCanBorrow": "TryNextFlavor"},
        admissionChecks=["check"],
        preemption={"borrowWithinCohort": {"policy": "LowerPriority"}, "reclaimWithinCohort": "Any"},
        fairSharing={"weight": 0},
    )
    flavor = _object("ResourceFlavor", "f", nodeTaints=[{"key": "k", "effect": "NoSchedule"}], nodeLabels={"a": "b"})
    priority = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
        "description": "soon",
    }
    got, notes = _converted(queue, flavor, priority, _object("Topology", "t"), {"kind": "Pod", "apiVersion": "v1"})
    for word in ("flavorFungibility", "admissionChecks", "borrowWithinCohort", "nodeTaints", "Topology", "Pod"):
        assert word in notes
    assert got["PriorityClass high"]["value"] == 100
    assert got["ResourceFlavor f"] == {"nodeLabels": {"a": "b"}}


@pytest.mark.parametrize(
    "objects",
    [
        [_object("LocalQueue", "q")],
        [_object("Cohort", "a", parentName="b"), _object("Cohort", "b", parentName="a", resourceGroups=_quota("1"))],
        [_object("ClusterQueue", "")],
        [_object("ClusterQueue", "a", resourceGroups=_quota("many"))],
    ],
)
def test_what_cannot_be_read_is_refused(objects: list[Json]) -> None:
    with pytest.raises((DialectError, ManifestError, ValueError)):
        from_kueue(objects)
