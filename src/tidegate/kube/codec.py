"""Bytes to objects and back. One codec per type, built once.

msgspec crashes when two threads meet the same type for the first time at once, so every decoder is built under one
lock; using a built decoder from several threads is safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Generic, TypeVar

import msgspec

from tidegate.kube.answers import Event, Page, status_error
from tidegate.kube.metadata import identifier
from tidegate.kube.wire import Object

T = TypeVar("T")

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class _ListMeta(msgspec.Struct, frozen=True, rename={"resource_version": "resourceVersion", "proceed": "continue"}):
    resource_version: str = ""
    proceed: str = ""


class _List(msgspec.Struct, Generic[T]):
    items: list[T] | None = None  # Go servers write an empty list as null now and then
    metadata: _ListMeta = _ListMeta()


class _Line(msgspec.Struct, Generic[T]):
    type: str
    object: T


class Codec(Generic[T]):
    """Decodes what a server says about one type of object."""

    def __init__(self, kind: type[T]) -> None:
        self._object = msgspec.json.Decoder(kind)
        self._list = msgspec.json.Decoder(_List[kind])  # type: ignore[valid-type]
        self._line = msgspec.json.Decoder(_Line[kind])  # type: ignore[valid-type]
        self._identity = identifier(kind)

    def object(self, body: bytes) -> T:
        with _as_fault():
            return self._object.decode(body)

    def page(self, body: bytes) -> Page[T]:
        with _as_fault():
            listing = self._list.decode(body)
        return Page(listing.items or [], listing.metadata.resource_version, listing.metadata.proceed)

    def event(self, line: bytes) -> Event[T]:
        """The event on one line of a watch; an ERROR is raised as the StatusError it carries."""
        try:
            said = self._line.decode(line)
        except msgspec.ValidationError:
            # Bookmarks and errors carry objects that need not look like T.
            if (odd := _odd_event(line)) is not None:
                return odd
            raise
        except (msgspec.DecodeError, UnicodeDecodeError) as broken:
            raise _not_json(broken) from None
        if said.type in _CHANGES:
            return Event(said.type, said.object, self._identity(said.object).resource_version)  # type: ignore[arg-type]
        odd = _odd_event(line)
        if odd is None:
            raise ConnectionError(f"The server sent a watch event of the unknown type {said.type!r}.")
        return odd


_CHANGES = frozenset(("ADDED", "MODIFIED", "DELETED"))
_plain_line = msgspec.json.Decoder(_Line[dict])  # type: ignore[type-arg]
_encoder = msgspec.json.Encoder()
_codecs: dict[type, Codec[Any]] = {}
_lock = Lock()


def codec_for(kind: type[T]) -> Codec[T]:
    """The codec of a type, built at its first use."""
    codec = _codecs.get(kind)
    if codec is None:
        with _lock:
            codec = _codecs.get(kind) or _codecs.setdefault(kind, Codec(kind))
    return codec


def encode(body: Any) -> bytes:
    """JSON of plain data or Structs; bytes are taken as already encoded."""
    return body if isinstance(body, bytes) else _encoder.encode(body)


def decode(body: bytes) -> Any:
    with _as_fault():
        return msgspec.json.decode(body) if body else None


def as_manifest(body: Any, *, api_version: str, kind: str) -> Any:
    """`body` with its apiVersion and kind: Structs rarely declare them, and servers insist on them."""
    if not isinstance(body, dict):
        body = msgspec.to_builtins(body)
    if "apiVersion" in body and "kind" in body:
        return body
    return {"apiVersion": api_version, "kind": kind, **body}


@contextmanager
def _as_fault() -> Iterator[None]:
    """What is not JSON at all never came from an API server whole: that is a fault of the connection, unlike JSON of
    another shape than T, which stays a ValidationError."""
    try:
        yield
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError) as broken:
        raise _not_json(broken) from None


def _not_json(broken: Exception) -> ConnectionError:
    return ConnectionError(f"The server sent something that is not JSON: {broken}")


def _odd_event(line: bytes) -> Event[Any] | None:
    """A bookmark (or a raised error); None for any other event."""
    said = _plain_line.decode(line)
    content: Object = said.object
    if said.type == "ERROR":
        raise status_error(content)
    if said.type != "BOOKMARK":
        return None
    meta = content.get("metadata") or {}
    ended = (meta.get("annotations") or {}).get(INITIAL_EVENTS_END) == "true"
    return Event("BOOKMARK", None, meta.get("resourceVersion") or "", ended)
