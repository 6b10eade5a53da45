"""What Go's decoder makes of a body of a built-in kind: the object it would hold, or why it would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from tidegate.kube.wire import Object
from tidegate.local.errors import ApiError, bad_request
from tidegate.local.schema.bodies import (
    Pairs,
    UnreadableError,
    key_count,
    parse_json,
    parse_json_pairs,
)
from tidegate.local.schema.node import Schema
from tidegate.local.schema.paths import dotted, is_known, wrong_words
from tidegate.local.schema.readers import struct_reader
from tidegate.local.schema.scalars import Path, Walk, WrongValueError
from tidegate.local.schema.yaml_bodies import parse_yaml

FieldValidation = Literal["Strict", "Warn", "Ignore"]

# Kubernetes stops counting here.
_MOST_PROBLEMS = 100


@dataclass(slots=True)
class Decoded:
    """An object as Go would hold it, and what strict decoding has to say about the body."""

    obj: Object
    unknown: list[str] = field(default_factory=list)
    duplicates: list[str] = field(default_factory=list)
    in_order: list[str] = field(default_factory=list)
    """Both, as they come in the text, if there are duplicates."""
    repeats: list[str] = field(default_factory=list)
    """Of a YAML body: what its parser says of keys that stand there twice."""

    @property
    def problems(self) -> list[str]:
        """In the words of Kubernetes' warnings."""
        said = ["\n  ".join(["yaml: unmarshal errors:", *self.repeats])] if self.repeats else []
        said += self.in_order or [f'unknown field "{path}"' for path in self.unknown]
        return list(dict.fromkeys(said))[:_MOST_PROBLEMS]

    def warnings(self, mode: FieldValidation, kind: str, version: str) -> list[str]:
        """What to warn the client of; raises if `mode` is Strict and there is something."""
        problems = self.problems if mode != "Ignore" and (self.unknown or self.duplicates or self.repeats) else []
        if problems and mode == "Strict":
            raise undecodable(kind, version, f"strict decoding error: {', '.join(problems)}")
        return problems


def undecodable(kind: str, version: str, why: str) -> ApiError:
    return bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {why}')


def unrecognized(kind: str, why: str, body: bytes) -> ApiError:
    """The refusal of a body that is no object of any kind; shows how it begins."""
    most = 30
    start = body[:most].decode(errors="replace") if body[:1] == b"{" else body[:most].hex()
    shown = f"{start} ..." if len(body) > most else start or "<empty>"
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({shown})")


def decode_builtin(body: bytes, schema: Schema, *, yaml: bool = False) -> Decoded:
    """Reads a JSON (or YAML) body of the built-in kind `schema` describes; 400 if it cannot be such an object."""
    try:
        value, repeats = parse_yaml(body) if yaml else (parse_json(body), [])
    except UnreadableError as error:
        kind = schema.name.rpartition(".")[2]
        why = str(error) if yaml else f"couldn't get version/kind; json parse error: {error}"
        raise unrecognized(kind, why, body) from None
    decoded, keys = _walk(value, schema)
    decoded.repeats = repeats
    if not yaml and keys != key_count(body):
        _note_duplicates(decoded, schema.name, body)
    return decoded


def decode_value(value: Any, schema: Schema) -> Decoded:
    """The same for a value that is already parsed, e.g. the outcome of a patch. Changes `value` in place."""
    return _walk(value, schema)[0]


def _walk(value: Any, schema: Schema) -> tuple[Decoded, int]:
    walk = Walk()
    try:
        obj = struct_reader(schema.name)(value, None, walk)
    except WrongValueError as wrong:
        version, kind = schema.name.split(".")[-2:]
        raise undecodable(kind, version, wrong_words(schema.name, wrong)) from None
    except RecursionError:
        raise bad_request("exceeded max depth") from None
    return Decoded(obj, [dotted(path) for path in walk.unknown]), walk.keys


def _note_duplicates(decoded: Decoded, name: str, body: bytes) -> None:
    """Finds known fields (or keys of maps) that stand more than once, and puts all there is to say in order."""
    unknown, said = set(decoded.unknown), []
    for sort, path in _problems(name, parse_json_pairs(body), None):
        if sort == "duplicate":
            decoded.duplicates.append(path)
            said.append(f'duplicate field "{path}"')
        elif path in unknown:
            said.append(f'unknown field "{path}"')
    if decoded.duplicates:
        decoded.in_order = said


def _problems(name: str, value: Any, path: Path) -> Iterator[tuple[str, str]]:
    """Fields that stand twice and fields that may be unknown, as they come in the text."""
    if isinstance(value, Pairs):
        seen: set[str] = set()
        for key, item in value:
            here = (path, key)
            if not is_known(name, here):
                yield "unknown", dotted(here)
            elif key in seen:
                yield "duplicate", dotted(here)
            seen.add(key)
            yield from _problems(name, item, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(name, item, (path, index))
