"""One look at a container, for probes and hooks: a command inside it, an HTTP request, a TCP connection, a gRPC call.

Each returns what is wrong, in a sentence; the empty text means all is well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidegate.local.agent.work.processes import Runner, RunnerError

Spec = Mapping[str, Any]

_OUTPUT_MOST = 10_240


@dataclass(frozen=True, slots=True)
class Target:
    """The container looked at."""

    runner: Runner
    container: Spec
    pod_ip: str

    def port(self, told: int | str) -> int:
        """A port by number or by its name in the container."""
        if isinstance(told, int) or told.isdigit():
            return int(told)
        ports = self.container.get("ports") or []
        return next((int(each["containerPort"]) for each in ports if each.get("name") == told), 0)


async def look(action: Spec, target: Target, timeout_s: float) -> str:
    """Does what a probe or hook says, within its time."""
    try:
        async with asyncio.timeout(timeout_s):
            if "exec" in action:
                return await _command(action["exec"].get("command") or [], target)
            if "httpGet" in action:
                return await _http(action["httpGet"], target)
            if "tcpSocket" in action:
                return await _tcp(action["tcpSocket"], target)
            if "grpc" in action:
                return await _grpc(action["grpc"], target)
            await asyncio.sleep(action.get("sleep", {}).get("seconds", 0))
            return ""
    except TimeoutError:
        return f"no answer within {timeout_s:g}s"
    except (OSError, RunnerError) as error:
        return str(error) or type(error).__name__


async def _command(argv: list[str], target: Target) -> str:
    result, output = os.pipe2(os.O_CLOEXEC)
    quiet = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    try:
        code = await target.runner.execute(target.container["name"], argv, (quiet, output, output))
        os.set_blocking(result, False)
        with contextlib.suppress(BlockingIOError):
            said = os.read(result, _OUTPUT_MOST).decode(errors="replace")
            return "" if code == 0 else said.strip() or f"exit code {code}"
        return "" if code == 0 else f"exit code {code}"
    finally:
        for fd in (result, output, quiet):
            os.close(fd)


async def _http(action: Spec, target: Target) -> str:
    host, port = action.get("host") or target.pod_ip, target.port(action["port"])
    secure = None
    if (action.get("scheme") or "HTTP").upper() == "HTTPS":
        secure = ssl.create_default_context()
        secure.check_hostname = False
        secure.verify_mode = ssl.CERT_NONE  # A probe asks whether the container answers, not who it is.
    reader, writer = await asyncio.open_connection(host, port, ssl=secure)
    try:
        headers = {"Host": f"{host}:{port}", "User-Agent": "kube-probe/1.36", "Accept": "*/*", "Connection": "close"}
        headers |= {each["name"]: each["value"] for each in action.get("httpHeaders") or []}
        lines = [f"GET {action.get('path') or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        first = (await reader.readline()).decode(errors="replace").split()
        status = int(first[1]) if len(first) > 1 and first[1].isdigit() else 0
        return "" if 200 <= status < 400 else f"HTTP probe failed with statuscode: {status}"
    finally:
        writer.close()


async def _tcp(action: Spec, target: Target) -> str:
    _, writer = await asyncio.open_connection(action.get("host") or target.pod_ip, target.port(action["port"]))
    writer.close()
    return ""


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _literal(name: str, value: str) -> bytes:
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


async def _grpc(action: Spec, target: Target) -> str:
    """grpc.health.v1.Health/Check, by hand: one request needs no HTTP/2 library."""
    host, port = target.pod_ip, target.port(action["port"])
    reader, writer = await asyncio.open_connection(host, port)
    service = str(action.get("service") or "").encode()
    message = b"\x0a" + bytes([len(service)]) + service if service else b""
    headers = {":method": "POST", ":scheme": "http", ":path": "/grpc.health.v1.Health/Check", ":authority": host}
    headers |= {"content-type": "application/grpc", "te": "trailers"}
    packed = b"".join(_literal(name, value) for name, value in headers.items())
    data = b"\0" + struct.pack(">I", len(message)) + message
    try:
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(4, 0, 0, b""))
        writer.write(_frame(1, 4, 1, packed) + _frame(0, 1, 1, data))
        for _ in range(64):
            head = await reader.readexactly(9)
            kind, flags = head[3], head[4]
            payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
            if kind == 0 and payload:
                return "" if payload[5:] == b"\x08\x01" else "the gRPC service does not say SERVING"
            if kind == 1 and flags & 1:
                break
        return "the gRPC health service did not answer"
    finally:
        writer.close()
