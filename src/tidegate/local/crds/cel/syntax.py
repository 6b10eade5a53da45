"""The syntax tree of an expression, read from the bytes the CEL library serialises it to.

The library shows its tree only as a protobuf message; the few fields needed here are read directly, without a protobuf
runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Fields = dict[int, list[Any]]


@dataclass(slots=True)
class Node:
    """One expression. `position` is where it stands in the text: of a select its dot, of a call its parenthesis."""

    sort: str
    position: int = -1
    name: str = ""
    """Of an identifier its name, of a select its field, of a call its function, of a constant text its value."""
    test: bool = False
    """Of a select: written inside has()."""
    operand: Node | None = None
    """What a select or a member call is applied to; the range of a comprehension."""
    children: list[Node] = field(default_factory=list)
    """Arguments, elements; of a comprehension: initial value, condition, step, result."""
    variables: tuple[str, ...] = ()
    """Of a comprehension: the variables of its loop, then the accumulator."""

    def walk(self) -> Iterator[Node]:
        yield self
        for child in ([self.operand] if self.operand else []) + self.children:
            yield from child.walk()


def tree(serialised: bytes) -> Node:
    """The root of a serialised expression."""
    wrapper = _fields(serialised)
    message = _fields(wrapper[2][0])
    checked = wrapper[1][0].endswith(b"CheckedExpr")
    info = _fields(message[5 if checked else 3][0]) if message.get(5 if checked else 3) else {}
    positions = dict(_pair(entry) for entry in info.get(4, ()))
    return _node(message[4 if checked else 2][0], positions)


def _pair(entry: bytes) -> tuple[int, int]:
    found = _fields(entry)
    return found.get(1, [0])[0], found.get(2, [0])[0]


def _node(data: bytes, positions: dict[int, int]) -> Node:
    found = _fields(data)
    place = positions.get(found.get(2, [0])[0], -1)
    if 4 in found:
        return Node("ident", place, _text(_fields(found[4][0]), 1))
    if 5 in found:
        select = _fields(found[5][0])
        return Node(
            "select", place, _text(select, 2), bool(select.get(3, [0])[0]), operand=_node(select[1][0], positions)
        )
    if 6 in found:
        call = _fields(found[6][0])
        target = _node(call[1][0], positions) if 1 in call else None
        arguments = [_node(argument, positions) for argument in call.get(3, ())]
        return Node("call", place, _text(call, 2), operand=target, children=arguments)
    if 7 in found:
        return Node("list", place, children=[_node(item, positions) for item in _fields(found[7][0]).get(1, ())])
    if 8 in found:
        return _struct(_fields(found[8][0]), place, positions)
    if 9 in found:
        return _comprehension(_fields(found[9][0]), place, positions)
    constant = _fields(found[3][0]) if 3 in found else {}
    return Node("text", place, _text(constant, 6)) if 6 in constant else Node("constant", place)


def _struct(struct: Fields, place: int, positions: dict[int, int]) -> Node:
    children = []
    for entry in map(_fields, struct.get(2, ())):
        children += [_node(entry[number][0], positions) for number in (3, 4) if number in entry]
    return Node("struct", place, children=children)


def _comprehension(loop: Fields, place: int, positions: dict[int, int]) -> Node:
    children = [_node(loop[number][0], positions) for number in (4, 5, 6, 7) if number in loop]
    names = tuple(_text(loop, number) for number in (1, 8, 3) if number in loop)
    return Node("loop", place, operand=_node(loop[2][0], positions), children=children, variables=names)


def _text(found: Fields, number: int) -> str:
    return found[number][0].decode() if number in found else ""


def _fields(data: bytes) -> Fields:
    """One protobuf message: field number to values (ints for varints, bytes for what has a length)."""
    found: Fields = {}
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        value: Any
        match tag & 7:
            case 0:
                value, place = _varint(data, place)
            case 2:
                size, place = _varint(data, place)
                value, place = data[place : place + size], place + size
            case 1:
                value, place = data[place : place + 8], place + 8
            case _:
                value, place = data[place : place + 4], place + 4
        found.setdefault(tag >> 3, []).append(value)
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place
