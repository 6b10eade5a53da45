"""Running a command inside a container for somebody at the other end of a WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import struct
import termios

import msgspec

from tidegate.local.agent.serve import channels
from tidegate.local.agent.serve.channels import Channels
from tidegate.local.agent.work.processes import Runner, RunnerError

_PIECE = 32768


async def execute(open_: Channels, runner: Runner, container: str, argv: list[str], *, tty: bool) -> None:
    """The whole of one exec: its input and output until it ends or the other side leaves, then its exit code."""
    stdio = _Terminal() if tty else _Pipes()
    command = asyncio.create_task(runner.execute(container, argv, stdio.theirs, tty=tty))
    await asyncio.sleep(0)
    stdio.close_theirs()
    outputs = [asyncio.create_task(_forward(fd, channel, open_)) for channel, fd in stdio.outputs.items()]
    inputs = asyncio.create_task(_feed(open_, stdio))
    try:
        await asyncio.wait([command, inputs], return_when=asyncio.FIRST_COMPLETED)
        if not command.done():
            command.cancel()
            return
        await asyncio.wait(outputs, timeout=5)
        await open_.finish(channels.exit_status(command.result()))
    except RunnerError as error:
        await open_.finish(channels.failure(str(error)))
    finally:
        for task in (inputs, *outputs):
            task.cancel()
        await asyncio.gather(inputs, *outputs, command, return_exceptions=True)
        stdio.close()


class _Pipes:
    """Three pipes; the command has one end of each."""

    def __init__(self) -> None:
        stdin, self.input = os.pipe2(os.O_CLOEXEC)
        out, stdout = os.pipe2(os.O_CLOEXEC)
        err, stderr = os.pipe2(os.O_CLOEXEC)
        self.theirs = (stdin, stdout, stderr)
        self.outputs = {channels.STDOUT: out, channels.STDERR: err}
        self._input_open = True

    def close_theirs(self) -> None:
        for fd in self.theirs:
            os.close(fd)

    def close_input(self) -> None:
        if self._input_open:
            self._input_open = False
            os.close(self.input)

    def resize(self, width: int, height: int) -> None:
        """Pipes have no size."""

    def close(self) -> None:
        self.close_input()


class _Terminal(_Pipes):
    """A pseudo terminal; the command has its far end as all three."""

    def __init__(self) -> None:
        near, far = os.openpty()
        os.set_inheritable(near, False)
        self.input = near
        self.theirs = (far, far, far)
        self.outputs = {channels.STDOUT: os.dup(near)}
        self._input_open = True

    def close_theirs(self) -> None:
        os.close(self.theirs[0])

    def resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.input, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))


async def _forward(fd: int, channel: int, open_: Channels) -> None:
    """What the command writes, to the other side, until nobody can write any more."""
    reader = asyncio.StreamReader(limit=_PIECE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0))
    try:
        # The far end of a terminal that goes away is an I/O error here: its way of saying that it is over.
        with contextlib.suppress(OSError):
            while piece := await reader.read(_PIECE):
                await open_.send(channel, piece)
    finally:
        transport.close()


async def _feed(open_: Channels, stdio: _Pipes) -> None:
    """What the other side sends, to the command; returns when it leaves."""
    loop = asyncio.get_running_loop()
    while (received := await open_.receive()) is not None:
        channel, payload = received
        if channel == channels.STDIN and payload:
            with contextlib.suppress(OSError):
                # In a thread: a command that does not read its input must not hold up the whole node.
                await loop.run_in_executor(None, _write_all, stdio.input, payload)
        elif channel == channels.CLOSE and payload[:1] == b"\0":
            stdio.close_input()
        elif channel == channels.RESIZE:
            size = msgspec.json.decode(payload)
            stdio.resize(int(size["Width"]), int(size["Height"]))


def _write_all(fd: int, payload: bytes) -> None:
    while payload:
        payload = payload[os.write(fd, payload) :]
