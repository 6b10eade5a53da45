"""Programs started for a test: their output goes to a file, and none outlives the process that started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
from pathlib import Path

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent() -> None:
    # The kernel sends the signal when the thread that forked us ends, so programs are started by long-lived threads.
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:
        os._exit(1)


def start(name: str, command: list[str], *, logs: Path, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start `command` in a process group of its own, with its output in `logs/name.log`."""
    with (logs / f"{name}.log").open("ab") as log:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=env,
            process_group=0,
            preexec_fn=_die_with_parent,
        )


def stop(process: subprocess.Popen[bytes], *, grace_s: float = 10) -> None:
    """Ask `process` to end, then kill its whole group; returns when it is gone."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
    kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End `process` and its group as a power cut would."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def resident_bytes(pid: int) -> int:
    """Resident memory of `pid`, as the kernel counts it."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
