"""Manifests ⇄ typed objects.

Two ways in: `decode` for what people wrote (every fault named, unknown fields refused, rules between fields checked),
`read` for what an API server has accepted already (fast, and fields of a newer version are passed over). One way out:
`encode`, which leaves out of a spec what is at its default, and of a status nothing but what is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from tidegate.model.kinds import API_VERSION, KINDS, Kind
from tidegate.model.problems import ManifestError, Problem
from tidegate.model.values import parse_value, wire_value

K = TypeVar("K", bound=Kind)


def decode(manifest: object) -> Kind:
    """The object a person's manifest means; ManifestError with everything that is wrong with it."""
    from tidegate.model.check import broken_rules, problems_in

    kind, content = _kind_of(manifest)
    problems = list(problems_in(kind, content))
    if problems:
        raise ManifestError(problems)
    decoded = _convert(kind, content)
    problems = list(broken_rules(decoded))
    if problems:
        raise ManifestError(problems)
    return decoded


def read(kind: type[K], manifest: Mapping[str, Any]) -> K:
    """An object of a known kind as an API server keeps it."""
    return _convert(kind, manifest)


def read_json(kind: type[K], content: bytes) -> K:
    """The same from the wire, without making a dict first."""
    try:
        return msgspec.json.decode(content, type=kind, dec_hook=parse_value)
    except msgspec.ValidationError:
        return _convert(kind, msgspec.json.decode(content))


def encode(value: Kind) -> dict[str, Any]:
    """The manifest of an object."""
    # By way of JSON, which is quick and leaves lists where the types have tuples.
    content: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value, enc_hook=wire_value))
    if "status" in content:
        content["status"] = _without_nulls(content["status"])
    return {"apiVersion": API_VERSION, "kind": type(value).__name__} | content


def encode_status(status: msgspec.Struct) -> dict[str, Any]:
    """The status of an object alone, as it stands in its manifest."""
    content: dict[str, Any] = _without_nulls(msgspec.json.decode(msgspec.json.encode(status, enc_hook=wire_value)))
    return content


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _convert(kind: type[K], manifest: Mapping[str, Any]) -> K:
    try:
        return msgspec.convert(manifest, kind, dec_hook=parse_value)
    except msgspec.ValidationError as error:
        from tidegate.model.check import problems_in

        raise ManifestError([*problems_in(kind, manifest)] or [Problem((), f"{error}; correct it")]) from None


def _kind_of(manifest: object) -> tuple[type[Kind], dict[str, Any]]:
    if not isinstance(manifest, Mapping):
        raise ManifestError([Problem((), "a manifest is a mapping; begin it with kind: and metadata:")])
    if manifest.get("apiVersion", API_VERSION) != API_VERSION:
        wrong = f'"{manifest["apiVersion"]}" is not known here; write {API_VERSION} or leave it out'
        raise ManifestError([Problem(("apiVersion",), wrong)])
    name = manifest.get("kind")
    if not name:
        raise ManifestError([Problem(("kind",), f"is missing; write one of {', '.join(KINDS)}")])
    if name not in KINDS:
        from difflib import get_close_matches

        close = get_close_matches(str(name), KINDS, n=1)
        remedy = f"did you mean {close[0]}?" if close else f"write one of {', '.join(KINDS)}"
        raise ManifestError([Problem(("kind",), f'"{name}" is not a kind of {API_VERSION}; {remedy}')])
    # `spec:` with nothing after it is YAML for null, and means an empty one.
    content = {part: value for part, value in manifest.items() if value is not None or part not in ("spec", "status")}
    return KINDS[name], content
