"""The bytes of protobuf: the fields of a message, and what their values are; names and types are not known here."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

MAGIC = b"k8s\x00"


class MalformedError(ValueError):
    """The bytes are not a protobuf message."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What stands around the message: the kind it claims to be."""

    api_version: str
    kind: str
    raw: bytes


def open_envelope(body: bytes) -> Envelope:
    if not body:
        raise MalformedError("empty data")
    if not body.startswith(MAGIC):
        raise MalformedError(f"provided data does not appear to be a protobuf message, expected prefix {list(MAGIC)}")
    if len(body) == len(MAGIC):
        raise MalformedError("empty body")
    parts = dict(fields(body[len(MAGIC) :]))
    names = dict(fields(as_bytes(parts.get(1, b""))))
    api_version, kind = (as_bytes(names.get(number, b"")).decode(errors="replace") for number in (1, 2))
    return Envelope(api_version, kind, as_bytes(parts.get(2, b"")))


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise MalformedError("unexpected EOF")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
        if shift >= 64:
            raise MalformedError("proto: integer overflow")


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in order: a number and, by wire type, an int or bytes."""
    at, end = 0, len(data)
    while at < end:
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise MalformedError(f"proto: illegal tag {number} (wire type {wire})")
        if wire == 0:
            value, at = varint(data, at)
            yield number, value
            continue
        if wire == 2:
            size, at = varint(data, at)
        elif wire in {1, 5}:
            size = 8 if wire == 1 else 4
        else:
            raise MalformedError(f"proto: illegal wireType {wire}")
        if at + size > end:
            raise MalformedError("unexpected EOF")
        yield number, data[at : at + size]
        at += size


def as_bytes(raw: int | bytes) -> bytes:
    if isinstance(raw, int):
        raise MalformedError("proto: wrong wireType")
    return raw


def as_int(raw: int | bytes) -> int:
    if isinstance(raw, bytes):
        raise MalformedError("proto: wrong wireType")
    return raw if raw < 2**63 else raw - 2**64


def as_text(raw: int | bytes) -> str:
    return as_bytes(raw).decode(errors="replace")


def as_int32(raw: int | bytes) -> int:
    low = as_int(raw) & 0xFFFFFFFF
    return low if low < 2**31 else low - 2**32


def as_float(raw: int | bytes) -> float:
    data = as_bytes(raw)
    if len(data) != 8:
        raise MalformedError("proto: wrong wireType")
    return float(struct.unpack("<d", data)[0])


def parts_of(raw: int | bytes) -> dict[int, int | bytes]:
    return dict(fields(as_bytes(raw)))


def as_moment(raw: int | bytes) -> datetime | None:
    """A Timestamp. An empty one is Go's zero time; one that no calendar has is refused."""
    parts = parts_of(raw)
    if not parts:
        return None
    microseconds = as_int(parts.get(2, 0)) // 1000
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=as_int(parts.get(1, 0)), microseconds=microseconds)
    except OverflowError:
        raise MalformedError("timestamp out of range") from None
