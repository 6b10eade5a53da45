"""How the API server refuses a patch: which code, which reason, and the words for a value of the wrong type."""

from __future__ import annotations

from typing import Any

from tidegate.local.errors import ApiError, shown


def rejected() -> ApiError:
    """A patch that is well formed but does not fit the object. The server does not tell clients which step failed."""
    return ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {})


def failed(message: str) -> ApiError:
    """What Kubernetes' server has no code for: 500 without a reason."""
    return ApiError(500, "", message)


def go_type(value: Any) -> str:
    """What kind of JSON value this is, in the words of Go's decoder."""
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "null"


def not_an_object(patch: Any) -> str:
    """Why a patch that must be an object cannot be read."""
    return f"json: cannot unmarshal {go_type(patch)} into Go value of type map[string]interface {{}}"


def go_text(value: Any) -> str:
    """A value as Go's `%v` prints it: objects as `map[a:1 b:x]`, lists as `[1 2]`."""
    match value:
        case dict():
            return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
        case list():
            return f"[{' '.join(map(go_text, value))}]"
        case bool():
            return "true" if value else "false"
        case None:
            return "<nil>"
        case _:
            return str(value)


def go_syntax(value: Any) -> str:
    """A value as Go's `%#v` prints it: the way it would stand in a program."""
    match value:
        case dict():
            inner = ", ".join(f"{shown(key)}:{go_syntax(value[key])}" for key in sorted(value))
            return f"map[string]interface {{}}{{{inner}}}"
        case list():
            return f"[]interface {{}}{{{', '.join(map(go_syntax, value))}}}"
        case str():
            return shown(value)
        case _:
            return go_text(value)
