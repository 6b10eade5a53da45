"""WebSockets: the channels of exec and attach (input, output, the result, terminal sizes), and plain tunnels."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from tidegate.local.agent.serve.http import Answer, Asked

if TYPE_CHECKING:
    from websockets.server import ServerProtocol

STDIN, STDOUT, STDERR, RESULT, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
SUBPROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")


class Channels:
    """An open connection. `receive` gives (channel, payload) until the other side closes."""

    def __init__(self, answer: Answer, protocol: ServerProtocol) -> None:
        self._reader = answer.reader
        self._writer = answer.writer
        self._protocol = protocol
        self._pending: list[tuple[int, bytes]] = []

    @classmethod
    async def open(cls, asked: Asked, answer: Answer) -> Channels | None:
        """Answers the upgrade; None if it was not one we speak."""
        protocol = await _upgraded(asked, answer, SUBPROTOCOLS)
        return cls(answer, protocol) if protocol.state.name == "OPEN" else None

    async def send(self, channel: int, payload: bytes) -> None:
        if self._protocol.state.name == "OPEN":
            self._protocol.send_binary(bytes([channel]) + payload)
            await _flush(self._protocol, self._writer)

    async def receive(self) -> tuple[int, bytes] | None:
        while not self._pending:
            data = await self._reader.read(65536)
            if data:
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            for frame in self._protocol.events_received():
                payload = getattr(frame, "data", b"")
                if getattr(frame, "opcode", 8) in (1, 2) and payload:
                    self._pending.append((payload[0], bytes(payload[1:])))
            await _flush(self._protocol, self._writer)
            if not data or self._protocol.state.name != "OPEN":
                break
        return self._pending.pop(0) if self._pending else None

    async def finish(self, result: dict[str, Any]) -> None:
        """Sends the result and closes."""
        await self.send(RESULT, msgspec.json.encode(result))
        if self._protocol.state.name == "OPEN":
            self._protocol.send_close(1000)
            await _flush(self._protocol, self._writer)


class Tunnel:
    """A WebSocket that carries one stream of bytes, in frames of any size."""

    def __init__(self, answer: Answer, protocol: ServerProtocol) -> None:
        self._reader, self._writer, self._protocol = answer.reader, answer.writer, protocol

    @classmethod
    async def open(cls, asked: Asked, answer: Answer, subprotocol: str) -> Tunnel | None:
        """Answers the upgrade; None if it was not for this subprotocol."""
        protocol = await _upgraded(asked, answer, (subprotocol,))
        return cls(answer, protocol) if protocol.state.name == "OPEN" else None

    async def write(self, payload: bytes) -> None:
        if self._protocol.state.name == "OPEN":
            self._protocol.send_binary(payload)
            await _flush(self._protocol, self._writer)

    async def read(self) -> bytes | None:
        """What came next; None when the other side is gone."""
        data = await self._reader.read(65536)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        frames = self._protocol.events_received()
        await _flush(self._protocol, self._writer)
        if not data or self._protocol.state.name != "OPEN":
            return None
        return b"".join(bytes(frame.data) for frame in frames if getattr(frame, "opcode", 8) in (0, 2))  # type: ignore[union-attr]


async def _upgraded(asked: Asked, answer: Answer, subprotocols: tuple[str, ...]) -> ServerProtocol:
    from websockets.server import ServerProtocol
    from websockets.typing import Subprotocol

    answer.taken_over = True
    # Kubernetes has a subprotocol with a slash in its name, which HTTP does not allow and the library refuses.
    spelled = {name.encode(): name.replace("/", "-").encode() for name in subprotocols}
    protocol = ServerProtocol(subprotocols=[Subprotocol(name.decode()) for name in spelled.values()], max_size=None)
    protocol.receive_data(_respelled(asked.head, spelled))
    events = protocol.events_received()
    if events:
        protocol.send_response(protocol.accept(events[0]))  # type: ignore[arg-type]
    back = {own: theirs for theirs, own in spelled.items()}
    for data in protocol.data_to_send():
        answer.writer.write(_respelled(data, back))
    await answer.writer.drain()
    return protocol


def _respelled(head: bytes, names: dict[bytes, bytes]) -> bytes:
    for name, other in names.items():
        head = head.replace(name, other)
    return head


async def _flush(protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
    for data in protocol.data_to_send():
        if data:
            writer.write(data)
    await writer.drain()


def success() -> dict[str, Any]:
    return {"metadata": {}, "status": "Success"}


def exit_status(code: int) -> dict[str, Any]:
    """The result of a command, in the words that kubectl turns into its own exit code."""
    if code == 0:
        return success()
    message = f"command terminated with non-zero exit code: exit status {code}"
    causes = [{"reason": "ExitCode", "message": str(code)}]
    return {**failure(message), "reason": "NonZeroExitCode", "details": {"causes": causes}}


def failure(message: str) -> dict[str, Any]:
    return {"metadata": {}, "status": "Failure", "message": message, "reason": "InternalError", "code": 500}
