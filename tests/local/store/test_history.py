"""The store against a model: every revision that is still kept reads as it was, and what is not kept is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tidegate.local.store import CompactedError, Row, StaleError, Store

T = TypeVar("T")
KEYS = [f"core/pods/{namespace}/{name}" for namespace in ("a", "b") for name in ("x", "y", "z")] + ["core/nodes/n"]


class History(RuleBasedStateMachine):
    """Random writes, deletions, compactions and reopenings; `states[r]` is what the store held at revision r."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.store = self.run(self.open())
        self.states: list[dict[str, bytes]] = [{}]
        self.changes: list[tuple[int, str, bool]] = []
        self.horizon = 0

    async def open(self) -> Store:
        return Store(Path(self.folder.name) / "state.db")

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.run(self.store.close())
        self.loop.close()
        self.folder.cleanup()

    def now(self) -> dict[str, bytes]:
        return self.states[-1]

    def record(self, key: str, value: bytes | None) -> None:
        state = dict(self.now())
        if value is None:
            del state[key]
        else:
            state[key] = value
        self.states.append(state)
        self.changes.append((len(self.states) - 1, key, value is None))

    async def put(self, key: str, value: bytes, expected: Row | None) -> None:
        await self.store.put(key, lambda _: value, expected=expected)

    @initialize()
    def begin(self) -> None:
        assert self.store.revision == 0

    @rule(key=st.sampled_from(KEYS), value=st.binary(min_size=1, max_size=8))
    def write(self, key: str, value: bytes) -> None:
        self.run(self.put(key, value, self.store.newest(key)))
        self.record(key, value)

    @rule(writes=st.lists(st.tuples(st.sampled_from(KEYS), st.binary(min_size=1, max_size=4)), max_size=6))
    def write_together(self, writes: list[tuple[str, bytes]]) -> None:
        """Writes that share a commit, several of them to the same key."""

        async def all_at_once() -> None:
            put, newest = self.store.put, self.store.newest
            await asyncio.gather(*[put(key, lambda _, v=value: v, expected=newest(key)) for key, value in writes])

        self.run(all_at_once())
        for key, value in writes:
            self.record(key, value)

    @rule(key=st.sampled_from(KEYS))
    def remove(self, key: str) -> None:
        row = self.store.newest(key)
        if row is not None:

            async def gone() -> None:
                await self.store.remove(key, lambda _: row.value, expected=row)

            self.run(gone())
            self.record(key, None)

    @rule(key=st.sampled_from(KEYS), value=st.binary(min_size=1, max_size=4))
    def write_by_a_stale_reader(self, key: str, value: bytes) -> None:
        """Whoever expects another revision than the one that is there changes nothing."""
        row = self.store.newest(key)
        wrong = Row(row.revision + 1, key, 1, b"") if row else Row(1, key, 1, b"")
        with pytest.raises(StaleError) as refused:
            self.run(self.put(key, value, wrong))
        assert refused.value.current == row

    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        revision = data.draw(st.integers(self.horizon, len(self.states) - 1))
        self.run(self.compacted(revision))
        self.horizon = max(self.horizon, revision)

    async def compacted(self, revision: int) -> None:
        await self.store.compact(revision)

    @rule()
    def reopen(self) -> None:
        self.run(self.store.close())
        self.store = self.run(self.open())

    @invariant()
    def the_present_is_right(self) -> None:
        assert self.store.revision == len(self.states) - 1
        assert {row.key: row.value for row in self.store.range("")} == self.now()
        for key in KEYS:
            row = self.store.get(key)
            assert (row.value if row else None) == self.now().get(key)
        assert self.store.count("core/pods/") == sum(key.startswith("core/pods/") for key in self.now())

    @invariant()
    def the_past_is_right_or_refused(self) -> None:
        for revision in range(1, len(self.states)):
            try:
                found = {row.key: row.value for row in self.store.range("core/pods/a/", at=revision)}
            except CompactedError:
                assert revision < self.horizon
            else:
                wanted = {k: v for k, v in self.states[revision].items() if k.startswith("core/pods/a/")}
                assert found == wanted

    @invariant()
    def a_watch_misses_nothing(self) -> None:
        for since in range(len(self.states)):
            try:
                past, subscription = self.store.subscribe("core/pods/", since)
            except CompactedError:
                assert since < self.horizon
                continue
            self.store.unsubscribe(subscription)
            assert since >= self.horizon
            told = [(change.row.revision, change.row.key, change.deleted) for change in past]
            assert told == [c for c in self.changes if c[0] > since and c[1].startswith("core/pods/")]


TestHistory = History.TestCase
TestHistory.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
