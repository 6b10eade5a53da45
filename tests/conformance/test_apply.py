"""Server-side apply, managed fields, and the patches that know lists."""

from __future__ import annotations

from typing import Any

from tests.conformance.objects import APPLY, JSON_PATCH, MERGE, STRATEGIC, apps, core
from tests.harness import Cluster, Reply

Json = Any


def apply(cluster: Cluster, path: str, body: Json, *, manager: str, force: bool = False) -> Reply:
    return cluster.http("PATCH", f"{path}?fieldManager={manager}&force={str(force).lower()}", body, APPLY)


def settings(**data: str) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": data}


def deployment(**container: Json) -> Json:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "main", **container}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": "d"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def test_apply_creates_then_removes_what_its_manager_no_longer_says(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps/cm")
    assert apply(cluster, path, settings(a="1", b="1"), manager="one").status == 201
    again = apply(cluster, path, settings(a="1"), manager="one")
    assert (again.status, again.json["data"]) == (200, {"a": "1"})


def test_what_two_managers_own_stays_until_both_let_go(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps/cm")
    apply(cluster, path, settings(a="1"), manager="one")
    apply(cluster, path, settings(a="1", b="2"), manager="two")
    assert apply(cluster, path, settings(), manager="one").json["data"] == {"a": "1", "b": "2"}
    assert "data" not in apply(cluster, path, settings(), manager="two").json


def test_another_managers_value_is_a_conflict_that_names_it(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps/cm")
    apply(cluster, path, settings(a="1"), manager="one")
    reply = apply(cluster, path, settings(a="2"), manager="two")
    assert (reply.status, reply.reason) == (409, "Conflict")
    (cause,) = reply.json["details"]["causes"]
    assert cause["reason"] == "FieldManagerConflict"
    assert cause["field"] == ".data.a"
    assert '"one"' in cause["message"]
    forced = apply(cluster, path, settings(a="2"), manager="two", force=True)
    assert forced.json["data"] == {"a": "2"}
    owners = {entry["manager"]: entry["fieldsV1"] for entry in forced.json["metadata"]["managedFields"]}
    assert "f:a" in owners["two"]["f:data"]
    assert "f:a" not in owners.get("one", {}).get("f:data", {})


def test_an_ordinary_update_takes_ownership(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps/cm")
    apply(cluster, path, settings(a="1"), manager="one")
    cluster.http("PATCH", f"{path}?fieldManager=editor", {"data": {"a": "2"}}, MERGE)
    reply = apply(cluster, path, settings(a="1"), manager="one")
    assert (reply.status, reply.reason) == (409, "Conflict")


def test_lists_with_keys_are_merged_item_by_item(cluster: Cluster, namespace: str) -> None:
    path = apps(namespace, "deployments/d")
    apply(cluster, path, deployment(image="host", env=[{"name": "A", "value": "1"}]), manager="one")
    body = deployment(env=[{"name": "B", "value": "2"}])
    del body["spec"]["replicas"], body["spec"]["selector"], body["spec"]["template"]["metadata"]
    merged = apply(cluster, path, body, manager="two").json
    (container,) = merged["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "host"
    assert {item["name"] for item in container["env"]} == {"A", "B"}


def test_applying_twice_changes_nothing(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps/cm")
    first = apply(cluster, path, settings(a="1"), manager="one").json
    assert apply(cluster, path, settings(a="1"), manager="one").json == first


def test_strategic_patches_merge_containers_by_name(cluster: Cluster, namespace: str) -> None:
    path = apps(namespace, "deployments")
    cluster.create(path, deployment(image="host", env=[{"name": "A", "value": "1"}]))

    def patched(container: Json, content_type: dict[str, str]) -> Json:
        body = {"spec": {"template": {"spec": {"containers": [container]}}}}
        return cluster.http("PATCH", f"{path}/d", body, content_type).json["spec"]["template"]["spec"]["containers"]

    (main,) = patched({"name": "main", "env": [{"name": "B", "value": "2"}]}, STRATEGIC)
    assert {item["name"]: item["value"] for item in main["env"]} == {"A": "1", "B": "2"}
    (main,) = patched({"name": "main", "env": [{"$patch": "replace"}, {"name": "C", "value": "3"}]}, STRATEGIC)
    assert main["env"] == [{"name": "C", "value": "3"}]
    assert {one["name"] for one in patched({"name": "side", "image": "host"}, STRATEGIC)} == {"main", "side"}
    assert [one["name"] for one in patched({"name": "side", "$patch": "delete"}, STRATEGIC)] == ["main"]
    assert [one["name"] for one in patched({"name": "only", "image": "host"}, MERGE)] == ["only"]


def test_every_patch_type_changes_the_same_field(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    cluster.create(path, {"metadata": {"name": "cm"}, "data": {"n": "0"}})
    for number, (body, kind) in enumerate(
        [
            ({"data": {"n": "1"}}, MERGE),
            ({"data": {"n": "2"}}, STRATEGIC),
            ([{"op": "replace", "path": "/data/n", "value": "3"}], JSON_PATCH),
        ],
        start=1,
    ):
        assert cluster.http("PATCH", f"{path}/cm", body, kind).json["data"] == {"n": str(number)}
    assert apply(cluster, f"{path}/cm", settings(n="4"), manager="one", force=True).json["data"] == {"n": "4"}
