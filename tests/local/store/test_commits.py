"""Group commit: what was acknowledged is on the disk, what is not committed nobody sees."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.local.store import NotStoredError, StaleError, Store
from tidegate.local.store import subscription as subscription_module

WRITER = """
import asyncio, sys
from pathlib import Path
from tidegate.local.store import Store

async def main():
    store = Store(Path(sys.argv[1]))
    async def client(number):
        for step in range(100_000):
            key = f"core/pods/{number}/{step}"
            row = await store.put(key, lambda revision: b"%d" % revision * 200, expected=None)
            print(row.revision, key, flush=True)
    await asyncio.gather(*[client(number) for number in range(8)])

asyncio.run(main())
"""


async def test_a_reader_does_not_see_what_is_not_committed(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    written = store.put("core/pods/a/x", lambda _: b"1", expected=None)
    assert store.get("core/pods/a/x") is None
    newest = store.newest("core/pods/a/x")
    assert newest is not None
    assert newest.value == b"1"
    await written
    assert store.get("core/pods/a/x") == newest
    await store.close()


async def test_writes_of_one_key_in_one_batch_follow_each_other(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    _, subscription = store.subscribe("core/pods/", 0)
    waits = []
    for number in range(10):
        newest = store.newest("core/pods/a/x")
        waits.append(store.put("core/pods/a/x", lambda _, n=number: b"%d" % n, expected=newest))
    await asyncio.gather(*waits)
    told = subscription.take()
    assert [change.row.value for change in told] == [b"%d" % number for number in range(10)]
    assert [change.before.value if change.before else None for change in told] == [None, *[b"%d" % n for n in range(9)]]
    await store.close()


async def test_a_failed_commit_fails_all_that_built_on_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    await store.put("core/pods/a/kept", lambda _: b"1", expected=None)
    writer = store._log._writer
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    first = store.put("core/pods/a/x", lambda _: b"1" * 100_000, expected=None)
    second = store.put("core/pods/a/x", lambda _: b"2", expected=store.newest("core/pods/a/x"))
    for write in (first, second):
        with pytest.raises(NotStoredError, match="full"):
            await write
    writer.execute(f"PRAGMA max_page_count = {pages + 1000}").fetchone()
    assert store.newest("core/pods/a/x") is None
    row = await store.put("core/pods/a/y", lambda _: b"3", expected=None)
    assert row.revision == 2, "revisions have no gap where a commit failed"
    await store.close()


async def test_a_subscriber_too_far_behind_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_module, "MOST_BEHIND", 5)
    store = Store(tmp_path / "state.db")
    _, subscription = store.subscribe("core/pods/", 0)
    for number in range(7):
        await store.put(f"core/pods/a/{number}", lambda _: b"1", expected=None)
    assert subscription.closed
    await subscription.wait()
    await store.close()


async def test_two_writers_of_a_new_key_cannot_both_win(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    written = store.put("core/pods/a/x", lambda _: b"1", expected=None)
    with pytest.raises(StaleError):
        store.put("core/pods/a/x", lambda _: b"2", expected=None)
    await written
    await store.close()


async def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    await store.put("core/pods/a/x", lambda _: b"1", expected=None)
    assert _modes(tmp_path) == {0o600}
    await store.close()


def _modes(folder: Path) -> set[int]:
    return {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


def test_acknowledged_writes_survive_kill_9(tmp_path: Path) -> None:
    """A writer is killed at once while it writes; every line it printed is found, whole."""
    path = tmp_path / "state.db"
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(200)]
        os.kill(process.pid, signal.SIGKILL)
        told += process.stdout.readlines()
        process.stdout.close()
        process.wait()
        asyncio.run(_check(path, [line.split() for line in told if line.endswith("\n")]))
        for file in tmp_path.iterdir():
            file.unlink()


async def _check(path: Path, told: list[list[str]]) -> None:
    store = Store(path)
    for revision, key in told:
        row = store.get(key)
        assert row is not None, f"{key} was acknowledged and is gone"
        assert row.revision == int(revision)
        assert row.value == b"%d" % row.revision * 200
    revisions = [row.revision for row in store.range("")]
    assert sorted(revisions) == list(range(1, len(revisions) + 1)), "no half batch: revisions have no gap"
    await store.close()


async def test_a_list_and_the_watch_from_its_revision_fit_together(tmp_path: Path) -> None:
    """Found when an initial list held a row whose commit was done but not announced: the watch told it again."""
    store = Store(tmp_path / "state.db")
    for number in range(200):
        written = store.put(f"core/pods/a/{number}", lambda _: b"1", expected=None)
        while not written.done():
            _, subscription = store.subscribe("core/pods/", store.revision)
            listed = {row.key for row in store.range("core/pods/")}
            await asyncio.sleep(0)
            assert not listed & {change.row.key for change in subscription.take()}
            store.unsubscribe(subscription)
    await store.close()


async def test_a_subscriber_waits_for_news_or_for_its_alarm(tmp_path: Path) -> None:
    store = Store(tmp_path / "state.db")
    _, subscription = store.subscribe("core/pods/", 0)
    subscription.ring_in(0)
    await subscription.wait()
    assert subscription.rung
    subscription.ring_in(3600)
    assert not subscription.rung
    await store.put("core/pods/a/x", lambda _: b"1", expected=None)
    await subscription.wait()
    assert [change.row.value for change in subscription.take()] == [b"1"]
    await store.close()
