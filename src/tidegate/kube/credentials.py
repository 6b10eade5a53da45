"""The ways to say who we are: nobody, a token, a token in a file that somebody rotates, a name and a password."""

from __future__ import annotations

import time
from base64 import b64encode
from dataclasses import dataclass, field
from pathlib import Path

from tidegate.kube.access import AccessError, Certificate

_REREAD_S = 60.0
"""Rotated tokens overlap for minutes, so a look once a minute is in time."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Credentials that never change: a certificate, a token or password (as the header to send), or nothing."""

    header: str | None = field(default=None, repr=False)
    shown: Certificate | None = None

    @classmethod
    def token(cls, token: str, shown: Certificate | None = None) -> Fixed:
        return cls(f"Bearer {token}", shown)

    @classmethod
    def password(cls, user: str, password: str, shown: Certificate | None = None) -> Fixed:
        return cls(f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}", shown)

    async def authorization(self) -> str | None:
        return self.header

    async def certificate(self) -> Certificate | None:
        return self.shown

    async def renew(self, refused: str | None) -> bool:
        return False


@dataclass(slots=True)
class TokenFile:
    """A bearer token in a file that is rewritten now and then (service accounts, `tokenFile`)."""

    path: Path
    shown: Certificate | None = None
    _token: str = field(default="", init=False, repr=False)
    _read_at: float = field(default=0.0, init=False)

    async def authorization(self) -> str | None:
        if not self._token or time.monotonic() - self._read_at >= _REREAD_S:
            self._read()
        return f"Bearer {self._token}"

    async def certificate(self) -> Certificate | None:
        return self.shown

    async def renew(self, refused: str | None) -> bool:
        self._read()
        return refused != f"Bearer {self._token}"

    def _read(self) -> None:
        try:
            token = self.path.read_text().strip()
        except OSError as error:
            if self._token:
                return  # in the middle of a rotation the old one is still good
            raise AccessError(
                f"The token file {self.path} cannot be read ({error.strerror}). Check that it exists and is yours."
            ) from None
        if not token and not self._token:
            raise AccessError(f"The token file {self.path} is empty. Write a bearer token into it.")
        self._token = token or self._token
        self._read_at = time.monotonic()
