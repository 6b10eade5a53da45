"""The runner's loop: starts containers when told, keeps their logs, records their ends, and answers the agent.

Requests are JSON lines on the unix socket `control.sock` of the pod's folder. Starting is idempotent: an attempt that
has a record is never started again, whoever asks. A grace period, once begun, runs out here, agent or no agent.
"""

# pathlib would cost every running pod memory.
# ruff: noqa: PTH103, PTH110, PTH120
from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import time
from typing import Any

from tidegate.local.agent.runner import init, linux, records
from tidegate.local.agent.runner.askers import Askers
from tidegate.local.agent.runner.container import Container
from tidegate.local.agent.runner.logfile import LogFile

_PIPE_READ = 65536


class Keeper:
    def __init__(self, listener: socket.socket, *, namespaces: bool) -> None:
        self._namespaces = namespaces
        self._poll = select.poll()
        self._askers = Askers(listener, self._poll, self._left)
        self._containers: dict[str, Container] = {}
        self._execs: dict[int, tuple[int, str]] = {}
        self._exec_count = 0
        self._starts: dict[str, int] = {}
        self._closing = False

    def run(self) -> None:
        wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        self._poll.register(wake, select.POLLIN)
        while not (self._closing and not self._containers):
            for fd, _ in self._poll.poll(self._patience_ms()):
                if fd == wake:
                    os.read(wake, 512)
                else:
                    self._dispatch(fd)
            self._reap()
            self._enforce()

    def _patience_ms(self) -> int | None:
        times = [each.kill_at for each in self._containers.values() if each.kill_at is not None]
        return max(0, int((min(times) - time.monotonic()) * 1000) + 1) if times else None

    def _dispatch(self, fd: int) -> None:
        if self._askers.is_door(fd):
            self._askers.let_in()
            return
        if fd in self._askers:
            request = self._askers.hear(fd)
            answer = None if request is None else self._answer(fd, request)
            if answer is not None:
                self._askers.say(fd, answer)
            return
        for each in self._containers.values():
            if fd in each.pipes:
                self._read_pipe(each, fd)
                return
            if fd == each.control.fileno():
                self._hear_init(each)
                return

    # The agent's side.

    def _left(self, fd: int) -> None:
        """What it had started and waited for ends with it."""
        for number, (asker, container) in list(self._execs.items()):
            if asker == fd:
                del self._execs[number]
                self._tell(container, {"do": "end exec", "exec": number})

    def _answer(self, fd: int, request: dict[str, Any]) -> dict[str, Any] | None:
        """The reply to one request, or None when it comes later (exec) or again and again (watch)."""
        match request["do"]:
            case "start":
                return self._start(fd, request)
            case "signal":
                self._tell(request["container"], {"do": "signal", "number": request["number"]})
            case "stop":
                self._stop(request["container"], request["grace_s"])
            case "watch":
                self._askers.watch(fd)
                return self._state()
            case "exec":
                return self._exec(fd, request)
            case "close":
                self._closing = True
        return {"ok": True}

    def _state(self) -> dict[str, Any]:
        return {"running": [each.record for each in self._containers.values()]}

    # Containers.

    def _start(self, fd: int, request: dict[str, Any]) -> dict[str, Any] | None:
        """Answered when the process runs or could not be started, so that the agent sees one change and not two."""
        name, attempt = request["container"], request["attempt"]
        path = records.path_of(name, attempt)
        if name in self._containers or os.path.exists(path):
            return {"ok": True}
        os.makedirs(os.path.dirname(path), exist_ok=True)
        record: records.Record = {"container": name, "attempt": attempt, "state": "starting"}
        record |= {"begun": time.time(), **request["remember"]}
        records.write(path, record)
        self._starts[name] = fd
        self._containers[name] = self._launch(record, request)
        return None

    def _launch(self, record: records.Record, launch: dict[str, Any]) -> Container:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        out, out_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        err, err_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        for fd in (out_end, err_end):
            os.set_blocking(fd, True)
        log = LogFile(launch["log"], bytes_most=launch["logBytes"], files_most=launch["logFiles"])
        pid = linux.fork_into(linux.NEWPID) if self._namespaces else os.fork()
        if pid == 0:
            ours.close()
            self._forget_everything(keep={theirs.fileno(), out_end, err_end})
            init.run(launch, theirs, (os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC), out_end, err_end))
        theirs.close()
        os.close(out_end)
        os.close(err_end)
        container = Container(record, pid, ours, log)
        container.pipes = {out: "stdout", err: "stderr"}
        container.cgroup = launch.get("cgroup") or ""
        for fd in (ours.fileno(), out, err):
            self._poll.register(fd, select.POLLIN)
        return container

    def _forget_everything(self, keep: set[int]) -> None:
        """A container's init holds none of the runner's descriptors, except the pod's lock, which says it lives."""
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        self._askers.forget()
        for each in self._containers.values():
            each.control.close()
            for fd in set(each.pipes) - keep:
                os.close(fd)

    def _tell(self, container: str, command: dict[str, Any], fds: list[int] | None = None) -> bool:
        each = self._containers.get(container)
        if each is None:
            return False
        try:
            socket.send_fds(each.control, [json.dumps(command).encode()], fds or [])
        except OSError:
            return False
        return True

    def _stop(self, container: str, grace_s: float) -> None:
        """SIGTERM now and SIGKILL for all when the grace period is over. A later call can only shorten it."""
        each = self._containers.get(container)
        if each is None:
            return
        deadline = time.monotonic() + grace_s
        if each.kill_at is None and grace_s > 0:
            self._tell(container, {"do": "signal", "number": signal.SIGTERM})
        each.kill_at = deadline if each.kill_at is None else min(each.kill_at, deadline)

    def _enforce(self) -> None:
        now = time.monotonic()
        for each in self._containers.values():
            if each.kill_at is not None and each.kill_at <= now:
                each.kill_at = None
                if self._namespaces:
                    os.kill(each.pid, signal.SIGKILL)
                else:
                    self._tell(each.record["container"], {"do": "kill"})

    def _exec(self, fd: int, request: dict[str, Any]) -> dict[str, Any] | None:
        self._exec_count += 1
        number = self._exec_count
        command = {"do": "exec", "exec": number, "argv": request["argv"], "tty": request.get("tty", False)}
        fds = self._askers.descriptors(fd)
        told = len(fds) == 3 and self._tell(request["container"], command, fds)
        for left in fds:
            os.close(left)
        if not told:
            return {"error": f"container {request['container']} is not running"}
        self._execs[number] = (fd, request["container"])
        return None

    def _hear_init(self, each: Container) -> bool:
        """Takes one piece of news from a container's init; false when there is none."""
        try:
            message = each.control.recv(1 << 16)
        except ConnectionResetError:
            return True  # It ended with something of ours unheard; what it said before comes next.
        if not message:
            with contextlib.suppress(KeyError):
                self._poll.unregister(each.control.fileno())
            return False
        news = json.loads(message)
        if "exec" in news:
            asker, _ = self._execs.pop(news["exec"], (-1, ""))
            self._askers.say(asker, {"code": news["code"]})
        elif "running" in news:
            each.record |= {"state": "running", "started": time.time(), "pid": each.pid}
            each.record |= {"ticks": linux.start_ticks(each.pid)}
            self._write(each)
        elif "failed" in news and each.record["state"] == "starting":
            each.record |= {"reason": news["failed"], "message": news["message"]}
        return True

    def _write(self, each: Container) -> None:
        records.write(records.path_of(each.record["container"], each.record["attempt"]), each.record)
        self._askers.say(self._starts.pop(each.record["container"], -1), {"ok": True})
        self._askers.publish(self._state())

    def _read_pipe(self, each: Container, fd: int) -> bool:
        """Moves one piece into the log; false at the end of what can be read now."""
        try:
            piece = os.read(fd, _PIPE_READ)
        except BlockingIOError:
            return False
        if piece:
            each.log.take(each.pipes[fd], piece)
            return True
        del each.pipes[fd]
        self._poll.unregister(fd)
        os.close(fd)
        return False

    def _reap(self) -> None:
        for name, each in list(self._containers.items()):
            pid, status = os.waitpid(each.pid, os.WNOHANG)
            if pid:
                del self._containers[name]
                self._end(each, os.waitstatus_to_exitcode(status))

    def _end(self, each: Container, code: int) -> None:
        for fd in list(each.pipes):
            while self._read_pipe(each, fd):
                pass
        each.log.finish()
        with contextlib.suppress(OSError):
            each.control.setblocking(False)
            while self._hear_init(each):
                pass
        for fd in [each.control.fileno(), *each.pipes]:
            with contextlib.suppress(KeyError):
                self._poll.unregister(fd)
        for fd in each.pipes:
            os.close(fd)
        for number in [n for n, (_, container) in self._execs.items() if container == each.record["container"]]:
            asker, _ = self._execs.pop(number)
            self._askers.say(asker, {"code": 137})
        each.control.close()
        each.record |= {"state": "exited", "finished": time.time(), "code": 128 - code if code < 0 else code}
        if each.ran_out_of_memory():
            each.record["reason"] = "OOMKilled"
        self._write(each)
