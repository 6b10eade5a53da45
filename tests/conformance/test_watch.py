"""Watches: what clients build their caches on."""

from __future__ import annotations

import json
import ssl
import threading
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.conformance.objects import CRDS, MERGE, METADATA, TABLE, config_map, core, definition
from tests.harness import Cluster
from tests.harness.cluster import PATIENCE_S

Json = Any
END = "k8s.io/initial-events-end"


def shown(events: list[Json]) -> list[tuple[str, str]]:
    """Types and names, without the bookmarks that only tell the time."""
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events if not idle(event)]


def idle(event: Json) -> bool:
    return event["type"] == "BOOKMARK" and "annotations" not in event["object"]["metadata"]


@pytest.fixture
def path(cluster: Cluster, namespace: str) -> str:
    """An empty collection to watch."""
    return core(namespace, "secrets")


def history(cluster: Cluster, path: str) -> str:
    """Make, change and delete a few objects; the version before all of it."""
    start: str = cluster.get(path)["metadata"]["resourceVersion"]
    cluster.create(path, {"metadata": {"name": "a"}})
    cluster.http("PATCH", f"{path}/a", {"metadata": {"labels": {"team": "red"}}}, MERGE)
    cluster.create(path, {"metadata": {"name": "b", "labels": {"team": "red"}}})
    cluster.http("PATCH", f"{path}/a", {"metadata": {"labels": {"team": "blue"}}}, MERGE)
    cluster.http("DELETE", f"{path}/b")
    return start


def test_a_watch_from_a_version_tells_everything_since(cluster: Cluster, path: str) -> None:
    start = history(cluster, path)
    with cluster.watch(path, {"resourceVersion": start, "timeoutSeconds": 1}) as watch:
        events = watch.rest()
    assert shown(events) == [("ADDED", "a"), ("MODIFIED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))


def test_moving_in_and_out_of_a_selector_is_an_addition_and_a_deletion(cluster: Cluster, path: str) -> None:
    start = history(cluster, path)
    params = {"resourceVersion": start, "timeoutSeconds": 1, "labelSelector": "team=red"}
    with cluster.watch(path, params) as watch:
        assert shown(watch.rest()) == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a"), ("DELETED", "b")]


def test_a_watch_without_version_starts_with_what_is_there(cluster: Cluster, path: str) -> None:
    history(cluster, path)
    for params in ({}, {"resourceVersion": "0"}):
        with cluster.watch(path, {"timeoutSeconds": 1, **params}) as watch:
            assert shown(watch.rest()) == [("ADDED", "a")]


def test_events_come_while_the_watch_is_open(cluster: Cluster, path: str) -> None:
    start = cluster.get(path)["metadata"]["resourceVersion"]
    with cluster.watch(path, {"resourceVersion": start, "timeoutSeconds": 30}) as watch:
        cluster.create(path, {"metadata": {"name": "live"}})
        assert shown(watch.until("ADDED")) == [("ADDED", "live")]
        cluster.http("DELETE", f"{path}/live")
        assert shown(watch.until("DELETED")) == [("DELETED", "live")]


def test_a_watch_ends_when_its_time_is_up(cluster: Cluster, path: str) -> None:
    with cluster.watch(path, {"timeoutSeconds": 1}, timeout_s=10) as watch:
        assert watch.status == 200
        assert watch.headers["content-type"] == "application/json"
        assert shown(watch.rest()) == []


def test_streaming_a_list_ends_with_its_bookmark(cluster: Cluster, path: str) -> None:
    """WatchList: the present as ADDED events, then one bookmark that says that was all, then changes."""
    history(cluster, path)
    params = {
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": 20,
    }
    with cluster.watch(path, params) as watch:
        first, end = watch.until("BOOKMARK")
        assert shown([first]) == [("ADDED", "a")]
        assert end["object"]["metadata"]["annotations"] == {END: "true"}
        assert end["object"]["kind"] == "Secret"
        assert int(end["object"]["metadata"]["resourceVersion"]) >= int(first["object"]["metadata"]["resourceVersion"])
        cluster.create(path, {"metadata": {"name": "later"}})
        assert ("ADDED", "later") in shown(watch.until("ADDED"))


def test_streaming_a_list_of_custom_objects_works_too(cluster: Cluster, namespace: str) -> None:
    group = f"{namespace}.example.com"
    cluster.create(CRDS, definition(group))
    path = f"/apis/{group}/v1/namespaces/{namespace}/widgets"
    cluster.eventually(path, lambda reply: reply.status == 200)
    params = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    with cluster.watch(path, params) as watch:
        (end,) = watch.until("BOOKMARK")
        assert end["object"]["metadata"]["annotations"] == {END: "true"}


def test_a_version_too_old_ends_in_the_stream(cluster: Cluster, path: str) -> None:
    """410 comes as an ERROR event inside a 200: clients relist on that, and break on HTTP 410."""
    with cluster.watch(path, {"resourceVersion": "1", "timeoutSeconds": 5}) as watch:
        assert watch.status == 200
        events = watch.rest()
    if events:  # A server that still has all its history may serve it instead.
        assert events[0]["type"] in ("ERROR", "ADDED")
        if events[0]["type"] == "ERROR":
            assert (events[0]["object"]["code"], events[0]["object"]["reason"]) == (410, "Expired")


def test_watching_metadata_alone(cluster: Cluster, path: str) -> None:
    history(cluster, path)
    with cluster.watch(path, {"timeoutSeconds": 1}, METADATA) as watch:
        (event,) = (event for event in watch.rest() if not idle(event))
    assert event["object"]["kind"] == "PartialObjectMetadata"
    assert set(event["object"]) == {"kind", "apiVersion", "metadata"}


def test_watching_a_table_names_the_columns_once(cluster: Cluster, path: str) -> None:
    history(cluster, path)
    cluster.create(path, {"metadata": {"name": "c"}})
    with cluster.watch(path, {"timeoutSeconds": 1}, TABLE) as watch:
        first, second = (event for event in watch.rest() if event["type"] == "ADDED")
    assert first["object"]["columnDefinitions"]
    assert not second["object"]["columnDefinitions"]
    assert second["object"]["rows"][0]["cells"][0] == "c"


def test_one_object_is_watched_by_its_name(cluster: Cluster, path: str) -> None:
    cluster.create(path, {"metadata": {"name": "other"}})
    params = {"fieldSelector": "metadata.name=mine", "timeoutSeconds": 20}
    with cluster.watch(path, params) as watch:
        cluster.create(path, {"metadata": {"name": "another"}})
        cluster.create(path, {"metadata": {"name": "mine"}})
        assert shown(watch.until("ADDED")) == [("ADDED", "mine")]


def test_watchers_see_the_same_order(cluster: Cluster, namespace: str) -> None:
    """Twenty writes by four writers come to three watchers in one order."""
    path = core(namespace, "configmaps")
    start = cluster.get(path)["metadata"]["resourceVersion"]
    watches = [cluster.watch(path, {"resourceVersion": start, "timeoutSeconds": 5}) for _ in range(3)]

    def write(writer: int) -> None:
        for number in range(5):
            cluster.create(path, config_map(f"w{writer}-{number}"))
        cluster.close()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    orders = []
    for watch in watches:
        with watch:
            orders.append([one for one in shown(watch.rest()) if one[1].startswith("w")])
    assert len(orders[0]) == 20
    assert orders[0] == orders[1] == orders[2]


def test_a_watch_over_websocket_sends_one_event_per_text_frame(cluster: Cluster, path: str) -> None:
    """Spark's client insists on it, without naming a subprotocol."""
    context = ssl.create_default_context(cafile=str(cluster.ca_file))
    url = cluster.url.replace("https", "wss") + f"{path}?watch=true&timeoutSeconds=2&allowWatchBookmarks=true"
    headers = {"Authorization": f"Bearer {cluster.token}"}
    cluster.create(path, {"metadata": {"name": "before"}})
    events = []
    origin = Origin(cluster.url)
    with connect(
        url, ssl=context, origin=origin, additional_headers=headers, proxy=None, open_timeout=PATIENCE_S
    ) as socket:
        cluster.create(path, {"metadata": {"name": "after"}})
        try:
            while True:
                frame = socket.recv(timeout=PATIENCE_S)
                assert isinstance(frame, str)
                events.append(json.loads(frame))
        except ConnectionClosed:
            pass
    objects = [event for event in events if event["type"] != "BOOKMARK"]
    assert shown(objects) == [("ADDED", "before"), ("ADDED", "after")]
