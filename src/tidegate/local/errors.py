"""What the API server says when it refuses: `ApiError` for a whole request, `FieldError` for one field of an object.

The words are Kubernetes' own, since clients branch on `reason` and people search for the messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from tidegate.kube.wire import Object

_CAUSES = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Unsupported value": "FieldValueNotSupported",
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
    "Not found": "FieldValueNotFound",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Internal error": "InternalError",
    "Type invalid": "FieldValueTypeInvalid",
}


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field. Build it with the functions below, which know what each sort of error shows."""

    sort: str
    field: str
    body: str

    @property
    def message(self) -> str:
        return f"{self.field}: {self.body}" if self.field else self.body

    @property
    def cause(self) -> Object:
        return {"reason": _CAUSES[self.sort], "message": self.body, "field": self.field}


_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def shown(value: Any) -> str:
    """A value as it stands in messages: as Go's encoder writes it, with strings quoted."""
    if isinstance(value, str):
        return msgspec.json.encode(value).decode()
    return msgspec.json.encode(_as_go(value), order="sorted").decode().translate(_ESCAPED)


def _as_go(value: Any) -> Any:
    """Numbers that are whole are written without a point."""
    if isinstance(value, float):
        whole = value == value // 1 and abs(value) < 1e21
        return int(value) if whole else value
    if isinstance(value, dict):
        return {key: _as_go(item) for key, item in value.items()}
    return [_as_go(item) for item in value] if isinstance(value, list | tuple) else value


def _error(sort: str, field: str, *parts: str, words: str = "") -> FieldError:
    return FieldError(sort, field, ": ".join([words or sort, *[part for part in parts if part]]))


def required(field: str, detail: str = "") -> FieldError:
    return _error("Required value", field, detail)


def invalid(field: str, value: Any, detail: str = "") -> FieldError:
    return _error("Invalid value", field, shown(value), detail)


def type_invalid(field: str, value: Any, detail: str = "") -> FieldError:
    return _error("Type invalid", field, shown(value), detail, words="Invalid value")


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    listed = ", ".join(shown(name) for name in supported)
    return _error("Unsupported value", field, shown(value), f"supported values: {listed}")


def duplicate(field: str, value: Any) -> FieldError:
    return _error("Duplicate value", field, shown(value))


def forbidden_field(field: str, detail: str) -> FieldError:
    return _error("Forbidden", field, detail)


def field_not_found(field: str, value: Any) -> FieldError:
    return _error("Not found", field, shown(value))


def too_long(field: str, most: int) -> FieldError:
    return _error("Too long", field, f"may not be more than {most} {'byte' if most == 1 else 'bytes'}")


def too_many(field: str, actual: int, most: int) -> FieldError:
    return _error("Too many", field, str(actual), f"must have at most {most} {'item' if most == 1 else 'items'}")


class ApiError(Exception):
    """A refused request: becomes a `Status` object with this code and reason."""

    def __init__(self, code: int, reason: str, message: str, details: Object | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def status(self) -> Object:
        status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        status |= {"message": self.message}
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return status | {"code": self.code}


def _qualified(plural: str, group: str) -> str:
    return f"{plural}.{group}" if group else plural


def _details(name: str, group: str, kind: str, **more: Any) -> Object:
    """`kind` is the plural here, as Kubernetes has it in nearly every error."""
    named = {key: value for key, value in (("name", name), ("group", group), ("kind", kind)) if value}
    return named | more


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(group: str, plural: str, name: str, why: str) -> ApiError:
    shown_name = f' "{name}"' if name else ""
    return ApiError(
        403, "Forbidden", f"{_qualified(plural, group)}{shown_name} is forbidden: {why}", _details(name, group, plural)
    )


def not_found(group: str, plural: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{_qualified(plural, group)} "{name}" not found', _details(name, group, plural))


def page_not_found() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


class NoPageError(ApiError):
    """Nothing was ever served at this path: said in plain text, as by any web server."""

    def __init__(self) -> None:
        super().__init__(404, "NotFound", "404 page not found", {})


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def already_exists(group: str, plural: str, name: str) -> ApiError:
    message = f'{_qualified(plural, group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(name, group, plural))


STALE = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(group: str, plural: str, name: str, why: str = STALE) -> ApiError:
    message = f'Operation cannot be fulfilled on {_qualified(plural, group)} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(name, group, plural))


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def too_large(message: str) -> ApiError:
    return ApiError(413, "RequestEntityTooLarge", message)


def unsupported_media_type(message: str, details: Object | None = None) -> ApiError:
    return ApiError(415, "UnsupportedMediaType", message, details)


def invalid_object(group: str, kind: str, name: str, errors: list[FieldError]) -> ApiError:
    """422 with every wrong field: the message joins them, `details.causes` lists them."""
    said = list(dict.fromkeys(error.message for error in errors))
    shown_errors = said[0] if len(said) == 1 else f"[{', '.join(said)}]"
    message = f'{_qualified(kind, group)} "{name}" is invalid: {shown_errors}'
    return ApiError(422, "Invalid", message, _details(name, group, kind, causes=[error.cause for error in errors]))


def internal(message: str) -> ApiError:
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", {"causes": [{"message": message}]})


def unavailable(message: str) -> ApiError:
    return ApiError(503, "ServiceUnavailable", message)
