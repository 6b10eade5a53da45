"""What is known of each attempt to run a container, on disk: written before and after each step, never half.

One file per attempt, `containers/<name>/<attempt>.json`. `starting` is the intent, written before anything runs, so
that nobody starts the same attempt twice; `exited` carries the true exit code for whoever asks later.
"""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH105, PTH112, PTH118, PTH123, PTH208
from __future__ import annotations

import contextlib
import json
import os
from typing import Any

Record = dict[str, Any]


def path_of(container: str, attempt: int) -> str:
    return f"containers/{container}/{attempt}.json"


def write(path: str, record: Record) -> None:
    """Replaces the file in one step and makes it durable: a reader sees the old record or the new one."""
    draft, content = f"{path}.draft", json.dumps(record).encode()
    fd = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, content)
        os.ftruncate(fd, len(content))
        os.fsync(fd)
    finally:
        os.close(fd)
    os.replace(draft, path)
    if record.get("state") in ("starting", "running"):
        _keep_room(draft, 2 * len(content))


def _keep_room(draft: str, size: int) -> None:
    """For the next record: how it ended is to be told though the disk may be full by then."""
    with contextlib.suppress(OSError):
        fd = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(fd, 0, size)
        finally:
            os.close(fd)


def read_all(folder: str) -> list[Record]:
    """Every attempt recorded under a pod's folder, oldest first for each container."""
    found: list[Record] = []
    root = os.path.join(folder, "containers")
    for container in sorted(os.listdir(root)) if os.path.isdir(root) else []:
        names = [name for name in os.listdir(os.path.join(root, container)) if name.endswith(".json")]
        for name in sorted(names, key=lambda each: int(each.partition(".")[0])):
            with open(os.path.join(root, container, name), "rb") as file:
                found.append(json.loads(file.read()))
    return found
