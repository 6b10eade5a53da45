"""The log of revisions: one SQLite table, written by one thread, read by another.

Theory of operation. Every write of every key is a row with the next revision. A row is *current* while nothing
replaced it; `superseded` names the revision that did. So the state at revision R is, for each key, the row with
`revision <= R` and `superseded` empty or greater than R, unless that row is a deletion; and what happened since R is
simply the rows after R. History is bounded by `compact`, which drops rows that were superseded (and deletions that
happened) at or before the horizon; asking for anything older is an error that says so, never a wrong answer.

The file is in WAL mode, so reading does not wait for writing, and `synchronous=FULL`, so a commit that returned is on
the disk. `append` is one transaction however many rows it is given: that is the whole of group commit.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

_SCHEMA = """
CREATE TABLE IF NOT EXISTS log (
    revision   INTEGER PRIMARY KEY,
    key        TEXT    NOT NULL,
    created    INTEGER NOT NULL,
    previous   INTEGER NOT NULL,
    superseded INTEGER,
    deleted    INTEGER NOT NULL,
    value      BLOB    NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS current ON log (key) WHERE superseded IS NULL AND deleted = 0;
CREATE INDEX IF NOT EXISTS history ON log (key, revision);
CREATE TABLE IF NOT EXISTS horizon (compacted INTEGER NOT NULL);
"""

_CURRENT = "SELECT revision, key, created, value FROM log INDEXED BY current WHERE superseded IS NULL AND deleted = 0"
_PAST = "SELECT revision, key, created, value FROM log INDEXED BY history WHERE deleted = 0 AND revision <= :at"
_PAST += " AND (superseded IS NULL OR superseded > :at)"


class CompactedError(Exception):
    """The revision asked for is older than the history that is kept."""

    def __init__(self, horizon: int) -> None:
        super().__init__(f"history before revision {horizon} has been compacted")
        self.horizon = horizon


class Row(msgspec.Struct, frozen=True, gc=False):
    """An object as it stood at `revision`; `created` is the revision at which it came to be."""

    revision: int
    key: str
    created: int
    value: bytes


class Change(msgspec.Struct, frozen=True, eq=False):
    """One row of history: `before` is what it replaced, if anything and if still known."""

    row: Row
    deleted: bool
    before: Row | None
    memo: dict[Any, Any] = msgspec.field(default_factory=dict)
    """For its readers: what one made of this change, the next need not make again."""


def end_of(prefix: str) -> str:
    """The smallest key after every key that starts with `prefix`."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else "\U0010ffff"


class Log:
    def __init__(self, path: Path) -> None:
        # SQLite creates the WAL with the mode of the database, so making that private makes both private.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._reader = self._connect(path)
        self._writer = self._connect(path)
        with self._writer:
            self._writer.executescript(_SCHEMA)
        row = self._reader.execute("SELECT max(compacted) FROM horizon").fetchone()
        self.compacted: int = row[0] or 0
        row = self._reader.execute("SELECT max(revision) FROM log").fetchone()
        self.revision: int = max(row[0] or 0, self.compacted)
        self._swept = 0

    @staticmethod
    def _connect(path: Path) -> sqlite3.Connection:
        connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def append(self, changes: Sequence[Change]) -> None:
        """Writes all changes or none, durably. The writer's connection must not be in use by another thread."""
        self.write(changes)
        self.commit()

    def write(self, changes: Sequence[Change]) -> None:
        """Begins a transaction and puts all changes into it; nobody sees them before `commit`."""
        writer = self._writer
        writer.execute("BEGIN IMMEDIATE")
        with self._all_or_nothing():
            # Row by row, since a key has at most one current row at any moment, also inside a batch.
            for change in changes:
                row, previous = change.row, change.before.revision if change.before else 0
                if previous:
                    writer.execute("UPDATE log SET superseded = ? WHERE revision = ?", (row.revision, previous))
                values = (row.revision, row.key, row.created, previous, int(change.deleted), row.value)
                writer.execute("INSERT INTO log VALUES (?, ?, ?, ?, NULL, ?, ?)", values)

    def commit(self) -> None:
        """Ends the transaction that `write` began: returns when it is on the disk."""
        with self._all_or_nothing():
            self._writer.execute("COMMIT")

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise

    def get(self, key: str) -> Row | None:
        found = self._reader.execute(f"{_CURRENT} AND key = ?", (key,)).fetchone()
        return Row(*found) if found else None

    def keys(self) -> Iterator[str]:
        """The keys of everything there is."""
        sql = "SELECT key FROM log INDEXED BY current WHERE superseded IS NULL AND deleted = 0"
        return (found[0] for found in self._reader.execute(sql))

    def range(self, prefix: str, *, after: str = "", limit: int = -1, at: int = 0) -> list[Row]:
        """Objects whose keys start with `prefix` and come after key `after`, in order of key; as of revision `at`."""
        if at and at < self.compacted:
            raise CompactedError(self.compacted)
        base = _PAST if at else _CURRENT
        sql = f"{base} AND key >= :start AND key < :end AND key > :after ORDER BY key LIMIT :limit"
        given = {"at": at, "start": prefix, "end": end_of(prefix), "after": after, "limit": limit}
        return [Row(*found) for found in self._reader.execute(sql, given)]

    def count(self, prefix: str, *, after: str = "") -> int:
        sql = "SELECT count(*) FROM log INDEXED BY current WHERE superseded IS NULL AND deleted = 0"
        given = (prefix, end_of(prefix), after)
        found = self._reader.execute(f"{sql} AND key >= ? AND key < ? AND key > ?", given).fetchone()
        return int(found[0])

    def since(self, revision: int, prefix: str) -> Iterator[Change]:
        """What happened to keys of `prefix` after `revision`, oldest first."""
        if revision < self.compacted:
            raise CompactedError(self.compacted)
        sql = """
            SELECT l.revision, l.key, l.created, l.value, l.deleted, p.revision, p.created, p.value
            FROM log l LEFT JOIN log p ON p.revision = l.previous
            WHERE l.revision > ? AND l.key >= ? AND l.key < ? ORDER BY l.revision
        """
        for found in self._reader.execute(sql, (revision, prefix, end_of(prefix))).fetchall():
            before = Row(found[5], found[1], found[6], found[7]) if found[5] is not None else None
            yield Change(Row(*found[:4]), bool(found[4]), before)

    def compact(self, revision: int, *, chunk: int = 5000) -> bool:
        """Forgets what was over by `revision`, a chunk of revisions at a time; True when all have been looked at.

        Called on the writer's thread. The horizon moves first: a reader is refused before rows start to go.
        """
        writer = self._writer
        if revision > self.compacted:
            with writer:
                writer.execute("BEGIN IMMEDIATE")
                writer.execute("DELETE FROM horizon")
                writer.execute("INSERT INTO horizon VALUES (?)", (revision,))
                writer.execute("COMMIT")
            self.compacted = revision
        begin, end = self._swept, min(self._swept + chunk, self.compacted)
        over = "superseded <= :at OR (deleted = 1 AND superseded IS NULL)"
        given = {"at": self.compacted, "begin": begin, "end": end}
        writer.execute(f"DELETE FROM log WHERE revision > :begin AND revision <= :end AND ({over})", given)
        self._swept = end
        if end < self.compacted:
            return False
        # What was current then may be over at the next horizon, so that sweep starts from the beginning again.
        self._swept = 0
        writer.execute("PRAGMA incremental_vacuum(1000)").fetchall()
        return True

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
