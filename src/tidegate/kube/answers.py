"""What a client hands back: a page of a list, an event of a watch, and a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import msgspec

from tidegate.kube.wire import Object

T = TypeVar("T")

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One answer of a list: `resource_version` is where a watch goes on."""

    items: list[T]
    resource_version: str
    proceed: str = ""
    """The token for the next page; empty on the last."""


@dataclass(frozen=True, slots=True)
class Event(Generic[T]):
    """One watch event. A BOOKMARK has no object (None), only a resource version."""

    type: EventType
    object: T
    resource_version: str
    initial_end: bool = False
    """True for the one bookmark that says: all that existed when the watch began has been sent (WatchList)."""


class StatusError(Exception):
    """The server refused: its `Status`, with the fields that programs branch on."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        status: Object | None = None,
        *,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.status = status or {}
        self.retry_after_s = retry_after_s
        """How long the server asked to be left alone; None when it did not say."""


def refusal(code: int, body: bytes, headers: Mapping[str, str]) -> StatusError:
    """The error for an answer with an HTTP status of 400 or more, whatever its body is."""
    try:
        status = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        status = None
    if isinstance(status, dict) and status.get("kind") == "Status":
        return status_error(status, code=code, retry_after=headers.get("retry-after"))
    text = body[:500].decode(errors="replace").strip() or f"the server answered with HTTP status {code}"
    return StatusError(code, "", text, retry_after_s=_seconds(headers.get("retry-after")))


def status_error(status: Object, *, code: int = 500, retry_after: str | None = None) -> StatusError:
    """The error that a `Status` object stands for; `code` is used when it names none of its own."""
    code = status.get("code") or code
    reason = status.get("reason") or ""
    message = status.get("message") or reason or f"the server answered with HTTP status {code}"
    wait = retry_after or (status.get("details") or {}).get("retryAfterSeconds")
    return StatusError(code, reason, message, status, retry_after_s=_seconds(wait))


def _seconds(value: Any) -> float | None:
    # A server may send a date here too; nobody in Kubernetes does, and our own back-off serves as well.
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None
