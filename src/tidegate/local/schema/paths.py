"""Paths spelled out for messages, in the two ways Go has: dotted with indices, and as a field of a Go struct."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidegate.local.schema.definitions import JSON_SCHEMA, Definition, GoType, definition, go_type
from tidegate.local.schema.scalars import Path, WrongValueError


def steps(path: Path) -> list[str | int]:
    found: list[str | int] = []
    while path is not None:
        path, step = path
        found.append(step)
    return found[::-1]


def dotted(path: Path) -> str:
    """As strict decoding names a field: spec.containers[0].image."""
    text = ""
    for step in steps(path):
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def wrong_words(name: str, wrong: WrongValueError) -> str:
    """What Go's JSON decoder says when it cannot put a value into the struct called `name`."""
    if wrong.goes is None:
        return wrong.words
    where = _go_field(name, wrong.path)
    target = f"Go struct field {where}" if where else "Go value"
    return f"json: cannot unmarshal {_described(wrong.value, wrong.goes)} into {target} of type {wrong.goes}"


def _described(value: Any, goes: GoType) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return f"number {value}" if goes.name in {"int32", "int64", "float64", "uint8"} else "number"
    return {dict: "object", list: "array", str: "string", type(None): "null"}[type(value)]


def _go_field(name: str, path: Path) -> str:
    """The innermost struct, then every field on the way, embedded structs by their Go name: PodSpec.spec.containers."""
    struct, stack = "", []
    for struct_type, names in _fields_on(name, path):
        struct = struct_type.rpartition(".")[2]
        stack += names
    return ".".join([struct, *stack]) if struct else ""


def _fields_on(name: str, path: Path) -> Iterator[tuple[str, list[str]]]:
    for container, step in containers(name, path):
        if container.shape == "struct":
            names, _ = _find(definition(container.name), str(step))
            yield container.name, names


def containers(name: str, path: Path) -> Iterator[tuple[GoType, str | int]]:
    """Each step of a path with the type of what it steps into; ends where the types say nothing more."""
    current: GoType | None = GoType("struct", name)
    for step in steps(path):
        while current is not None and current.shape == "pointer":
            current = current.of
        if current is None:
            return
        if current.shape == "special" and current.name.startswith("Schema"):
            current = GoType("struct", JSON_SCHEMA)
        yield current, step
        current = _find(definition(current.name), str(step))[1] if current.shape == "struct" else current.of


def is_known(name: str, path: Path) -> bool:
    """Whether the last step of a path is a field of a struct or a key of a map; nobody looks inside anything else."""
    reached = list(containers(name, path))
    if len(reached) != len(steps(path)):
        return False
    last, key = reached[-1]
    return last.shape == "map" or (last.shape == "struct" and _find(definition(last.name), str(key))[1] is not None)


def _find(facts: Definition, key: str) -> tuple[list[str], GoType | None]:
    """The Go names that lead to a field, and its type; no names if there is no such field."""
    if key in facts.fields:
        return [key], go_type(facts.fields[key].type)
    for inlined in facts.inline:
        names, goes = _find(definition(inlined.type), key)
        if goes is not None:
            return [inlined.type.rpartition(".")[2], *names], goes
    return [], None
