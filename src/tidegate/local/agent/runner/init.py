"""A container's init: prepares its view, starts its process, forwards signals, reaps, and lets nobody outlive it.

It is the parent of everything in the container: process 1 of a PID namespace, or, without one, a sub-reaper. Commands
come as JSON over a socket from the runner, with file descriptors for exec. When that socket closes the runner is gone,
and so must the container be: nobody would keep its logs or its exit code.
"""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH103, PTH123, PTH208
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import sys
from typing import Any, NoReturn

from tidegate.local.agent.runner import linux, mounts

START_ERROR = 128
"""The exit code of a container whose process could not be started."""

_SWEEPS_MOST = 1000


def run(launch: dict[str, Any], control: socket.socket, stdio: tuple[int, int, int]) -> NoReturn:
    """The whole life of one container, in a freshly forked process. Ends the process with the container's code."""
    code = START_ERROR
    try:
        code = _Init(launch, control, stdio).live()
    except OSError as error:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"failed": "ContainerCannotRun", "message": str(error)}).encode())
    finally:
        os._exit(code)


class _Init:
    def __init__(self, launch: dict[str, Any], control: socket.socket, stdio: tuple[int, int, int]) -> None:
        self._launch = launch
        self._control = control
        self._stdio = stdio
        self._own_namespace = os.getpid() == 1
        self._main = 0
        self._code: int | None = None
        self._forwarded = 0
        self._execs: dict[int, int] = {}

    def live(self) -> int:
        self._settle()
        # Before anything is started: an end that comes earlier would be missed.
        wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._main = self._spawn(self._launch, self._stdio)
        for fd in set(self._stdio):
            os.close(fd)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(wake, select.POLLIN)
        while not self._over():
            for fd, _ in poll.poll():
                if fd == wake:
                    os.read(wake, 512)
                elif not self._obey():
                    self._sweep()
                    return 128 + signal.SIGKILL
            self._reap()
        self._sweep()
        return self._code if self._code is not None else START_ERROR

    def _over(self) -> bool:
        """Ended with its process, unless that died of a signal from outside that was meant for all: a shell that waits
        for a program dies at once, and the program must still get the chance to end well."""
        if self._code is None:
            return False
        return self._code != 128 + self._forwarded or not self._children()

    def _settle(self) -> None:
        os.setsid()
        if group := self._launch.get("cgroup"):
            with open(f"{group}/cgroup.procs", "w") as file:
                file.write("0")
        if self._launch["namespaces"]:
            linux.unshare(linux.NEWNS)
            mounts.prepare(self._launch["mounts"], self._launch["staging"])
            linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
        else:
            linux.become_subreaper()

    def _spawn(self, launch: dict[str, Any], stdio: tuple[int, int, int]) -> int:
        """Forks and executes; raises OSError with the child's own reason when that fails."""
        report, reporter = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            _become(launch, stdio, reporter)
        os.close(reporter)
        problem = os.read(report, 4096)
        os.close(report)
        if problem:
            os.waitpid(pid, 0)
            self._control.send(json.dumps({"failed": "StartError", "message": problem.decode()}).encode())
            if stdio is self._stdio:
                os._exit(START_ERROR)
            return 0
        if stdio is self._stdio:
            self._control.send(json.dumps({"running": pid}).encode())
        return pid

    def _obey(self) -> bool:
        """One command of the runner; false when it has gone."""
        message, fds, _, _ = socket.recv_fds(self._control, 1 << 20, 3)
        if not message:
            return False
        command = json.loads(message)
        if command["do"] == "signal":
            self._forwarded = command["number"]
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._main, self._forwarded)
        elif command["do"] == "kill":
            self._sweep()
            self._code = 128 + signal.SIGKILL if self._code is None else self._code
        elif command["do"] == "exec":
            self._exec(command, fds)
        elif command["do"] == "end exec":
            for pid in [pid for pid, number in self._execs.items() if number == command["exec"]]:
                os.killpg(pid, signal.SIGKILL)
        return True

    def _exec(self, command: dict[str, Any], fds: list[int]) -> None:
        launch = self._launch | {"argv": command["argv"], "tty": command.get("tty", False)}
        pid = self._spawn(launch, (fds[0], fds[1], fds[2]))
        for fd in fds:
            os.close(fd)
        if pid:
            self._execs[pid] = command["exec"]
        else:
            self._control.send(json.dumps({"exec": command["exec"], "code": 126}).encode())

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                code = os.waitstatus_to_exitcode(status)
                code = 128 - code if code < 0 else code
                if pid == self._main:
                    self._code = code
                    self._pass_on()
                elif pid in self._execs:
                    number = self._execs.pop(pid)
                    self._control.send(json.dumps({"exec": number, "code": code}).encode())

    def _pass_on(self) -> None:
        """Tells the others too, when the container's process died of a signal and could not do so itself."""
        if self._forwarded and self._code == 128 + self._forwarded:
            for pid in _descendants(os.getpid()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, self._forwarded)

    def _children(self) -> bool:
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _sweep(self) -> None:
        """Kills all that is left below this process; as namespace init, the kernel does it when this process ends."""
        if self._own_namespace:
            return
        for _ in range(_SWEEPS_MOST):
            below = _descendants(os.getpid())
            for pid in below:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                return
            if pid == self._main and self._code is None:
                code = os.waitstatus_to_exitcode(status)
                self._code = 128 - code if code < 0 else code


def _become(launch: dict[str, Any], stdio: tuple[int, int, int], reporter: int) -> NoReturn:
    """In the child: takes its place and executes, or says why not."""
    try:
        os.setsid()
        # Above the three standard ones first, lest one of them overwrites another before it was copied.
        for target, fd in enumerate([fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in stdio]):
            os.dup2(fd, target)
        if launch.get("tty"):
            _take_terminal()
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.makedirs(launch["cwd"], exist_ok=True)
        os.chdir(launch["cwd"])
        os.umask(0o022)
        os.execvpe(launch["argv"][0], launch["argv"], launch["env"])  # noqa: S606 - that is what it is for
    except OSError as error:
        name = launch["argv"][0]
        reason = "executable file not found in $PATH" if isinstance(error, FileNotFoundError) else error.strerror
        if error.filename and os.fsdecode(error.filename) == launch["cwd"]:
            name = launch["cwd"]
        os.write(reporter, f'exec: "{name}": {reason}'.encode())
    finally:
        os._exit(START_ERROR)


def _take_terminal() -> None:
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _descendants(root: int) -> list[int]:
    """Every process below `root`, found by parent ids: sessions and groups can be left, parents cannot."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", "rb") as file:
                parents[int(entry)] = int(file.read().rpartition(b")")[2].split()[1])
    below = {root}
    for _ in range(len(parents)):
        more = {pid for pid, parent in parents.items() if parent in below} - below
        if not more:
            break
        below |= more
    return sorted(below - {root})


if sys.platform != "linux":  # pragma: no cover
    raise ImportError("the runner needs Linux")
