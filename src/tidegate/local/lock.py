"""One process per role and data folder: a lock the kernel drops when its holder ends, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

_PATIENCE_S, _PAUSE_S = 5.0, 0.01


class HeldError(Exception):
    """Somebody else holds the lock."""

    def __init__(self, pid: int) -> None:
        super().__init__(f"it is held by process {pid}")
        self.pid = pid


class Lock:
    """Taken on entry, released on exit. The file names its holder for people and for `holder_of`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def __enter__(self) -> Lock:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            _take(descriptor)
        except HeldError:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)


def _take(descriptor: int) -> None:
    """HeldError if it is somebody's. Who looks at it (`holder_of`) has it for a moment, as has the child of one that
    was killed while it began: neither is its holder, nor in the way for long."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = _read(descriptor)
            if (pid and _lives(pid)) or time.monotonic() > deadline:
                raise HeldError(pid) from None
            time.sleep(_PAUSE_S)
        else:
            return


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
