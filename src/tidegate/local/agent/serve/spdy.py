"""The server's side of an SPDY/3.1 connection, without I/O: bytes in, events out, bytes to send kept in `outgoing`.

kubectl still speaks SPDY for port-forward, inside a WebSocket. Of the protocol only what it uses is here: streams that
one side opens, their data and ends, and pings. Windows are not counted: neither side waits for the other's.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

SYN_STREAM, SYN_REPLY, RST_STREAM, PING, GOAWAY = 1, 2, 3, 6, 7
FIN = 1
_HEAD = 8
_VERSION = 3
_MOST = 1 << 20
"""The longest frame taken; longer ones are nobody's honest work here."""

_WORDS = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_MORE = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 "
    "Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec "
    "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8"
    "charset=iso-8859-1,utf-,*,enq=0."
)
_LISTED = (*_WORDS.split(" "), *_MORE)
DICTIONARY = b"".join(struct.pack(">I", len(word)) + word.encode() for word in _LISTED) + _TEXT.encode()
"""What both sides know of headers before the first: part of the protocol, byte for byte."""


class SpdyError(ValueError):
    """The other side does not speak the protocol."""


@dataclass(frozen=True, slots=True)
class Opened:
    stream: int
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Received:
    """Data of a stream; `last` if its sender has said all it had."""

    stream: int
    payload: bytes
    last: bool


@dataclass(frozen=True, slots=True)
class Gone:
    """A stream that was cut off; 0 is all of them."""

    stream: int


Event = Opened | Received | Gone


class Session:
    def __init__(self) -> None:
        self.outgoing = bytearray()
        self._incoming = bytearray()
        self._unpack = zlib.decompressobj(zdict=DICTIONARY)
        self._pack = zlib.compressobj(zdict=DICTIONARY)

    def receive(self, data: bytes) -> list[Event]:
        """What came, as far as it is whole. Raises SpdyError."""
        self._incoming += data
        events: list[Event] = []
        while len(self._incoming) >= _HEAD:
            first, flags_length = struct.unpack_from(">II", self._incoming)
            flags, length = flags_length >> 24, flags_length & 0xFFFFFF
            if length > _MOST:
                raise SpdyError(f"a frame of {length} bytes is too long")
            if len(self._incoming) < _HEAD + length:
                break
            payload = bytes(self._incoming[_HEAD : _HEAD + length])
            del self._incoming[: _HEAD + length]
            if first >> 31:
                events += self._control(first & 0xFFFF, flags, payload)
            else:
                events.append(Received(first, payload, bool(flags & FIN)))
        return events

    def _control(self, kind: int, flags: int, payload: bytes) -> list[Event]:
        match kind:
            case _ if kind == SYN_STREAM:
                stream = _number(payload, 0)
                opened: list[Event] = [Opened(stream, self._headers(payload[10:]))]
                return [*opened, Received(stream, b"", True)] if flags & FIN else opened
            case _ if kind == RST_STREAM:
                return [Gone(_number(payload, 0))]
            case _ if kind == GOAWAY:
                return [Gone(0)]
            case _ if kind == PING:
                self._send_control(PING, 0, payload)
        return []

    def _headers(self, block: bytes) -> dict[str, str]:
        try:
            data = self._unpack.decompress(block, _MOST)
            count, at, found = _number(data, 0), 4, {}
            for _ in range(count):
                name, at = _text(data, at)
                found[name.lower()], at = _text(data, at)
        except (zlib.error, struct.error) as error:
            raise SpdyError(f"headers cannot be read: {error}") from None
        return found

    def accept(self, stream: int) -> None:
        """Answers a stream that the other side opened."""
        block = self._pack.compress(struct.pack(">I", 0)) + self._pack.flush(zlib.Z_SYNC_FLUSH)
        self._send_control(SYN_REPLY, 0, struct.pack(">I", stream) + block)

    def send(self, stream: int, payload: bytes, *, last: bool = False) -> None:
        self.outgoing += struct.pack(">II", stream, (FIN if last else 0) << 24 | len(payload)) + payload

    def _send_control(self, kind: int, flags: int, payload: bytes) -> None:
        self.outgoing += struct.pack(">HHI", 0x8000 | _VERSION, kind, flags << 24 | len(payload)) + payload

    def taken(self) -> bytes:
        """What is to be sent now; it is no longer kept."""
        data = bytes(self.outgoing)
        self.outgoing.clear()
        return data


def _number(data: bytes, at: int) -> int:
    number: int = struct.unpack_from(">I", data, at)[0] & 0x7FFFFFFF
    return number


def _text(data: bytes, at: int) -> tuple[str, int]:
    length = _number(data, at)
    return data[at + 4 : at + 4 + length].decode("latin-1"), at + 4 + length
