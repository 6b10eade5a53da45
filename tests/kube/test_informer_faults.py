"""Every way a list or a watch is known to go wrong, over real sockets."""

from __future__ import annotations

import asyncio

import pytest

from tests.harness.cluster import PATIENCE_S
from tests.kube.faultserver import Fault, FaultServer
from tests.kube.following import following, same
from tidegate.kube.backoff import Backoff

WATCH_FAULTS = {
    "clean close": Fault("close"),
    "410 in the stream": Fault("gone"),
    "HTTP 410": Fault("status", status=410),
    "TCP reset": Fault("reset"),
    "truncated line": Fault("truncated"),
    "malformed JSON": Fault("garbage"),
    "429": Fault("status", status=429),
    "500": Fault("status", status=500),
    "503": Fault("status", status=503),
    "504": Fault("status", status=504),
    "403": Fault("status", status=403),
    "hang": Fault("hang"),
}


def server_with(*names: str, **options: bool) -> FaultServer:
    server = FaultServer(**options)
    for name in names:
        server.put(name)
    return server


@pytest.mark.parametrize("fault", WATCH_FAULTS.values(), ids=WATCH_FAULTS.keys())
@pytest.mark.parametrize("watch_list", [True, False], ids=["WatchList", "list"])
async def test_no_deletion_is_lost_to(fault: Fault, watch_list: bool) -> None:
    """One object goes, one changes, one is made anew under its name and one appears while the watch is broken."""
    server = server_with("goes", "changes", "returns", watch_list=watch_list)
    server.watch_faults.append(Fault(fault.kind, after=4 if watch_list else 0, status=fault.status))
    if watch_list and fault.kind == "status":
        server.watch_faults.appendleft(Fault("close", after=4))
    async with following(server, idle_s=0.2) as (informer, witness):
        await informer.synced()
        server.remove("goes")
        server.put("changes", x="2")
        server.remove("returns")
        server.put("returns")
        server.put("appears")
        await server.announce()
        await witness.until(same(server, witness))
        assert ("gone", "goes", "uid-1") in witness.told
        assert witness.told.index(("gone", "returns", "uid-3")) < witness.told.index(("appeared", "returns", "uid-4"))
        assert {obj["metadata"]["name"] for obj in informer.all()} == {"changes", "returns", "appears"}


@pytest.mark.parametrize("kind", ["close", "reset", "truncated", "garbage", "hang"])
async def test_a_broken_watch_goes_on_from_the_last_version_without_a_list(kind: str) -> None:
    server = server_with("a", watch_list=False)
    server.watch_faults.append(Fault(kind, after=1))
    async with following(server, idle_s=0.2) as (informer, witness):
        await informer.synced()
        server.put("b")
        await server.announce()
        await witness.until(same(server, witness))
        server.put("c")
        await server.announce()
        await witness.until(same(server, witness))
        assert [call.query.get("resourceVersion") for call in server.watches()][-2:] == ["1", "2"]
        assert len(server.lists()) == 1


async def test_a_bookmark_is_where_the_next_watch_goes_on() -> None:
    """Otherwise a quiet collection on a busy server would fall behind its history."""
    server = server_with("a", watch_list=False)
    server.watch_faults.append(Fault("close", after=1))
    async with following(server) as (informer, witness):
        await informer.synced()
        server.version += 40  # others write elsewhere
        server.bookmark_now = True
        await server.announce()
        await server.has_sent_bookmark.wait()
        server.put("b")
        await server.announce()
        await witness.until(same(server, witness))
        assert [call.query.get("resourceVersion") for call in server.watches()] == [None, "1", "41"]
        assert len(server.lists()) == 1


async def test_a_watch_that_expired_is_listed_and_compared() -> None:
    server = server_with("a", "b")
    server.watch_faults.append(Fault("reset", after=3))
    async with following(server) as (informer, witness):
        await informer.synced()
        server.remove("a")
        server.put("c")
        server.compact()
        await server.announce()
        await witness.until(same(server, witness))
        assert witness.told[-2:] == [("gone", "a", "uid-1"), ("appeared", "c", "uid-3")]


@pytest.mark.parametrize("sign", ["410", "bookmark", "event", "silence"])
async def test_a_server_whose_versions_run_backwards_is_listed_again(sign: str) -> None:
    """A server that lost its disk shows it by an error, by a bookmark, by an event from our past, or not at all."""
    server = server_with("a", "b", "c", watch_list=False)
    async with following(server) as (_, witness):
        await server.is_watched.wait()
        server.start_over(keeps_quiet=sign != "410")
        server.put("b")
        server.bookmark_now = sign == "bookmark"
        server.replay_all = sign == "event"
        server.drop_connections()
        await server.announce()
        await witness.until(same(server, witness))
        assert witness.told[-4:-1] == [("gone", name, f"uid-{n}") for n, name in enumerate("abc", 1)]
        assert witness.told[-1] == ("appeared", "b", "uid-4")


@pytest.mark.parametrize("writes", [["x"] * 5, ["x", "y", "z"], ["b", "a", "b"]])
async def test_another_history_that_has_passed_our_version_is_found_out(writes: list[str]) -> None:
    """A server may have lost its disk, or have been restored from a backup, and be ahead of us again."""
    server = server_with("a", "b", watch_list=False)
    async with following(server) as (_, witness):
        await server.is_watched.wait()
        server.start_over()
        for name in writes:
            server.put(name)
        server.drop_connections()
        await server.announce()
        await witness.until(same(server, witness))
        assert ("gone", "a", "uid-1") in witness.told


async def test_retry_after_is_respected() -> None:
    server = server_with("a")
    server.watch_faults.append(Fault("status", status=429, retry_after=1))
    async with following(server, watch_list=False) as (informer, witness):
        await informer.synced()
        server.put("b")
        await witness.until(same(server, witness))
        first, second = server.watches()[:2]
        assert second.at - first.at >= 1.0


@pytest.mark.parametrize(
    "fault",
    [Fault("status", status=500), Fault("status", status=410), Fault("reset"), Fault("garbage"), Fault("hang")],
    ids=lambda fault: f"{fault.kind} {fault.status}" if fault.kind == "status" else fault.kind,
)
async def test_a_list_that_fails_is_tried_again(fault: Fault) -> None:
    server = server_with("a", watch_list=False)
    server.list_faults.append(fault)
    async with following(server) as (informer, witness):
        await asyncio.wait_for(informer.synced(), PATIENCE_S)
        assert witness.held == server.objects


async def test_a_page_that_expired_makes_the_list_whole() -> None:
    server = server_with(*(f"n{i}" for i in range(1201)), watch_list=False)
    async with following(server) as (informer, witness):
        await informer.synced()
        assert [call.query.get("continue") for call in server.lists()] == [None, "500", "1000"]
        assert witness.held == server.objects
    server.calls.clear()
    server.expire_pages = True
    async with following(server) as (informer, witness):
        await informer.synced()
        assert "limit" not in server.lists()[-1].query
        assert witness.held == server.objects


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_a_server_without_watch_list_is_listed_for_good(status: int) -> None:
    server = server_with("a", watch_list=False)
    server.no_watch_list_status = status
    async with following(server) as (informer, witness):
        await informer.synced()
        server.compact()
        server.version += 1
        server.compact()
        server.drop_connections()
        server.put("b")
        await witness.until(same(server, witness))
        assert len([call for call in server.watches() if "sendInitialEvents" in call.query]) == 1


async def test_a_server_that_never_sends_the_end_of_initial_events_is_listed() -> None:
    server = server_with("a", mute_watch_list=True)
    async with following(server, initial_idle_s=0.1) as (informer, witness):
        await asyncio.wait_for(informer.synced(), PATIENCE_S)
        server.put("b")
        await server.announce()
        await witness.until(same(server, witness))
        assert len(server.lists()) == 1


async def test_watch_list_needs_no_list() -> None:
    server = server_with("a", "b")
    async with following(server) as (informer, witness):
        await informer.synced()
        server.put("c")
        await server.announce()
        await witness.until(same(server, witness))
        assert server.lists() == []
        assert len(server.watches()) == 1


async def test_a_server_that_closes_every_watch_at_once_is_not_hammered() -> None:
    server = server_with("a", watch_list=False)
    server.watch_faults.extend([Fault("close")] * 1000)
    async with following(server, backoff=Backoff(base_s=0.05, most_s=10.0, uniform=lambda: 0.0)) as (informer, _):
        await informer.synced()
        await asyncio.sleep(1.0)
        assert len(server.watches()) <= 6


async def test_a_refused_connection_is_not_hammered_and_the_server_is_found_again() -> None:
    server = server_with("a")
    async with following(server) as (informer, witness):
        await informer.synced()
        await server.stop()
        server.remove("a")
        server.compact()
        await asyncio.sleep(0.2)
        await server.start()
        server.put("b")
        await witness.until(same(server, witness))
        assert witness.told == [("appeared", "a", "uid-1"), ("gone", "a", "uid-1"), ("appeared", "b", "uid-2")]


async def test_a_handler_that_fails_hurts_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    server = server_with("a")
    async with following(server) as (informer, witness):
        informer.on_change(lambda old, new: 1 / 0)
        await informer.synced()
        server.put("b")
        await server.announce()
        await witness.until(same(server, witness))
    assert "ZeroDivisionError" in caplog.text


async def test_indexes_follow_every_change() -> None:
    server = FaultServer()
    server.put("a", colour="red")
    server.put("b", colour="red")
    indexes = {"colour": lambda obj: [obj["data"].get("colour", "none")]}
    async with following(server, indexes=indexes) as (informer, witness):
        await informer.synced()
        assert len(informer.by("colour", "red")) == 2
        server.put("a", colour="blue")
        server.remove("b")
        await server.announce()
        await witness.until(same(server, witness))
        assert informer.by("colour", "red") == []
        assert [obj["metadata"]["name"] for obj in informer.by("colour", "blue")] == ["a"]
        assert informer.get("a", "default") is informer.by("colour", "blue")[0]


async def test_a_late_handler_first_hears_of_all_there_is() -> None:
    server = server_with("a", "b")
    async with following(server) as (informer, _):
        await informer.synced()
        names: list[str] = []
        informer.on_change(lambda old, new: names.append((new or old or {})["metadata"]["name"]))
        assert names == ["a", "b"]
