"""One process per folder: told by a lock that is looked at while it is taken."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tidegate.local.lock import HeldError, Lock, holder_of


def test_who_only_looks_is_in_nobodys_way(tmp_path: Path) -> None:
    """`tidegate up` looks whether its agent has the lock by now, again and again; on a busy machine it was looking just
    then, and the agent ended because somebody had it."""
    path, over = tmp_path / "lock", threading.Event()

    def look() -> None:
        while not over.is_set():
            holder_of(path)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(2000):
            with Lock(path):
                pass
    finally:
        over.set()
        for looker in lookers:
            looker.join()


def test_whose_it_is_nobody_else_gets_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with Lock(path):
        pid = holder_of(path)
        with pytest.raises(HeldError) as held, Lock(path):
            pass
    assert held.value.pid == pid
    assert holder_of(path) is None
