"""Certificates kept in a Secret: all replicas serve the same, and whoever sees first that one is due renews it.

Written by compare-and-swap: of two who do so at the same time one is told of a conflict, and reads what the other
wrote.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tidegate.kube.answers import StatusError
from tidegate.kube.client import Client
from tidegate.kube.informer import Informer
from tidegate.kube.resources import SECRETS
from tidegate.kube.serve.certificates import Certificates, Pair, Terms, look_again_s, made, renewed
from tidegate.kube.wire import Object

_log = logging.getLogger(__name__)

_RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class Place:
    """The Secret."""

    namespace: str
    name: str = "tidegate-webhook"


class KeptCertificates:
    """Follows the Secret, makes and renews what is in it, and serves by it. `ready` is set once there is something."""

    def __init__(
        self,
        client: Client,
        place: Place,
        hosts: Iterable[str],
        *,
        terms: Terms | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._client = client
        self._place = place
        self._hosts = tuple(sorted(set(hosts)))
        self._terms = terms or Terms()
        self._clock = clock
        self._informer: Informer[Object] = Informer(
            client, SECRETS, place.namespace, fields=f"metadata.name={place.name}"
        )
        self._informer.on_change(lambda old, new: self.look())
        self._look = asyncio.Event()
        self._served: Certificates | None = None
        self._told: list[Callable[[], None]] = []
        self.ready = asyncio.Event()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2

    @property
    def trusted(self) -> bytes:
        """Authorities by which this server is to be known; empty before `ready`."""
        return self._served.trusted if self._served else b""

    def on_change(self, told: Callable[[], None]) -> None:
        self._told.append(told)

    def look(self) -> None:
        """Look now whether something is due."""
        self._look.set()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._informer.run())
            await self._informer.synced()
            while True:
                self._look.clear()
                wait_s = await self._turn()
                try:
                    async with asyncio.timeout(wait_s):
                        await self._look.wait()
                except TimeoutError:
                    continue

    async def _turn(self) -> float:
        try:
            kept = await self._settle()
        except (StatusError, OSError) as failed:
            if getattr(failed, "code", 0) == 409:  # Another replica was faster; its write is heard of soon.
                return _RETRY_S
            _log.warning("The certificates in Secret %s could not be kept: %s", self._place.name, failed)
            return _RETRY_S
        if kept != self._served:
            self._serve(kept)
        return look_again_s(kept, self._clock(), self._terms)

    async def _settle(self) -> Certificates:
        """What the Secret has once nothing is due; 409 comes out as StatusError, and is looked at again."""
        known, now = self._informer.get(self._place.name, self._place.namespace), self._clock()
        kept = _unpacked(known) if known is not None else None
        wanted = made(self._hosts, now, self._terms) if kept is None else renewed(kept, self._hosts, now, self._terms)
        if wanted == kept:
            return wanted
        body = self._secret(wanted)
        if known is None:
            await self._client.create(SECRETS, body)
        else:
            await self._client.update(SECRETS, {**known, "data": body["data"]})
        _log.info("Certificates in Secret %s/%s were written.", self._place.namespace, self._place.name)
        return wanted

    def _secret(self, kept: Certificates) -> Object:
        content = {"tls.crt": kept.current.certificate, "tls.key": kept.current.key, "ca.crt": kept.trusted}
        if kept.following is not None:
            content |= {"next.crt": kept.following.certificate, "next.key": kept.following.key}
        meta = {"name": self._place.name, "namespace": self._place.namespace}
        data = {key: base64.b64encode(value).decode() for key, value in content.items()}
        return {"metadata": meta, "type": "kubernetes.io/tls", "data": data}

    def _serve(self, kept: Certificates) -> None:
        """New connections get the new certificate; those that are open go on."""
        with tempfile.TemporaryDirectory(prefix="tidegate-tls-") as folder:
            certificate, key = Path(folder, "tls.crt"), Path(folder, "tls.key")
            certificate.write_bytes(kept.current.certificate)
            key.touch(mode=0o600)
            key.write_bytes(kept.current.key)
            self.context.load_cert_chain(certificate, key)
        self._served = kept
        self.ready.set()
        for told in self._told:
            told()


def _unpacked(secret: Object) -> Certificates | None:
    """None where it has no certificates that can be read: then they are made anew."""
    from cryptography import x509

    data = secret.get("data") or {}
    try:
        content = {key: base64.b64decode(value) for key, value in data.items()}
        current, following = _pair(content, "tls"), None
        if "next.crt" in content:
            following = _pair(content, "next")
        trusted = content["ca.crt"]
        x509.load_pem_x509_certificates(trusted)
    except (KeyError, ValueError):
        return None
    return Certificates(current, trusted, following)


def _pair(content: dict[str, bytes], name: str) -> Pair:
    """Whatever can be served. ValueError where it is no certificate, or the key is not its own."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    pair = Pair(content[f"{name}.crt"], content[f"{name}.key"])
    certificate, key = x509.load_pem_x509_certificate(pair.certificate), load_pem_private_key(pair.key, None)
    if certificate.public_key() != key.public_key():
        raise ValueError("the key is another certificate's")
    return pair
