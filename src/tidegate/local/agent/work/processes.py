"""The agent's side of the runners: starting one, talking to it, and reading what it left behind when it is gone."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tidegate.local.agent.runner import records

_SOURCE = str(Path(__file__).resolve().parents[4])
# Isolated and without site-packages: a third of the memory, and nothing a pod's environment says can change it.
_COMMAND = f"import sys; sys.path.insert(0, {_SOURCE!r}); from tidegate.local.agent.runner.__main__ import main; "
_COMMAND += "sys.exit(main(sys.argv[1]))"
_HELD = 3


class RunnerError(Exception):
    """The runner could not be started or does not answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything a container needs to start, as the runner takes it."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    mounts: list[dict[str, Any]]
    log: str
    log_bytes: int
    log_files: int
    staging: str
    namespaces: bool
    cgroup: str | None = None


class Runner:
    """A handle on the runner of one pod folder. Holds no state of its own: the folder and the runner do."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def ensure(self, sandbox: dict[str, Any]) -> None:
        """Starts the runner unless one holds the folder already. Who is cancelled meanwhile ends when it is there: it
        comes up all the same, and whoever stops the pods must find it."""
        records.write(str(self.folder / "sandbox.json"), sandbox)
        starting = asyncio.create_task(self._launch())
        try:
            code, said = await asyncio.shield(starting)
        except asyncio.CancelledError:
            await starting
            raise
        if code not in (0, _HELD):
            raise RunnerError(said.decode(errors="replace").strip() or f"the runner ended with {code}")

    async def _launch(self) -> tuple[int | None, bytes]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", _COMMAND, str(self.folder)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, MARK: self.folder.name},
        )
        _, said = await process.communicate()
        return process.returncode, said

    def alive(self) -> bool:
        """Whether a runner, or a container it left, holds this pod: they hold its lock as long as they live."""
        try:
            lock = os.open(self.folder / "lock", os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

    def records(self) -> list[records.Record]:
        return records.read_all(str(self.folder))

    async def start(self, container: str, attempt: int, launch: Launch, remember: dict[str, Any]) -> None:
        """Starts one attempt; asking again for the same attempt changes nothing."""
        wanted: dict[str, Any] = {"argv": launch.argv, "env": launch.env, "cwd": launch.cwd, "mounts": launch.mounts}
        wanted |= {"log": launch.log, "logBytes": launch.log_bytes, "logFiles": launch.log_files}
        wanted |= {"staging": launch.staging, "namespaces": launch.namespaces, "cgroup": launch.cgroup}
        await self.ask("start", container=container, attempt=attempt, remember=remember, **wanted)

    async def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """One request, one answer."""
        connection = self._connect()
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(connection, msgspec.json.encode({"do": do, **request}) + b"\n")
            return await _line(connection)
        except OSError as error:
            raise RunnerError(f"the pod's runner does not answer: {error}") from error
        finally:
            connection.close()

    async def execute(self, container: str, argv: list[str], stdio: tuple[int, int, int], *, tty: bool = False) -> int:
        """Runs a command inside a running container with these descriptors, and returns its exit code.

        Cancelling kills the command. The caller closes its descriptors.
        """
        connection = self._connect()
        try:
            request = {"do": "exec", "container": container, "argv": argv, "tty": tty}
            socket.send_fds(connection, [msgspec.json.encode(request) + b"\n"], list(stdio))
            connection.setblocking(False)
            answer = await _line(connection)
        except OSError as error:
            raise RunnerError(f"the pod's runner does not answer: {error}") from error
        finally:
            connection.close()
        if "error" in answer:
            raise RunnerError(answer["error"])
        return int(answer["code"])

    async def watch(self, changed: Callable[[], None]) -> None:
        """Calls `changed` after every start and end of a container, until the runner is gone."""
        with contextlib.suppress(RunnerError, OSError):
            connection = self._connect()
            connection.setblocking(False)
            reader, writer = await asyncio.open_unix_connection(sock=connection)
            try:
                writer.write(b'{"do": "watch"}\n')
                while await reader.readline():
                    changed()
            finally:
                writer.close()
        changed()

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # Through the folder's descriptor, because a socket's path may not be longer than 107 bytes.
        try:
            folder = os.open(self.folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                connection.connect(f"/proc/self/fd/{folder}/control.sock")
            finally:
                os.close(folder)
        except OSError as error:
            connection.close()
            raise RunnerError(f"the pod's runner is not there: {error}") from error
        return connection


MARK = "TIDEGATE_POD_UID"
"""In the environment of every process of a pod and of its runner, so that none is forgotten: one whose runner and init
were both killed, a runner whose folder was removed while it came up."""


def sweep(pod_uid: str) -> None:
    """Kills what is left of a pod that has no runner."""
    mark = f"{MARK}={pod_uid}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)


async def _line(connection: socket.socket) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    held = b""
    while not held.endswith(b"\n"):
        piece = await loop.sock_recv(connection, 65536)
        if not piece:
            raise ConnectionResetError("connection closed")
        held += piece
    answer: dict[str, Any] = msgspec.json.decode(held)
    return answer
