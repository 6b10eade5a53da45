"""Serving certificates that replace each other without a gap, as functions of the time.

Each certificate has an authority of its own, whose key is forgotten as soon as it has signed: whoever reads the
Secret can be taken for this server, and can make no other certificates. The next one is made, and trusted by
everybody, long before it is served:

    stage_before ──── next is made; its authority is trusted beside the current one's
    renew_before ──── next is served; the former authority stays trusted until it ends
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

_SKEW = timedelta(minutes=5)
"""Clocks differ: what is made now must be good for somebody whose clock is a little behind."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How long certificates are good, and how long before their end the next one is made, and served."""

    good_for: timedelta = timedelta(days=365)
    stage_before: timedelta = timedelta(days=60)
    renew_before: timedelta = timedelta(days=30)
    spread: timedelta = timedelta(hours=1)
    """So long an authority is trusted at least before what it signed is served: configurations travel."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Certificates:
    """What is served, what will be, and which authorities to trust (PEM, one after the other)."""

    current: Pair
    trusted: bytes
    following: Pair | None = None


def made(hosts: Iterable[str], now: datetime, terms: Terms) -> Certificates:
    """The first ones."""
    pair, authority = _issue(tuple(hosts), now, terms)
    return Certificates(pair, authority)


def renewed(kept: Certificates, hosts: Iterable[str], now: datetime, terms: Terms) -> Certificates:
    """What there should be now; the very same where nothing is due."""
    wanted = set(hosts)
    if not wanted <= _hosts(kept.current):
        # Nobody could have trusted a name that nobody had asked for; who is known by the old ones goes on being so.
        pair, authority = _issue(tuple(sorted(wanted | _hosts(kept.current))), now, terms)
        return Certificates(pair, _good(authority + kept.trusted, now))
    left = _ends(kept.current) - now
    if kept.following is None and left <= terms.stage_before:
        pair, authority = _issue(tuple(sorted(_hosts(kept.current))), now, terms)
        kept = replace(kept, following=pair, trusted=authority + kept.trusted)
    if kept.following is not None and left <= terms.renew_before and _may_serve(kept.following, now, left, terms):
        kept = Certificates(kept.following, kept.trusted)
    return replace(kept, trusted=_good(kept.trusted, now))


def look_again_s(kept: Certificates, now: datetime, terms: Terms) -> float:
    """In how many seconds something may be due."""
    left = _ends(kept.current) - now
    due = left - (terms.stage_before if kept.following is None else terms.renew_before)
    return min(max(due.total_seconds(), 1.0), 3600.0)


def _may_serve(pair: Pair, now: datetime, left: timedelta, terms: Terms) -> bool:
    """Once everybody trusts it; or when waiting for that would leave nothing to serve."""
    return now - (_begins(pair) + _SKEW) >= terms.spread or left <= timedelta(0)


def _issue(hosts: tuple[str, ...], now: datetime, terms: Terms) -> tuple[Pair, bytes]:
    """A pair, and the authority that signed it and nothing else."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID

    signer, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    # Two authorities of one name would be taken for each other.
    issuer = _name(f"tidegate-webhook-ca-{x509.random_serial_number():x}"[:60])
    until = now + terms.good_for
    known = x509.SubjectKeyIdentifier.from_public_key(signer.public_key())
    authority = _builder(issuer, issuer, signer.public_key(), now, until, authority=True)
    authority = authority.add_extension(known, critical=False)
    names = x509.SubjectAlternativeName([_host(host) for host in hosts])
    from_signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    leaf = _builder(_name("tidegate-webhook"), issuer, key.public_key(), now, until, authority=False)
    leaf = leaf.add_extension(names, critical=False).add_extension(from_signer, critical=False)
    leaf = leaf.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return Pair(_signed(leaf, signer), _key_pem(key)), _signed(authority, signer)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, until: datetime,
    *, authority: bool,
) -> x509.CertificateBuilder:  # fmt: skip
    from cryptography import x509

    usage = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=authority, crl_sign=authority, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - _SKEW).not_valid_after(until)
    builder = builder.add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    return builder.add_extension(usage, critical=True)


def _name(common_name: str) -> x509.Name:
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _host(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _signed(builder: x509.CertificateBuilder, signer: ec.EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import hashes, serialization

    return builder.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives import serialization

    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _read(pair: Pair) -> x509.Certificate:
    from cryptography import x509

    return x509.load_pem_x509_certificate(pair.certificate)


def _begins(pair: Pair) -> datetime:
    return _read(pair).not_valid_before_utc


def _ends(pair: Pair) -> datetime:
    return _read(pair).not_valid_after_utc


def _hosts(pair: Pair) -> set[str]:
    from cryptography import x509

    names = _read(pair).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return {str(name.value) for name in names}


def _good(authorities: bytes, now: datetime) -> bytes:
    """Those that have not ended, each once."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding

    found = x509.load_pem_x509_certificates(authorities)
    pems = [each.public_bytes(Encoding.PEM) for each in found if each.not_valid_after_utc > now]
    return b"".join(dict.fromkeys(pems))
