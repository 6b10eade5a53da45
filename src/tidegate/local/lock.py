"""One process per role and data folder: a lock the kernel drops when its holder ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path

_PATIENCE_S, _PAUSE_S = 5.0, 0.01


class HeldError(Exception):
    """Somebody else holds the lock."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"it is held by process {pid}")
        self.pid = pid


def hold(path: Path) -> int:
    """Takes the lock; the descriptor that holds it. Who does not close it holds it to their very end: a lock that was
    given back before told that a process was gone while Python was still clearing up after it. The file names its
    holder for people and for `holder_of`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor)
    except HeldError:
        os.close(descriptor)
        raise
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _take(descriptor: int) -> None:
    """HeldError if it is somebody's. Who looks at it (`holder_of`) shares it for a moment, as the child of one that was
    killed while it began has it: neither is its holder, nor in the way for long."""
    deadline = time.monotonic() + _PATIENCE_S
    while not _got(descriptor, fcntl.LOCK_EX):
        if _got(descriptor, fcntl.LOCK_SH):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        else:
            pid = _read(descriptor)
            if (pid and _lives(pid)) or time.monotonic() > deadline:
                raise HeldError(pid)
        time.sleep(_PAUSE_S)


def _got(descriptor: int, way: int) -> bool:
    try:
        fcntl.flock(descriptor, way | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def holder_of(path: Path) -> int | None:
    """The process that holds a lock now; None if nobody does."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(descriptor)
    else:
        return None
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> int:
    text = os.pread(descriptor, 32, 0).decode().strip()
    return int(text) if text.isdecimal() else 0
