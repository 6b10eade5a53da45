"""The server's side of SPDY against a client made of the protocol's own words."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.local.agent.serve.spdy import DICTIONARY, Event, Opened, Received, Session, SpdyError

headers = st.dictionaries(st.from_regex(r"[a-z]{1,12}", fullmatch=True), st.text("ab1/-", max_size=12), max_size=4)


class Client:
    """Packs what a client sends; headers are packed in one go, as the protocol wants it."""

    def __init__(self) -> None:
        self._pack = zlib.compressobj(zdict=DICTIONARY)

    def opens(self, stream: int, said: dict[str, str]) -> bytes:
        block = struct.pack(">I", len(said))
        for name, value in said.items():
            block += struct.pack(">I", len(name)) + name.encode() + struct.pack(">I", len(value)) + value.encode()
        packed = self._pack.compress(block) + self._pack.flush(zlib.Z_SYNC_FLUSH)
        payload = struct.pack(">IIH", stream, 0, 0) + packed
        return struct.pack(">HHI", 0x8003, 1, len(payload)) + payload


def data(stream: int, payload: bytes, *, last: bool = False) -> bytes:
    return struct.pack(">II", stream, int(last) << 24 | len(payload)) + payload


@given(st.lists(headers, max_size=4), st.lists(st.binary(max_size=40), max_size=4), st.integers(1, 7))
def test_it_does_not_matter_how_bytes_are_cut(opened: list[dict[str, str]], said: list[bytes], size: int) -> None:
    client = Client()
    sent = b"".join(client.opens(2 * number + 1, each) for number, each in enumerate(opened))
    sent += b"".join(data(1, each) for each in said)
    session, found = Session(), list[Event]()
    for at in range(0, len(sent), size):
        found += session.receive(sent[at : at + size])
    expected: list[Event] = [Opened(2 * number + 1, each) for number, each in enumerate(opened)]
    assert found == [*expected, *(Received(1, each, False) for each in said)]


def test_what_is_sent_is_what_a_client_reads() -> None:
    session = Session()
    session.accept(1)
    session.send(1, b"hello", last=True)
    sent = session.taken()
    kind, length = struct.unpack_from(">HI", sent, 2)
    assert (kind, session.taken()) == (2, b"")
    unpacked = zlib.decompressobj(zdict=DICTIONARY).decompress(sent[12 : 8 + length])
    assert unpacked == struct.pack(">I", 0)
    assert sent[8 + length :] == data(1, b"hello", last=True)


def test_a_ping_is_answered_with_itself() -> None:
    session = Session()
    ping = struct.pack(">HHII", 0x8003, 6, 4, 77)
    assert session.receive(ping) == []
    assert session.taken() == ping


def test_what_is_not_the_protocol_is_refused() -> None:
    for nonsense in (struct.pack(">II", 1, 0xFFFFFF), struct.pack(">HHI", 0x8003, 1, 12) + b"x" * 12):
        with pytest.raises(SpdyError):
            Session().receive(nonsense)
