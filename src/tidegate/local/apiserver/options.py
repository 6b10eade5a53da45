"""What a request asks for besides its object: dryRun, fieldValidation, fieldManager. Judged before anything else is."""

from __future__ import annotations

from tidegate.local.apiserver.call import Call
from tidegate.local.errors import (
    ApiError,
    FieldError,
    bad_request,
    forbidden_field,
    invalid,
    invalid_object,
    not_supported,
    required,
    too_long,
)

_VALIDATIONS = ("", "Ignore", "Strict", "Warn")
_MOST_MANAGER = 128
_MOST_INT64 = 2**63


def check_options(call: Call, kind: str) -> None:
    """Refuses a write whose CreateOptions or UpdateOptions make no sense."""
    if call.query and (errors := _shared(call)):
        raise refused_options(kind, errors)


def check_patch_options(call: Call, *, applying: bool) -> None:
    errors = []
    if applying and not call.query.get("fieldManager"):
        errors.append(required("fieldManager", "is required for apply patch"))
    if not applying and "force" in call.query:
        errors.append(forbidden_field("force", "may not be specified for non-apply patch"))
    if errors := errors + _shared(call):
        raise refused_options("PatchOptions", errors)


def _shared(call: Call) -> list[FieldError]:
    query = call.query
    errors = manager_errors("fieldManager", query.get("fieldManager", "").split("\0")[0])
    if "dryRun" in query:
        errors += dry_run_errors(query["dryRun"].split("\0"))
    validation = query.get("fieldValidation", "").split("\0")[0]
    if validation not in _VALIDATIONS:
        errors.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    return errors


def manager_errors(path: str, manager: str) -> list[FieldError]:
    """Why nobody can be called `manager`."""
    errors = [too_long(path, _MOST_MANAGER)] if len(manager.encode()) > _MOST_MANAGER else []
    place = 0
    for letter in manager:
        if not letter.isprintable():
            says = f"invalid character U+{ord(letter):04X} (at position {place})"
            errors.append(invalid(path, manager, says))
        place += len(letter.encode())
    return errors


def dry_run_errors(given: list[str]) -> list[FieldError]:
    return [not_supported("dryRun", given, ["All"])] if set(given) - {"All"} else []


def refused_options(kind: str, errors: list[FieldError]) -> ApiError:
    return invalid_object("meta.k8s.io", kind, "", errors)


def whole_number(text: str) -> int:
    """A number of a query, as Go reads it."""
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    number = int(text)
    if not -_MOST_INT64 <= number < _MOST_INT64:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": value out of range')
    return number
