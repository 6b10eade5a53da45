"""The CRDs: current, and in force on the real API server and on the embedded one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from tests.harness import Cluster
from tests.model.manifests import GOOD, WRONG, Wrong, good, wrong
from tests.model.strategies import objects
from tidegate.model.codec import decode, encode, read
from tidegate.model.kinds import API_VERSION, KINDS, SERVED, Kind
from tidegate.model.problems import ManifestError

Json = Any
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
MERGE = {"Content-Type": "application/merge-patch+json"}
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
FILES = sorted((Path(__file__).parents[2] / "deploy/crds").glob("*.yaml"))
CONTRACT = yaml.safe_load_all((Path(__file__).parent / "contract.yaml").read_text())
EXAMPLES = [manifest for manifest in CONTRACT if manifest["kind"] != "Scenario"]
PARTS = ("spec", "status", "data", "value", "blob")


@pytest.fixture
def installed(cluster: Cluster) -> Cluster:
    """A server that has all our kinds."""
    there = {item["metadata"]["name"] for item in cluster.get(CRDS)["items"]}
    for file in FILES:
        definition = yaml.safe_load(file.read_text())
        name = definition["metadata"]["name"]
        if name not in there:
            cluster.create(CRDS, definition)
            cluster.eventually(f"{CRDS}/{name}", lambda reply: _is_established(reply.json))
            cluster.eventually(f"/apis/{API_VERSION}/{name.split('.')[0]}", lambda reply: reply.status == 200)
    return cluster


def _is_established(definition: Json) -> bool:
    conditions = {one["type"]: one for one in definition.get("status", {}).get("conditions") or ()}
    assert "NonStructuralSchema" not in conditions, conditions
    return conditions.get("Established", {}).get("status") == "True"


def collection(kind: str, namespace: str = "default") -> str:
    definition = KINDS[kind].definition
    where = f"namespaces/{namespace}/" if definition.namespaced else ""
    return f"/apis/{API_VERSION}/{where}{definition.plural}"


def sent(manifest: Json) -> Json:
    return {"apiVersion": API_VERSION} | manifest


@pytest.mark.parametrize("kind", GOOD)
def test_a_good_object_is_kept_and_read_back(installed: Cluster, kind: str) -> None:
    path = collection(kind)
    made = installed.http("POST", f"{path}?fieldValidation=Strict&dryRun=All", sent(good(kind)))
    assert made.status == 201, made.body
    back = read(KINDS[kind], made.json)
    assert getattr(back, "spec", None) == getattr(read(KINDS[kind], good(kind)), "spec", None)


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_a_bad_object_is_refused_with_its_field(installed: Cluster, case: Wrong) -> None:
    reply = installed.http("POST", f"{collection(case.kind)}?dryRun=All", sent(wrong(case)))
    assert (reply.status, reply.reason) == (422, "Invalid"), reply.body
    fields = [cause["field"] for cause in reply.json["details"]["causes"]]
    assert any(field.startswith(case.named) for field in fields), fields


@pytest.mark.parametrize("manifest", EXAMPLES, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_examples_of_the_contract_are_kept(installed: Cluster, namespace: str, manifest: Json) -> None:
    kind, name = manifest["kind"], manifest["metadata"]["name"]
    path = collection(kind, namespace)
    reply = installed.http("POST", f"{path}?fieldValidation=Strict", sent(manifest | {"metadata": {"name": name}}))
    assert reply.status == 201, reply.body
    try:
        if "status" in manifest:
            body = {"status": manifest["status"]}
            reply = installed.http("PATCH", f"{path}/{name}/status?fieldValidation=Strict", body, MERGE)
            assert reply.status == 200, reply.body
        expected, kept = decode(manifest), read(KINDS[kind], reply.json)
        assert [getattr(kept, part, None) for part in PARTS] == [getattr(expected, part, None) for part in PARTS]
    finally:
        installed.http("DELETE", f"{path}/{name}")


@pytest.mark.parametrize("kind", SERVED, ids=lambda kind: kind.__name__)
def test_the_codec_and_the_server_agree_on_what_is_right(installed: Cluster, kind: type[Kind]) -> None:
    """Rules are written twice, in CEL and in Python; random objects, right and wrong, must find no difference."""
    path = f"{collection(kind.__name__)}?dryRun=All"

    @settings(max_examples=25, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(objects(kind))
    def agree(value: Kind) -> None:
        manifest = encode(value) | {"metadata": {"name": "good"}}
        manifest.pop("status", None)  # A server drops it unread when an object is created.
        reply = installed.http("POST", path, manifest)
        assert (reply.status == 422) == bool(refusal(manifest)), (reply.body, refusal(manifest))

    agree()


def refusal(manifest: Json) -> str:
    try:
        decode(manifest)
    except ManifestError as error:
        return str(error)
    return ""


def test_what_is_left_out_is_filled_in(installed: Cluster, namespace: str) -> None:
    queue = installed.create(
        collection("Queue", namespace),
        {"apiVersion": API_VERSION, "kind": "Queue", "metadata": {"name": "default"}},
    )
    assert queue["spec"] == {"clusterQueue": "root", "weight": 1}
    path = f"{collection('ClusterQueue')}?dryRun=All"
    cluster_queue = installed.create(path, sent({"kind": "ClusterQueue", "metadata": {"name": "research"}}))
    assert cluster_queue["spec"] == {
        "weight": 1,
        "ordering": "BestEffort",
        "patience": "1h",
        "preemption": {"withinQueue": "Never", "acrossQueues": "FairShare"},
        "policy": "drf",
        "stop": "None",
    }


def test_a_workload_keeps_its_owner(installed: Cluster, namespace: str) -> None:
    path = collection("Workload", namespace)
    installed.create(path, sent(good("Workload", "w")))
    for owner in ({"name": "other"}, {"uid": "2"}, {"uid": None}, None):
        reply = installed.http("PATCH", f"{path}/w", {"spec": {"owner": owner}}, MERGE)
        assert reply.status == 422, owner
        assert "owner" in reply.json["message"]
    grown = {"spec": {"podSets": [{"name": "executor", "count": 12}]}}
    assert installed.http("PATCH", f"{path}/w", grown, MERGE).status == 200


def test_an_owner_gets_its_uid_once_it_has_one(installed: Cluster, namespace: str) -> None:
    path = collection("Workload", namespace)
    early = good("Workload", "early")
    del early["spec"]["owner"]["uid"]
    installed.create(path, sent(early))
    assert installed.http("PATCH", f"{path}/early", {"spec": {"owner": {"uid": "7"}}}, MERGE).status == 200


@pytest.mark.parametrize(
    ("content", "change"),
    [
        ({"data": {"a": "1"}}, {"data": {"a": "2"}}),
        ({"data": {"a": "1"}}, {"data": {"b": "2"}}),
        ({"data": {"a": "1"}}, {"data": None, "value": 3}),
        ({"value": 3}, {"value": None, "data": {"a": "1"}}),
        ({"value": 3}, {"value": 4}),
        ({"value": {"a": [1]}}, {"value": {"a": [2]}}),
        ({"value": {"a": 1}}, {"value": {"b": 1}}),
        ({"value": None}, {"value": 1}),
        ({"blob": {"encoding": "raw", "bytes": "AAAA"}}, {"blob": {"bytes": "AAAB"}}),
        ({"blob": {"encoding": "raw", "bytes": "AAAA"}}, {"blob": {"bytes": None, "ref": "store://x"}}),
    ],
)
def test_a_task_object_does_not_change(installed: Cluster, namespace: str, content: Json, change: Json) -> None:
    path = collection("TaskObject", namespace)
    installed.create(path, sent({"kind": "TaskObject", "metadata": {"name": "o"}} | content))
    assert installed.http("PATCH", f"{path}/o", change, MERGE).status == 422
    label = {"metadata": {"labels": {"a": "b"}}}
    assert installed.http("PATCH", f"{path}/o", label, MERGE).status == 200


@pytest.mark.parametrize("value", [0, 1.5, "text", True, None, [1, "a", None], {"any": {"json": [1]}}], ids=repr)
def test_a_task_object_holds_any_json(installed: Cluster, namespace: str, value: Json) -> None:
    path = collection("TaskObject", namespace)
    made = installed.create(path, sent({"kind": "TaskObject", "metadata": {"name": "any"}, "value": value}))
    assert made["value"] == value


def test_counts_by_flavor_add_up_to_what_is_granted(installed: Cluster, namespace: str) -> None:
    path = collection("Workload", namespace)
    installed.create(path, sent(good("Workload", "g")))
    status = {"podSets": [{"name": "executor", "granted": 4, "flavors": {"default": 3}, "running": 3}]}
    reply = installed.http("PATCH", f"{path}/g/status", {"status": status}, MERGE)
    assert reply.status == 422
    assert "add up" in reply.json["message"]
    status["podSets"][0]["flavors"]["spot"] = 1
    assert installed.http("PATCH", f"{path}/g/status", {"status": status}, MERGE).status == 200


def test_a_task_cluster_scales(installed: Cluster, namespace: str) -> None:
    path = collection("TaskCluster", namespace)
    installed.create(path, sent({"kind": "TaskCluster", "metadata": {"name": "c"}}))
    assert installed.get(f"{path}/c/scale")["spec"] == {"replicas": 1}
    assert installed.http("PATCH", f"{path}/c/scale", {"spec": {"replicas": 3}}, MERGE).status == 200
    assert installed.get(f"{path}/c")["spec"]["replicas"] == 3


def test_tables_show_what_people_ask_for(installed: Cluster, namespace: str) -> None:
    path = collection("Workload", namespace)
    installed.create(path, sent(good("Workload", "w")))
    status = {"state": "Pending", "waiting": {"reason": "WaitingForQuota", "message": "needs 2 more cpu", "ahead": 3}}
    assert installed.http("PATCH", f"{path}/w/status", {"status": status}, MERGE).status == 200
    table = installed.http("GET", path, headers=TABLE).json
    shown = {
        column["name"]: cell for column, cell in zip(table["columnDefinitions"], table["rows"][0]["cells"], strict=True)
    }
    assert shown | {"Age": ""} == {
        "Name": "w",
        "Queue": "default",
        "Priority": -5,
        "State": "Pending",
        "Reason": "WaitingForQuota",
        "Ahead": 3,
        "Message": "needs 2 more cpu",
        "Age": "",
    }


def test_short_names_and_the_category_are_served(installed: Cluster) -> None:
    served = {one["name"]: one for one in installed.get(f"/apis/{API_VERSION}")["resources"]}
    assert served["workloads"]["shortNames"] == ["wl", "dynamicworkload"]
    kinds = {name: one for name, one in served.items() if "/" not in name}
    assert {tuple(one["categories"]) for one in kinds.values()} == {("tidegate",)}
    short = [name for one in kinds.values() for name in one.get("shortNames", ())]
    assert len(short) == len(set(short))
