"""What is in canonical form stays as it is, whichever way it comes in."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.local.schema.objects import encoded, structs
from tidegate.local.errors import ApiError
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.schema.decode import Decoded, decode_builtin, decode_value
from tidegate.local.schema.definitions import kinds
from tidegate.local.schema.messages import MAGIC
from tidegate.local.schema.protobuf import decode_protobuf

NAMES = sorted(set(kinds().values()))
objects = st.sampled_from(NAMES).flatmap(lambda name: st.tuples(st.just(name), structs(name, 6)))
unhurried = settings(deadline=None, max_examples=60)


@unhurried
@given(objects)
def test_a_canonical_object_is_read_from_json_as_it_is(named: tuple[str, dict[str, Any]]) -> None:
    name, obj = named
    read = decode_builtin(json.dumps(obj).encode(), builtin_schema(name))
    assert (read.obj, read.problems) == (obj, [])


@unhurried
@given(objects)
def test_a_canonical_object_is_read_from_protobuf_as_it_is(named: tuple[str, dict[str, Any]]) -> None:
    name, obj = named
    # An envelope that names no kind, with the message as its field 2.
    body = MAGIC + _field(2, encoded(name, obj))
    assert decode_protobuf(body, builtin_schema(name)).obj == obj


def _field(number: int, payload: bytes) -> bytes:
    size, rest = b"", len(payload)
    while rest > 0x7F:
        size, rest = size + bytes([rest & 0x7F | 0x80]), rest >> 7
    return bytes([number << 3 | 2]) + size + bytes([rest]) + payload


@unhurried
@given(objects, st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), st.lists, max_leaves=4))
def test_reading_what_was_read_changes_nothing(named: tuple[str, dict[str, Any]], odd: Any) -> None:
    """Also after one field was overwritten with something odd that happens to pass."""
    name, obj = named
    for key in list(obj)[:1]:
        obj[key] = odd
    once = _read_or_refused(lambda: decode_value(copy.deepcopy(obj), builtin_schema(name)))
    if once is not None:
        assert decode_value(copy.deepcopy(once), builtin_schema(name)).obj == once


def _read_or_refused(read: Callable[[], Decoded]) -> Any:
    """The object, or None if it was refused as a bad request."""
    try:
        return read().obj
    except ApiError as error:
        code = error.code
    assert code == 400
    return None


@unhurried
@given(st.sampled_from(NAMES), st.binary(max_size=80))
def test_any_bytes_are_read_or_refused_with_400(name: str, body: bytes) -> None:
    for text in (body, MAGIC + body):
        for read in (decode_builtin, decode_protobuf):
            _read_or_refused(functools.partial(read, text, builtin_schema(name)))


@pytest.mark.parametrize("yaml", [False, True])
def test_depth_without_end_is_refused(yaml: bool) -> None:
    body = b'{"a":' * 100_000
    with pytest.raises(ApiError) as refused:
        decode_builtin(body, builtin_schema(("", "v1", "Pod")), yaml=yaml)
    assert refused.value.code == 400
