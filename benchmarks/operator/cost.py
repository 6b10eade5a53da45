"""What processes have cost so far, as the kernel counts it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def cpu_s(pids: Iterable[int]) -> float:
    """CPU seconds of these processes and of all that they started."""
    return sum(_ticks(pid) for pid in pids) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    folder = Path(f"/proc/{pid}")
    ticks = folder.joinpath("stat").read_text().rpartition(")")[2].split()[11:13]
    children = folder.joinpath("task", str(pid), "children").read_text().split()
    return sum(map(int, ticks)) + sum(_ticks(int(child)) for child in children)


def most_mb(pid: int) -> float:
    """The most memory that a process ever had."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
