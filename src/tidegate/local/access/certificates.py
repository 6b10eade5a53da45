"""Certificates: an authority of our own, and what it signs. Keys are readable by their owner alone."""

from __future__ import annotations

import ipaddress
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

_AUTHORITY_FOR = timedelta(days=3650)
_SIGNED_FOR = timedelta(days=365)
_RENEW_WITHIN = timedelta(days=90)


def write_private(path: Path, data: bytes) -> None:
    """Writes a file that only its owner can read, whole or not at all."""
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


class Note(msgspec.Struct):
    """What a certificate was made for, beside it: reading the certificate itself would mean to load a whole library of
    cryptography at every start, which takes longer than all else."""

    common_name: str
    organisations: tuple[str, ...]
    hosts: tuple[str, ...]
    until: float = 0.0


def _is_good(note_file: Path, wanted: Note) -> bool:
    try:
        note = msgspec.json.decode(note_file.read_bytes(), type=Note)
    except (OSError, msgspec.DecodeError):
        return False
    lasts = note.until - datetime.now(UTC).timestamp() > _RENEW_WITHIN.total_seconds()
    return lasts and msgspec.structs.replace(note, until=0.0) == wanted


class Authority:
    """The certificate authority of one control plane, kept in its data folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.certificate_file = folder / "ca.crt"
        self._key_file = folder / "ca.key"
        if not (self.certificate_file.exists() and self._key_file.exists()):
            self._make()

    @property
    def pem(self) -> str:
        return self.certificate_file.read_text()

    def _make(self) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("tidegate-ca")
        builder = _builder(name, name, key.public_key(), _AUTHORITY_FOR)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        builder = builder.add_extension(_usage(authority=True), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        write_private(self._key_file, _key_pem(key))
        write_private(self.certificate_file, _certificate_pem(builder, key))

    def issue(
        self, file_name: str, common_name: str, *, organisations: tuple[str, ...] = (), hosts: tuple[str, ...] = ()
    ) -> tuple[Path, Path]:
        """A certificate and its key, as files; those that exist, fit and are not about to expire are kept."""
        certificate_file, key_file = self.folder / f"{file_name}.crt", self.folder / f"{file_name}.key"
        note_file = self.folder / f"{file_name}.json"
        wanted = Note(common_name, organisations, hosts)
        if not (certificate_file.exists() and key_file.exists() and _is_good(note_file, wanted)):
            note_file.unlink(missing_ok=True)
            self._issue(certificate_file, key_file, common_name, organisations, hosts)
            wanted.until = (datetime.now(UTC) + _SIGNED_FOR).timestamp()
            write_private(note_file, msgspec.json.encode(wanted))
        return certificate_file, key_file

    def _issue(
        self, certificate_file: Path, key_file: Path, name: str, organisations: tuple[str, ...], hosts: tuple[str, ...]
    ) -> None:
        from cryptography import x509
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from cryptography.x509.oid import ExtendedKeyUsageOID

        signer = load_pem_private_key(self._key_file.read_bytes(), None)
        assert isinstance(signer, ec.EllipticCurvePrivateKey)
        issuer = x509.load_pem_x509_certificate(self.certificate_file.read_bytes())
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(name, organisations), issuer.subject, key.public_key(), _SIGNED_FOR)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(authority=False), critical=True)
        uses = [ExtendedKeyUsageOID.CLIENT_AUTH, *([ExtendedKeyUsageOID.SERVER_AUTH] if hosts else [])]
        builder = builder.add_extension(x509.ExtendedKeyUsage(uses), critical=False)
        known = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
        builder = builder.add_extension(known, critical=False)
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
        write_private(key_file, _key_pem(key))
        write_private(certificate_file, _certificate_pem(builder, signer))


def _host(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _name(common_name: str, organisations: tuple[str, ...] = ()) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organisations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, valid_for: timedelta
) -> x509.CertificateBuilder:
    from cryptography import x509

    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number())
    # Clocks differ: a certificate made now must do for somebody whose clock is a little behind.
    return builder.not_valid_before(now - timedelta(minutes=5)).not_valid_after(now + valid_for)


def _usage(*, authority: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=authority, crl_sign=authority, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _certificate_pem(builder: x509.CertificateBuilder, signer: ec.EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import hashes, serialization

    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
