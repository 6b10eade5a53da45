"""Create, read, update: what holds for every kind, and how HTTP carries it."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conformance.objects import JSON_PATCH, MERGE, STRATEGIC, batch, config_map, core, pod
from tests.harness import Cluster


def test_versions_grow_with_every_write_and_only_then(cluster: Cluster, namespace: str) -> None:
    """resourceVersions are comparable decimal numbers over all objects; a write that changes nothing makes none."""
    path = core(namespace, "configmaps")
    first = cluster.create(path, config_map("a", x="1"))
    second = cluster.create(path, config_map("b"))
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
    same = cluster.http("PUT", f"{path}/a", first).json
    assert same["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    changed = cluster.http("PATCH", f"{path}/a", {"data": {"x": "2"}}, MERGE).json
    assert int(changed["metadata"]["resourceVersion"]) > int(second["metadata"]["resourceVersion"])


def test_generation_counts_changes_of_spec_alone(cluster: Cluster, namespace: str) -> None:
    path = batch(namespace, "jobs")
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "host"}]}}
    cluster.create(path, {"metadata": {"name": "j"}, "spec": {"suspend": True, "template": template}})
    assert cluster.get(f"{path}/j")["metadata"]["generation"] == 1
    cluster.http("PATCH", f"{path}/j", {"metadata": {"labels": {"a": "b"}}}, MERGE)
    assert cluster.get(f"{path}/j")["metadata"]["generation"] == 1
    cluster.http("PATCH", f"{path}/j", {"spec": {"parallelism": 2}}, MERGE)
    assert cluster.get(f"{path}/j")["metadata"]["generation"] == 2


def test_a_stale_update_is_a_conflict(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    old = cluster.create(path, config_map("a", x="1"))
    cluster.http("PATCH", f"{path}/a", {"data": {"x": "2"}}, MERGE)
    reply = cluster.http("PUT", f"{path}/a", old | {"data": {"x": "3"}})
    assert (reply.status, reply.reason) == (409, "Conflict")
    assert cluster.get(f"{path}/a")["data"] == {"x": "2"}


def test_of_many_concurrent_updates_from_one_version_exactly_one_wins(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    start = cluster.create(path, config_map("a"))

    def update(number: int) -> int:
        try:
            return cluster.http("PUT", f"{path}/a", start | {"data": {"by": str(number)}}).status
        finally:
            cluster.close()

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(update, range(8)))
    assert codes == [200, *[409] * 7]


def test_concurrent_patches_of_different_keys_all_land(cluster: Cluster, namespace: str) -> None:
    """A patch without a version is retried by the server, never refused or lost."""
    path = core(namespace, "configmaps")
    cluster.create(path, config_map("a"))

    def patch(number: int) -> int:
        try:
            return cluster.http("PATCH", f"{path}/a", {"data": {f"k{number}": "v"}}, MERGE).status
        finally:
            cluster.close()

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(patch, range(20))) == {200}
    assert len(cluster.get(f"{path}/a")["data"]) == 20


def test_generated_names_are_unique_and_carry_the_prefix(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "secrets")
    made = {cluster.create(path, {"metadata": {"generateName": "n-"}})["metadata"]["name"] for _ in range(20)}
    assert len(made) == 20
    assert all(name.startswith("n-") and len(name) == 7 for name in made)


def test_dry_run_answers_as_if_and_leaves_no_trace(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    dry = cluster.http("POST", f"{path}?dryRun=All", config_map("a", x="1"))
    assert (dry.status, dry.json["data"]) == (201, {"x": "1"})
    assert cluster.http("GET", f"{path}/a").status == 404


@pytest.mark.parametrize(
    ("mode", "status", "warned"), [("Strict", 400, False), ("Warn", 201, True), ("Ignore", 201, False)]
)
def test_unknown_fields_are_refused_warned_of_or_ignored(
    cluster: Cluster, namespace: str, mode: str, status: int, warned: bool
) -> None:
    path = core(namespace, "pods")
    reply = cluster.http("POST", f"{path}?fieldValidation={mode}", pod("p", colour="blue"))
    assert reply.status == status
    assert ('unknown field "spec.colour"' in reply.headers.get("warning", "").replace("\\", "")) == warned


def test_status_and_spec_are_written_through_separate_doors(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "pods")
    cluster.create(path, pod("p"))
    cluster.http("PATCH", f"{path}/p", {"status": {"phase": "Failed"}}, MERGE)
    assert cluster.get(f"{path}/p")["status"]["phase"] == "Pending"
    body = {"status": {"phase": "Running"}, "spec": {"activeDeadlineSeconds": 5}}
    cluster.http("PATCH", f"{path}/p/status", body, STRATEGIC)
    seen = cluster.get(f"{path}/p")
    assert seen["status"]["phase"] == "Running"
    assert "activeDeadlineSeconds" not in seen["spec"]


def test_bodies_may_be_yaml_and_answers_too(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    yaml_type = {"Content-Type": "application/yaml"}
    assert cluster.http("POST", path, "metadata: {name: from-yaml}\ndata: {a: b}\n", yaml_type).status == 201
    reply = cluster.http("GET", f"{path}/from-yaml", headers={"Accept": "application/yaml"})
    assert reply.headers["content-type"] == "application/yaml"
    assert b"  a: b" in reply.body


def test_long_answers_are_compressed_when_asked(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    cluster.create(path, config_map("big", text="x" * 200_000))
    reply = cluster.http("GET", f"{path}/big", headers={"Accept-Encoding": "gzip"})
    assert reply.headers["content-encoding"] == "gzip"
    assert len(reply.body) < 20_000
    assert json.loads(gzip.decompress(reply.body))["metadata"]["name"] == "big"
    short = cluster.http("GET", f"{path}/kube-root-ca.crt", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in short.headers


def test_a_body_over_three_mebibytes_is_refused(cluster: Cluster, namespace: str) -> None:
    reply = cluster.http("POST", core(namespace, "configmaps"), config_map("a", big="x" * (3 << 20)))
    assert (reply.status, reply.reason) == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/api/v1/namespaces/default/configmaps/x", {}, 405),
        ("PUT", "/api/v1/namespaces/default/configmaps", {}, 405),
        ("PATCH", "/api/v1/namespaces/default/configmaps", MERGE, 405),
        ("GET", "/api/v1/namespaces/default/configmaps", {"Accept": "application/xml"}, 406),
        ("PATCH", "/api/v1/namespaces/default/configmaps/x", {"Content-Type": "text/plain"}, 415),
        ("POST", "/api/v1/namespaces/default/configmaps", {"Content-Type": "text/plain"}, 415),
        ("GET", "/api/v1/namespaces/default/nonsense", {}, 404),
    ],
)
def test_http_says_what_it_cannot_do(
    cluster: Cluster, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    body = "{}" if method != "GET" else None
    assert cluster.http(method, path, body, headers).status == status


def test_json_patch_tests_fail_as_unprocessable(cluster: Cluster, namespace: str) -> None:
    """Operators test resourceVersion in a JSON patch and expect 422 when it moved on."""
    path = core(namespace, "configmaps")
    cluster.create(path, config_map("a", x="1"))
    patch = [{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}]
    reply = cluster.http("PATCH", f"{path}/a", patch, JSON_PATCH)
    assert (reply.status, reply.reason) == (422, "Invalid")


def test_json_patch_may_replace_what_is_not_there(cluster: Cluster, namespace: str) -> None:
    """Ray's autoscaler relies on it."""
    path = core(namespace, "configmaps")
    cluster.create(path, config_map("a", x="1"))
    patch = [{"op": "replace", "path": "/data/y", "value": "2"}]
    assert cluster.http("PATCH", f"{path}/a", patch, JSON_PATCH).json["data"] == {"x": "1", "y": "2"}
