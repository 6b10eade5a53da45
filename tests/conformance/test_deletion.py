"""Deletion: finalizers, grace, preconditions, owners, namespaces."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.objects import CRDS, MERGE, apps, config_map, core, definition, owner, pod
from tests.harness import Cluster

Json = Any


def gone(reply: Any) -> bool:
    return bool(reply.status == 404)


def test_a_finalizer_holds_an_object_until_it_is_removed(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    held = config_map("a")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.create(path, held)
    reply = cluster.http("DELETE", f"{path}/a")
    assert reply.status == 200
    assert "deletionTimestamp" in reply.json["metadata"]
    added = cluster.http("PATCH", f"{path}/a", {"metadata": {"finalizers": ["example.com/hold", "b.c/d"]}}, MERGE)
    assert (added.status, added.reason) == (422, "Invalid")
    cluster.http("PATCH", f"{path}/a", {"metadata": {"finalizers": None}}, MERGE)
    assert cluster.http("GET", f"{path}/a").status == 404


def test_preconditions_protect_against_deleting_another(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    made = cluster.create(path, config_map("a"))["metadata"]
    for wrong in ({"uid": "other"}, {"resourceVersion": "1"}):
        reply = cluster.http("DELETE", f"{path}/a", {"preconditions": wrong})
        assert (reply.status, reply.reason) == (409, "Conflict")
    right = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    assert cluster.http("DELETE", f"{path}/a", {"preconditions": right}).status == 200


def test_a_bound_pod_gets_its_grace_and_an_unbound_one_goes_at_once(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "pods")
    cluster.create(path, pod("unbound"))
    cluster.http("DELETE", f"{path}/unbound")
    assert cluster.http("GET", f"{path}/unbound").status == 404
    cluster.create(path, pod("bound", nodeName="elsewhere", terminationGracePeriodSeconds=300))
    going = cluster.http("DELETE", f"{path}/bound").json["metadata"]
    assert going["deletionGracePeriodSeconds"] == 300
    assert cluster.http("DELETE", f"{path}/bound", {"gracePeriodSeconds": 100}).status == 200
    assert cluster.get(f"{path}/bound")["metadata"]["deletionGracePeriodSeconds"] == 100
    cluster.http("DELETE", f"{path}/bound", {"gracePeriodSeconds": 0})
    cluster.eventually(f"{path}/bound", gone)


@pytest.fixture
def family(cluster: Cluster, namespace: str) -> str:
    """A config map that owns another, which owns a third; the path of their collection."""
    path = core(namespace, "configmaps")
    above = cluster.create(path, config_map("grandparent"))
    for name in ("parent", "child"):
        made = config_map(name)
        made["metadata"]["ownerReferences"] = [owner(above, blockOwnerDeletion=True)]
        above = cluster.create(path, made)
    return path


def test_background_deletion_takes_the_owned_afterwards(cluster: Cluster, family: str) -> None:
    assert cluster.http("DELETE", f"{family}/grandparent", {"propagationPolicy": "Background"}).status == 200
    assert cluster.http("GET", f"{family}/grandparent").status == 404
    cluster.eventually(f"{family}/child", gone)
    cluster.eventually(f"{family}/parent", gone)


def test_foreground_deletion_takes_the_owned_first(cluster: Cluster, family: str) -> None:
    going = cluster.http("DELETE", f"{family}/grandparent", {"propagationPolicy": "Foreground"}).json
    assert going["metadata"]["finalizers"] == ["foregroundDeletion"]
    cluster.eventually(f"{family}/grandparent", gone)
    assert cluster.http("GET", f"{family}/child").status == 404


def test_orphans_stay_and_forget_their_owner(cluster: Cluster, family: str) -> None:
    going = cluster.http("DELETE", f"{family}/grandparent", {"propagationPolicy": "Orphan"}).json
    assert going["metadata"]["finalizers"] == ["orphan"]
    cluster.eventually(f"{family}/grandparent", gone)
    assert "ownerReferences" not in cluster.get(f"{family}/parent")["metadata"]
    assert cluster.get(f"{family}/child")["metadata"]["ownerReferences"][0]["name"] == "parent"


def test_a_child_whose_owner_never_was_is_collected(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    ghost = {"kind": "ConfigMap", "metadata": {"name": "ghost", "uid": "00000000-0000-0000-0000-000000000001"}}
    child = config_map("child")
    child["metadata"]["ownerReferences"] = [owner(ghost)]
    cluster.create(path, child)
    cluster.eventually(f"{path}/child", gone)


def test_a_child_with_a_second_living_owner_stays(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    one, two = (cluster.create(path, config_map(name)) for name in ("one", "two"))
    child = config_map("child")
    child["metadata"]["ownerReferences"] = [owner(one), owner(two)]
    cluster.create(path, child)
    cluster.http("DELETE", f"{path}/one")
    left = cluster.eventually(f"{path}/child", lambda reply: len(reply.json["metadata"]["ownerReferences"]) == 1)
    assert left.json["metadata"]["ownerReferences"][0]["name"] == "two"


def test_custom_objects_own_and_are_owned(cluster: Cluster, namespace: str) -> None:
    group = f"{namespace}.example.com"
    cluster.create(CRDS, definition(group))
    path = f"/apis/{group}/v1/namespaces/{namespace}/widgets"
    cluster.eventually(path, lambda reply: reply.status == 200)
    kind = {"apiVersion": f"{group}/v1", "kind": "Widget"}
    boss = cluster.create(path, {**kind, "metadata": {"name": "boss"}})
    child = config_map("child")
    child["metadata"]["ownerReferences"] = [owner(boss, controller=True)]
    cluster.create(core(namespace, "configmaps"), child)
    cluster.http("DELETE", f"{path}/boss")
    cluster.eventually(core(namespace, "configmaps/child"), gone, timeout_s=60)


def test_deleting_a_deployment_takes_its_replica_sets(cluster: Cluster, namespace: str) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m", "image": "host"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    cluster.create(apps(namespace, "deployments"), {"metadata": {"name": "d"}, "spec": spec})
    sets = apps(namespace, "replicasets")
    cluster.eventually(sets, lambda reply: len(reply.json["items"]) == 1)
    cluster.http("DELETE", apps(namespace, "deployments/d"), {"propagationPolicy": "Background"})
    cluster.eventually(sets, lambda reply: not reply.json["items"])


def test_a_namespace_goes_with_everything_in_it(cluster: Cluster) -> None:
    """It refuses new objects while it goes, waits for finalizers, and then is gone."""
    name = cluster.namespace()
    path = core(name, "configmaps")
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.create(path, held)
    cluster.create(core(name, "secrets"), {"metadata": {"name": "s"}})
    going = cluster.http("DELETE", f"/api/v1/namespaces/{name}")
    assert going.json["status"]["phase"] == "Terminating"
    late = cluster.http("POST", path, config_map("late"))
    assert (late.status, late.reason) == (403, "Forbidden")
    assert late.json["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    cluster.eventually(core(name, "secrets/s"), gone)
    assert cluster.http("GET", f"{path}/held").status == 200
    cluster.http("PATCH", f"{path}/held", {"metadata": {"finalizers": None}}, MERGE)
    cluster.eventually(f"/api/v1/namespaces/{name}", gone, timeout_s=60)
