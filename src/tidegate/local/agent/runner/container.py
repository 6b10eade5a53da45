"""One running attempt, as its runner holds it."""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH123
from __future__ import annotations

import contextlib
import socket

from tidegate.local.agent.runner import records
from tidegate.local.agent.runner.logfile import LogFile


class Container:
    """One running attempt: its init, its pipes, its log."""

    def __init__(self, record: records.Record, pid: int, control: socket.socket, log: LogFile) -> None:
        self.record = record
        self.pid = pid
        self.control = control
        self.log = log
        self.pipes: dict[int, str] = {}
        self.kill_at: float | None = None
        self.cgroup = ""

    def ran_out_of_memory(self) -> bool:
        if not self.cgroup:
            return False
        with contextlib.suppress(OSError, ValueError), open(f"{self.cgroup}/memory.events") as file:
            return any(line.startswith("oom_kill ") and int(line.split()[1]) > 0 for line in file)
        return False
