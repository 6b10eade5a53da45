"""One machine as a cluster: the control plane and the node agent as two processes that outlive who started them.

`up` starts whichever is not running and returns when both are; `down` stops them. Each holds a lock in the data folder
for as long as it lives, so there is never a second one, and no stale file that says otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tidegate.local.agent.work.left import stop_left
from tidegate.local.lock import holder_of

_PAUSE_S = 0.02
_STOP_S = 45.0
"""Longer than a pod's usual grace period."""


class MachineError(Exception):
    """It did not start or stop; the text says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Machine:
    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 0
    isolation: str = "auto"
    program: str = "tidegate.local.apiserver"
    """The module that is the control plane; one with more inside takes the same arguments."""

    @property
    def kubeconfig(self) -> Path:
        return self.data_dir / "kubeconfig"

    @property
    def agent_kubeconfig(self) -> Path:
        return self.data_dir / "agent" / "kubeconfig"

    def lock_of(self, role: str) -> Path:
        return self.data_dir / "agent" / "agent.lock" if role == "agent" else self.data_dir / "control-plane.lock"

    def log_of(self, role: str) -> Path:
        return self.data_dir / "logs" / f"{role}.log"

    def running(self, role: str) -> int | None:
        return holder_of(self.lock_of(role))

    def control_plane_command(self) -> list[str]:
        module = [sys.executable, "-m", self.program, "--data-dir", str(self.data_dir)]
        return [*module, "--host", self.host, "--port", str(self.port)]

    def agent_command(self, *, stop_pods: bool = True) -> list[str]:
        pki, folder = self.data_dir / "pki", self.data_dir / "agent"
        module = [sys.executable, "-m", "tidegate.local.agent", "--data-dir", str(folder)]
        module += ["--kubeconfig", str(self.agent_kubeconfig), "--schedule", "--node-name", "local"]
        module += ["--images", str(self.data_dir / "images.yaml"), "--isolation", self.isolation]
        module += ["--tls-cert", str(pki / "agent.crt"), "--tls-key", str(pki / "agent.key")]
        module += ["--client-ca", str(pki / "ca.crt")]
        return [*module, *(["--stop-pods"] if stop_pods else [])]

    def up(self, *, wait_s: float = 30.0) -> list[str]:
        """Starts what is not running; which roles it started, of which nothing is left where that fails. The agent
        comes up while the server still gets ready."""
        try:
            self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(f"{self.data_dir} cannot be its folder: {error.strerror}. Choose another.") from None
        started: dict[str, subprocess.Popen[bytes]] = {}
        try:
            self._start_missing(started, wait_s)
        except BaseException:
            # Also on Ctrl-C, and before they hold their locks: nobody would look for what is left.
            _stop(started.values())
            raise
        return list(started)

    def await_ready(self, *, wait_s: float = 30.0) -> None:
        """Returns when the control plane that runs can be asked: somebody else may be starting it just now."""
        self._await("control-plane", None, self.kubeconfig.exists, wait_s)

    def _start_missing(self, started: dict[str, subprocess.Popen[bytes]], wait_s: float) -> None:
        if self.running("control-plane") is None:
            self.kubeconfig.unlink(missing_ok=True)
            before = _inode(self.agent_kubeconfig)
            with _undisturbed():
                server = started["control-plane"] = self._start("control-plane", self.control_plane_command())
            self._await("control-plane", server, lambda: _inode(self.agent_kubeconfig) != before, wait_s)
        if self.running("agent") is None:
            with _undisturbed():
                agent = started["agent"] = self._start("agent", self.agent_command())
            self._await("agent", agent, lambda: self.running("agent") is not None, wait_s)
        self._await("control-plane", started.get("control-plane"), self.kubeconfig.exists, wait_s)

    def _start(self, role: str, command: list[str]) -> subprocess.Popen[bytes]:
        log = self.log_of(role)
        log.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=descriptor, stderr=descriptor, start_new_session=True
            )
        finally:
            os.close(descriptor)

    def _await(
        self, role: str, process: subprocess.Popen[bytes] | None, ready: Callable[[], bool], wait_s: float
    ) -> None:
        """Until it is ready. Where two start the same at once, one of the processes ends, and both await the other."""
        log = self.log_of(role)
        deadline = time.monotonic() + wait_s
        while not ready():
            if (process is None or process.poll() is not None) and self.running(role) is None:
                raise MachineError(f"The {role} ended at its start. {_last_line(log)} Its log: {log}")
            if time.monotonic() > deadline:
                raise MachineError(f"The {role} was not ready within {wait_s:.0f} s. Look at its log: {log}")
            time.sleep(_PAUSE_S)

    def down(self, *, wait_s: float = _STOP_S) -> list[str]:
        """Stops the agent with its pods, then the control plane; what was running of these. Pods that were left by an
        agent which was killed are stopped without one."""
        stopped = {
            "agent": self._end("agent", wait_s),
            "pods": asyncio.run(stop_left(self.data_dir / "agent" / "pods", wait_s=wait_s)),
            "control-plane": self._end("control-plane", wait_s),
        }
        return [role for role, was_running in stopped.items() if was_running]

    def _end(self, role: str, wait_s: float) -> bool:
        """Whether it was running."""
        pid = self.running(role)
        if not pid:
            return False
        # One that died while it began may have left a child that still holds its lock, for a moment.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        self._await_end(role, pid, wait_s)
        return True

    def _await_end(self, role: str, pid: int, wait_s: float) -> None:
        deadline = time.monotonic() + wait_s
        while self.running(role) == pid:
            if time.monotonic() > deadline:
                raise MachineError(
                    f"The {role} (process {pid}) did not stop within {wait_s:.0f} s. Kill it: kill -9 {pid}"
                )
            time.sleep(_PAUSE_S)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A Ctrl-C meanwhile is heard afterwards: within Popen it would leave a process behind that nobody knows of."""
    heard = []
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt


def _stop(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    """Ends them, the last that was started first."""
    for process in reversed([*processes]):
        process.terminate()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _last_line(log: Path) -> str:
    """What it said at the end, if anything."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "It said nothing.")


def _inode(path: Path) -> int:
    """Which file it is: another one after it was written anew; 0 where there is none."""
    return path.stat().st_ino if path.exists() else 0
