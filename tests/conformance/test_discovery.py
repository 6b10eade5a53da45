"""The server says what it has, in every form clients ask for."""

from __future__ import annotations

import pytest

from tests.conformance.objects import CRDS, definition
from tests.harness import Cluster

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
USED_KINDS = {"Pod", "Job", "CronJob", "Deployment", "ReplicaSet", "Service", "Lease", "Event", "ResourceQuota", "Role"}


@pytest.mark.parametrize("root", ["/api", "/apis"])
def test_aggregated_discovery_names_its_own_media_type(cluster: Cluster, root: str) -> None:
    """kubectl finds no resource at all unless the answer's content type repeats what was asked."""
    reply = cluster.http("GET", root, headers={"Accept": AGGREGATED})
    assert reply.status == 200
    assert reply.headers["content-type"].replace(" ", "") == AGGREGATED
    assert reply.json["kind"] == "APIGroupDiscoveryList"
    assert reply.json["apiVersion"] == "apidiscovery.k8s.io/v2"


def test_both_forms_of_discovery_agree(cluster: Cluster) -> None:
    """Every resource of the aggregated form is in the old form of its group and version, with the same verbs."""
    groups = cluster.http("GET", "/apis", headers={"Accept": AGGREGATED}).json["items"]
    for group in groups:
        for version in group["versions"]:
            name = f"{group['metadata']['name']}/{version['version']}"
            old = {one["name"]: one for one in cluster.get(f"/apis/{name}")["resources"]}
            for resource in version["resources"]:
                assert set(resource["verbs"]) == set(old[resource["resource"]]["verbs"]), (name, resource["resource"])


def test_the_kinds_batch_work_needs_are_there(cluster: Cluster) -> None:
    served = {one["kind"] for one in cluster.get("/api/v1")["resources"]}
    for group in cluster.get("/apis")["groups"]:
        for version in group["versions"]:
            served |= {one["kind"] for one in cluster.get(f"/apis/{version['groupVersion']}")["resources"]}
    assert served >= USED_KINDS


def test_discovery_answers_conditional_requests(cluster: Cluster) -> None:
    """The aggregated form has an ETag, and the same one sent back gets 304 and nothing else."""
    accept = {"Accept": AGGREGATED}
    first = cluster.http("GET", "/apis", headers=accept)
    again = cluster.http("GET", "/apis", headers=accept | {"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")


def test_openapi_v3_lists_and_serves_every_group(cluster: Cluster) -> None:
    """kubectl apply and explain read these; each path carries a hash that makes it cacheable."""
    paths = cluster.get("/openapi/v3")["paths"]
    assert {"api/v1", "apis/apps/v1", "apis/batch/v1"} <= set(paths)
    document = cluster.get(paths["apis/batch/v1"]["serverRelativeURL"])
    post = document["paths"]["/apis/batch/v1/namespaces/{namespace}/jobs"]["post"]
    assert "fieldValidation" in {parameter["name"] for parameter in post["parameters"]}
    assert post["x-kubernetes-group-version-kind"] == {"group": "batch", "version": "v1", "kind": "Job"}
    assert "io.k8s.api.batch.v1.Job" in document["components"]["schemas"]


def test_a_new_kind_is_discovered_within_seconds(cluster: Cluster, namespace: str) -> None:
    """A definition shows in both forms of discovery and in OpenAPI, and goes from them when it is deleted."""
    group = f"{namespace}.example.com"
    cluster.create(CRDS, definition(group))
    cluster.eventually(f"/apis/{group}/v1", lambda reply: reply.status == 200)
    accept = {"Accept": AGGREGATED}

    def groups() -> set[str]:
        items = cluster.http("GET", "/apis", headers=accept).json["items"]
        return {item["metadata"]["name"] for item in items}

    cluster.eventually("/apis", lambda _: group in groups())
    cluster.eventually("/openapi/v3", lambda reply: f"apis/{group}/v1" in reply.json["paths"])
    cluster.http("DELETE", f"{CRDS}/widgets.{group}")
    cluster.eventually("/apis", lambda _: group not in groups())
    cluster.eventually(f"/apis/{group}/v1", lambda reply: reply.status == 404)


def test_version_is_one_kubectl_understands(cluster: Cluster) -> None:
    version = cluster.get("/version")
    assert version["gitVersion"].startswith("v1.36.")
    assert (version["major"], version["minor"]) == ("1", "36")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz?verbose"])
def test_health_is_plain_text(cluster: Cluster, path: str) -> None:
    reply = cluster.http("GET", path)
    assert reply.status == 200
    assert reply.headers["content-type"].startswith("text/plain")
