"""One process per folder: told by a lock that is looked at while it is taken."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.local.agent.node import processes_with
from tidegate.local.lock import HeldError, hold, holder_of


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
            os.close(hold(path))
    finally:
        over.set()
        for looker in lookers:
            looker.join()


def test_whose_it_is_nobody_else_gets_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    descriptor = hold(path)
    pid = holder_of(path)
    with pytest.raises(HeldError) as held:
        hold(path)
    os.close(descriptor)
    assert held.value.pid == pid == os.getpid()
    assert holder_of(path) is None


def test_it_is_held_until_nothing_of_the_process_is_left(tmp_path: Path) -> None:
    """`down` and the demo came back while Python was still clearing up: a moment later something was still running."""
    path = tmp_path / "lock"
    slow = "import atexit, sys, time; from pathlib import Path; from tidegate.local.lock import hold; "
    slow += "atexit.register(lambda: (print('over', flush=True), time.sleep(0.5))); hold(Path(sys.argv[1]))"
    with subprocess.Popen([sys.executable, "-c", slow, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"over\n"
        assert holder_of(path) == process.pid
        with path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
        assert process.pid not in processes_with(str(path))


def test_who_was_stopped_long_ago_is_nobody_although_its_number_is_somebodys(tmp_path: Path) -> None:
    """Somebody else has the number after the machine was started anew, and somebody looks at the lock just then."""
    path = tmp_path / "lock"
    path.write_text(f"{os.getppid()}\n")
    with path.open() as looker:
        fcntl.flock(looker, fcntl.LOCK_SH)
        let_go = threading.Timer(0.2, lambda: fcntl.flock(looker, fcntl.LOCK_UN))
        let_go.start()
        os.close(hold(path))
        let_go.join()
