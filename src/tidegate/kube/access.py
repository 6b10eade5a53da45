"""How one API server is reached: its address, whom to trust, and who we are. Secrets never show in a repr."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit


class AccessError(OSError):
    """A server cannot be reached as configured: one sentence what is wrong, one what to do."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A client certificate and its key, both PEM."""

    certificate: bytes = field(repr=False)
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Trust:
    """Whom to take for the server: the authority it must be signed by (the system's when None), unless nothing is
    checked at all; and the name its certificate must carry, if not the host's."""

    authority: str | None = None
    verify: bool = True
    server_name: str | None = None


class Credentials(Protocol):
    """Who we are, as of now."""

    async def authorization(self) -> str | None:
        """The Authorization header to send."""
        ...

    async def certificate(self) -> Certificate | None:
        """The certificate to show. While nothing changed it is the very same object."""
        ...

    async def renew(self, refused: str | None) -> bool:
        """After a 401 to a request with the header `refused`: whether trying once more makes sense."""
        ...


@dataclass(frozen=True, slots=True)
class Access:
    """All that a transport needs to know. `namespace` is where commands act unless told otherwise."""

    server: str
    credentials: Credentials
    trust: Trust = Trust()
    namespace: str = "default"
    proxy: str | None = None
    compress: bool = True
    impersonate: tuple[tuple[str, str], ...] = ()
    """Headers (a name may come several times) that ask to act as somebody else."""

    @property
    def is_loopback(self) -> bool:
        host = urlsplit(self.server).hostname or ""
        try:
            return host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False


def tls_context(trust: Trust, certificate: Certificate | None) -> ssl.SSLContext:
    """The TLS settings for a connection to the server."""
    try:
        context = ssl.create_default_context(cadata=trust.authority)
    except (ssl.SSLError, ValueError) as error:
        raise AccessError(
            f"The certificate authority of the server cannot be read ({error}). Give it as PEM."
        ) from None
    if not trust.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        _show(context, certificate)
    return context


def _show(context: ssl.SSLContext, certificate: Certificate) -> None:
    with _as_file(certificate.certificate + b"\n" + certificate.key) as path:
        try:
            # Without this answer OpenSSL would ask for the passphrase on the terminal.
            context.load_cert_chain(path, password=lambda: b"")
        except (ssl.SSLError, ValueError) as error:
            raise AccessError(
                f"The client certificate or its key cannot be read ({error}). Give both as PEM, the key unencrypted."
            ) from None


@contextmanager
def _as_file(content: bytes) -> Iterator[str]:
    """A path to read the content from, for as long as the block lasts: OpenSSL takes certificates from files only.
    In memory where the system has such files, else in one that only we can read."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        descriptor = os.memfd_create("certificate", os.MFD_CLOEXEC)
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp()  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield path
    finally:
        if not path.startswith("/proc/"):
            Path(path).unlink()
