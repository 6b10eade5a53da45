"""Bearer tokens: a few fixed ones from a file, and signed ones for service accounts."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.access.certificates import write_private
from tidegate.local.access.users import AUTHENTICATED, MASTERS, User, service_account
from tidegate.local.store import Store

ISSUER = "https://kubernetes.default.svc.cluster.local"
_KNOWN_TOKENS = 1024
"""Verified tokens that are remembered: checking a signature on every request would cost more than the request."""


class Tokens:
    """`fixed` tokens are those of the data folder; they are compared by digest, so that timing tells nothing."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._store = store
        self._key_file = folder / "service-accounts.key"
        self._fixed: dict[bytes, User] = {}
        self._verified: dict[str, Claims] = {}
        self._key: Any = None

    def fixed(self, path: Path, user: User) -> str:
        """The token kept in `path` (made if there is none), good for `user`."""
        if not path.exists():
            write_private(path, secrets.token_urlsafe(32).encode())
        token = path.read_text().strip()
        self._fixed[_digest(token)] = user
        return token

    def user_of(self, token: str, audience: str = "") -> User | None:
        digest = _digest(token)
        for known, user in self._fixed.items():
            if hmac.compare_digest(known, digest):
                return user
        if token.count(".") != 2:
            return None
        claims = self.claims_of(token)
        if claims is None or (audience or ISSUER) not in claims.audiences:
            return None
        return self._alive(claims)

    def claims_of(self, token: str) -> Claims | None:
        """What a signed token says, if the signature is ours and it is not over."""
        known = self._verified.get(token)
        if known is None:
            known = self._verify(token)
            if known is None:
                return None
            if len(self._verified) >= _KNOWN_TOKENS:
                self._verified.clear()
            self._verified[token] = known
        return known if known.expires > time.time() else None

    def issue(
        self, account: Object, *, audiences: list[str], seconds: int, bound: Object | None = None, now: float
    ) -> tuple[str, int]:
        """A token for a service account, and when it expires."""
        import jwt

        metadata = account["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        expires = int(now) + seconds
        about: Object = {"namespace": namespace, "serviceaccount": {"name": name, "uid": metadata["uid"]}}
        if bound:
            about[bound["kind"].lower()] = {"name": bound["name"], "uid": bound.get("uid", "")}
        claims = {
            "aud": audiences or [ISSUER], "exp": expires, "iat": int(now), "nbf": int(now), "iss": ISSUER,
            "jti": secrets.token_hex(16), "kubernetes.io": about, "sub": f"system:serviceaccount:{namespace}:{name}",
        }  # fmt: skip
        return jwt.encode(claims, self._signing_key(), algorithm="ES256", headers={"kid": self.key_id()}), expires

    def key_id(self) -> str:
        return hashlib.sha256(self._public_pem()).hexdigest()[:32]

    def public_key(self) -> Any:
        return self._signing_key().public_key()

    def _public_pem(self) -> bytes:
        from cryptography.hazmat.primitives import serialization

        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return bytes(self.public_key().public_bytes(serialization.Encoding.DER, form))

    def _signing_key(self) -> Any:
        if self._key is None:
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric import ec

            if not self._key_file.exists():
                made = ec.generate_private_key(ec.SECP256R1())
                form = serialization.PrivateFormat.PKCS8
                pem = made.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
                write_private(self._key_file, pem)
            self._key = serialization.load_pem_private_key(self._key_file.read_bytes(), None)
        return self._key

    def _verify(self, token: str) -> Claims | None:
        import jwt

        try:
            told = jwt.decode(
                token, self.public_key(), algorithms=["ES256"], issuer=ISSUER, options={"verify_aud": False}
            )
            about = told["kubernetes.io"]
            account = about["serviceaccount"]
        except (jwt.PyJWTError, KeyError):
            return None
        bound = {kind: about[kind] for kind in ("pod", "secret", "node") if kind in about}
        return Claims(
            about["namespace"],
            account["name"],
            account["uid"],
            tuple(told["aud"]),
            told["exp"],
            told.get("jti", ""),
            bound,
        )

    def _alive(self, claims: Claims) -> User | None:
        """The user, if the service account (and what the token is bound to) is still the same."""
        if self._uid(f"core/serviceaccounts/{claims.namespace}/{claims.name}") != claims.uid:
            return None
        for kind, reference in claims.bound.items():
            key = f"core/{kind}s/{claims.namespace}/{reference['name']}"
            if kind != "node" and self._uid(key) != reference.get("uid"):
                return None
        user = service_account(claims.namespace, claims.name, claims.uid)
        extra = {"authentication.kubernetes.io/credential-id": (f"JTI={claims.id}",)}
        if pod := claims.bound.get("pod"):
            extra["authentication.kubernetes.io/pod-name"] = (pod["name"],)
            extra["authentication.kubernetes.io/pod-uid"] = (pod.get("uid", ""),)
        return User(user.name, user.groups, user.uid, extra)

    def _uid(self, key: str) -> str | None:
        row = self._store.get(key)
        return _identified(row.value).metadata.uid if row else None


class _Uid(msgspec.Struct):
    uid: str


class _Identified(msgspec.Struct):
    metadata: _Uid


_identified = msgspec.json.Decoder(_Identified).decode


@dataclass(frozen=True, slots=True)
class Claims:
    namespace: str
    name: str
    uid: str
    audiences: tuple[str, ...]
    expires: float
    id: str
    bound: dict[str, Object]


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


ADMIN = User("kubernetes-admin", (MASTERS, AUTHENTICATED))
AGENT = User("system:node:local", ("system:nodes", AUTHENTICATED))
