"""Lists: selectors, pages, versions, and the short forms."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.conformance.objects import METADATA, METADATA_LIST, TABLE, config_map, core
from tests.harness import Cluster


@pytest.fixture
def secrets(cluster: Cluster, namespace: str) -> str:
    """The path of a collection with nine members of three teams."""
    path = core(namespace, "secrets")
    for number in range(9):
        labels = {"team": ["red", "green", "blue"][number % 3], "rank": str(number)}
        cluster.create(path, {"metadata": {"name": f"s{number}", "labels": labels}})
    return path


def names(cluster: Cluster, path: str) -> list[str]:
    return [item["metadata"]["name"] for item in cluster.get(path)["items"]]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("team=red", ["s0", "s3", "s6"]),
        ("team in (red,blue),rank in (0,1,2)", ["s0", "s2"]),
        ("team notin (red,blue)", ["s1", "s4", "s7"]),
        ("rank>6", ["s7", "s8"]),
        ("!team", []),
        ("team,rank!=0,team=red", ["s3", "s6"]),
    ],
)
def test_labels_select(cluster: Cluster, secrets: str, selector: str, expected: list[str]) -> None:
    assert names(cluster, f"{secrets}?labelSelector={quote(selector)}") == expected


def test_fields_select(cluster: Cluster, secrets: str) -> None:
    assert names(cluster, f"{secrets}?fieldSelector=metadata.name=s4") == ["s4"]
    assert len(names(cluster, f"{secrets}?fieldSelector=metadata.name!=s4,type=Opaque")) == 8


def test_pages_are_one_consistent_list(cluster: Cluster, secrets: str) -> None:
    """Writes between two pages do not show: every page is read at the version of the first."""
    first = cluster.get(f"{secrets}?limit=4")
    assert len(first["items"]) == 4
    assert first["metadata"]["remainingItemCount"] == 5
    cluster.http("DELETE", f"{secrets}/s5")
    cluster.create(secrets, {"metadata": {"name": "s55"}})
    seen, page = [item["metadata"]["name"] for item in first["items"]], first
    while token := page["metadata"].get("continue"):
        page = cluster.get(f"{secrets}?limit=4&continue={token}")
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        seen += [item["metadata"]["name"] for item in page["items"]]
    assert seen == [f"s{number}" for number in range(9)]


def test_a_token_that_is_no_token_is_a_bad_request(cluster: Cluster, secrets: str) -> None:
    reply = cluster.http("GET", f"{secrets}?limit=1&continue=nonsense")
    assert (reply.status, reply.reason) == (400, "BadRequest")


def test_lists_at_an_exact_version_show_the_past(cluster: Cluster, secrets: str) -> None:
    version = cluster.get(secrets)["metadata"]["resourceVersion"]
    cluster.http("DELETE", f"{secrets}/s0")
    then = cluster.get(f"{secrets}?resourceVersion={version}&resourceVersionMatch=Exact")
    assert len(then["items"]) == 9
    assert then["metadata"]["resourceVersion"] == version
    assert len(cluster.get(f"{secrets}?resourceVersion={version}&resourceVersionMatch=NotOlderThan")["items"]) == 8


def test_a_version_from_the_future_times_out(cluster: Cluster, secrets: str) -> None:
    """The server waits a little for the version to come, then says it is too large and to come back."""
    reply = cluster.http("GET", f"{secrets}?resourceVersion=999999999&resourceVersionMatch=NotOlderThan")
    assert (reply.status, reply.reason) == (504, "Timeout")
    assert "Too large resource version" in reply.json["message"]
    assert reply.json["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert reply.json["details"]["retryAfterSeconds"] >= 1


def test_a_list_version_covers_every_write_before_it(cluster: Cluster, namespace: str) -> None:
    path = core(namespace, "configmaps")
    written = cluster.create(path, config_map("a"))
    assert int(cluster.get(path)["metadata"]["resourceVersion"]) >= int(written["metadata"]["resourceVersion"])
    assert "a" in names(cluster, f"{path}?resourceVersion={written['metadata']['resourceVersion']}")


def test_tables_have_columns_and_metadata(cluster: Cluster, secrets: str) -> None:
    table = cluster.http("GET", f"{secrets}?labelSelector=team=red", headers=TABLE).json
    assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert [column["name"] for column in table["columnDefinitions"]] == ["Name", "Type", "Data", "Age"]
    assert [row["cells"][:3] for row in table["rows"]] == [[f"s{n}", "Opaque", 0] for n in (0, 3, 6)]
    assert {row["object"]["kind"] for row in table["rows"]} == {"PartialObjectMetadata"}


def test_tables_fall_back_when_they_are_only_preferred(cluster: Cluster, secrets: str) -> None:
    accept = {"Accept": "application/json;as=Table;v=v9;g=meta.k8s.io, application/json"}
    assert cluster.http("GET", secrets, headers=accept).json["kind"] == "SecretList"


def test_metadata_alone_is_metadata_alone(cluster: Cluster, secrets: str) -> None:
    one = cluster.http("GET", f"{secrets}/s1", headers=METADATA).json
    assert set(one) == {"kind", "apiVersion", "metadata"}
    assert one["kind"] == "PartialObjectMetadata"
    many = cluster.http("GET", secrets, headers=METADATA_LIST).json
    assert many["kind"] == "PartialObjectMetadataList"
    assert len(many["items"]) == 9


def test_deleting_a_collection_deletes_what_was_selected(cluster: Cluster, secrets: str) -> None:
    gone = cluster.http("DELETE", f"{secrets}?labelSelector=team=red")
    assert (gone.status, gone.json["kind"]) == (200, "SecretList")
    assert names(cluster, secrets) == ["s1", "s2", "s4", "s5", "s7", "s8"]
