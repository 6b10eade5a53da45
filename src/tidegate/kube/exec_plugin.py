"""Credentials from a program: kubeconfig's `exec`, as cloud providers use it.

The program is run when credentials are needed, again when they expire, and again when the server no longer takes them.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from tidegate.kube.access import AccessError, Certificate

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_RUN_S = 60.0
_APART_S = 1.0
"""Requests that are refused together ask for renewal together; the program need run only once for them."""


@dataclass(frozen=True, slots=True)
class ExecSpec:
    """What a kubeconfig says about the program."""

    api_version: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    install_hint: str = ""
    interactive: bool = False
    """Whether the program may ask questions on the terminal."""
    cluster: Mapping[str, Any] | None = field(default=None, repr=False)
    """What to tell the program about the server, if it wants to know."""


@dataclass(slots=True)
class _Obtained:
    token: str = field(default="", repr=False)
    shown: Certificate | None = None
    expires_at: float | None = None
    at: float = 0.0

    @property
    def header(self) -> str | None:
        return f"Bearer {self.token}" if self.token else None

    def is_good(self) -> bool:
        return self.expires_at is None or time.time() < self.expires_at


@dataclass(slots=True)
class ExecPlugin:
    """Credentials as the program gives them, kept until they expire."""

    spec: ExecSpec
    _obtained: _Obtained | None = field(default=None, init=False, repr=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def authorization(self) -> str | None:
        return (await self._current()).header

    async def certificate(self) -> Certificate | None:
        return (await self._current()).shown

    async def renew(self, refused: str | None) -> bool:
        async with self._lock:
            held = self._obtained
            if held is None or (refused in (None, held.header) and time.monotonic() - held.at >= _APART_S):
                self._obtained = await self._run(held)
        return True

    async def _current(self) -> _Obtained:
        async with self._lock:
            if self._obtained is None or not self._obtained.is_good():
                self._obtained = await self._run(self._obtained)
            return self._obtained

    async def _run(self, held: _Obtained | None) -> _Obtained:
        obtained = _read(await self._output(), self.spec)
        # Connections are made anew when the certificate is another object, so an equal one stays the same.
        if held is not None and obtained.shown == held.shown:
            obtained.shown = held.shown
        return obtained

    async def _output(self) -> bytes:
        spec = self.spec
        interactive = spec.interactive and sys.stdin is not None and sys.stdin.isatty()
        question: dict[str, Any] = {"interactive": interactive}
        if spec.cluster is not None:
            question["cluster"] = spec.cluster
        wish = {"apiVersion": spec.api_version, "kind": "ExecCredential", "spec": question}
        env = {**os.environ, **spec.env, "KUBERNETES_EXEC_INFO": msgspec.json.encode(wish).decode()}
        try:
            process = await asyncio.create_subprocess_exec(
                spec.command,
                *spec.args,
                env=env,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            hint = spec.install_hint or "Install it, or correct `exec.command` in the kubeconfig."
            raise AccessError(
                f"The credential program {spec.command} cannot be run ({error.strerror}). {hint}"
            ) from None
        return await _finished(process, spec.command)


async def _finished(process: asyncio.subprocess.Process, command: str) -> bytes:
    try:
        async with asyncio.timeout(_RUN_S):
            output, _ = await process.communicate()
    except TimeoutError:
        raise AccessError(f"The credential program {command} did not end in {_RUN_S:.0f} s. Run it by hand.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise AccessError(
            f"The credential program {command} failed with status {process.returncode}. Run it by hand to see why."
        )
    return output


def _read(output: bytes, spec: ExecSpec) -> _Obtained:
    try:
        answer = msgspec.json.decode(output)
        status = answer["status"]
        token = status.get("token") or ""
        certificate, key = status.get("clientCertificateData"), status.get("clientKeyData")
        shown = Certificate(certificate.encode(), key.encode()) if certificate and key else None
        expiry = status.get("expirationTimestamp")
        expires_at = datetime.fromisoformat(expiry).timestamp() if expiry else None
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError, ValueError):
        # The output is full of secrets, so no part of it is shown.
        raise AccessError(f"The credential program {spec.command} printed no ExecCredential. Run it by hand.") from None
    if answer.get("apiVersion") != spec.api_version:
        raise AccessError(
            f"The credential program {spec.command} does not speak {spec.api_version}. "
            "Set `exec.apiVersion` in the kubeconfig to the version that it prints."
        )
    if not token and shown is None:
        raise AccessError(f"The credential program {spec.command} gave neither token nor certificate. Run it by hand.")
    return _Obtained(token, shown, expires_at, time.monotonic())
