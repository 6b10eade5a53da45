"""Starts the runner of one pod: `python -m tidegate.local.agent.runner FOLDER`.

Returns once the runner is ready, and leaves it behind as a daemon. Exit code 3: another runner holds this pod.
"""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH108, PTH110, PTH123
from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time

from tidegate.local.agent.runner import sandbox
from tidegate.local.agent.runner.keeper import Keeper

HELD = 3


def main(folder: str) -> int:
    os.chdir(folder)
    os.umask(0o077)
    lock = os.open("lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    if not _locked(lock):
        return HELD
    ready, tell = os.pipe2(os.O_CLOEXEC)
    if os.fork() == 0:
        os.close(ready)
        os.setsid()
        _serve(tell)
    os.close(tell)
    said = b"".join(iter(lambda: os.read(ready, 4096), b"")).decode()
    if said == "ready":
        return 0
    sys.stderr.write(said or "the runner ended before it was ready")
    return 1


def _locked(lock: int) -> bool:
    """Takes the pod's lock. Tried a few times: the agent also takes it, for a moment, to see whether it is free."""
    for _ in range(20):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return True
    return False


def _serve(tell: int) -> None:
    try:
        with open("sandbox.json", "rb") as file:
            wanted = json.loads(file.read())
        sandbox.enter(wanted)
        listener = _listen()
        quiet = os.open("/dev/null", os.O_RDWR)
        log = os.open("runner.log", os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        for source, target in ((quiet, 0), (quiet, 1), (log, 2)):
            os.dup2(source, target)
        os.write(tell, b"ready")
    except OSError as error:
        os.write(tell, str(error).encode())
        os._exit(1)
    os.close(tell)
    Keeper(listener, namespaces=wanted["namespaces"]).run()
    os.unlink("control.sock")
    os._exit(0)


def _listen() -> socket.socket:
    """A fresh socket: one that is left from an earlier runner has nobody behind it, since the lock is ours."""
    if os.path.exists("control.sock"):
        os.unlink("control.sock")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind("control.sock")
    listener.listen(64)
    return listener


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
