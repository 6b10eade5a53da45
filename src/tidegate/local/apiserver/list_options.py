"""What a list or a watch asks for: selectors, page, version, and how long to watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.options import refused_options, whole_number
from tidegate.local.apiserver.routes import is_true
from tidegate.local.apiserver.selectors import Selector, SelectorError, parse_fields, parse_labels
from tidegate.local.errors import FieldError, bad_request, forbidden_field, not_supported

_MATCH = "resourceVersionMatch"


@dataclass(frozen=True, slots=True)
class ListOptions:
    labels: Selector = ()
    fields: Selector = ()
    limit: int = 0
    proceed: str = ""
    """The `continue` of the page before."""
    version: str = ""
    match: str = ""
    timeout_s: int = 0
    initial: bool | None = None
    """Whether a watch is to begin with what is there (`sendInitialEvents`)."""
    bookmarks: bool = False


NOTHING = ListOptions()


def list_options(call: Call) -> ListOptions:
    """The options of a request, checked as far as they can be without looking at the store."""
    query = call.query
    if not query and call.verb != "watch":
        return NOTHING
    options = ListOptions(
        _parsed(query.get("labelSelector", ""), parse_labels),
        _parsed(query.get("fieldSelector", ""), parse_fields),
        _number(query.get("limit", "")),
        query.get("continue", ""),
        query.get("resourceVersion", ""),
        query.get(_MATCH, ""),
        _number(query.get("timeoutSeconds", "")),
        is_true(query["sendInitialEvents"]) if "sendInitialEvents" in query else None,
        is_true(query.get("allowWatchBookmarks")),
    )
    watching = is_true(query.get("watch"))
    if errors := (_watch_errors(options) if watching else _list_errors(options)):
        raise refused_options("ListOptions", errors)
    return options


def _number(text: str) -> int:
    return whole_number(text) if text else 0


def _parsed(text: str, parse: Callable[[str], Selector]) -> Selector:
    if not text:
        return ()
    try:
        return parse(text)
    except SelectorError as error:
        raise bad_request(str(error)) from None


def _list_errors(options: ListOptions) -> list[FieldError]:
    errors, match = [], options.match
    if match:
        if not options.version:
            errors.append(forbidden_field(_MATCH, f"{_MATCH} is forbidden unless resourceVersion is provided"))
        if options.proceed:
            errors.append(forbidden_field(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
        if match not in ("Exact", "NotOlderThan"):
            errors.append(not_supported(_MATCH, match, ["Exact", "NotOlderThan", ""]))
        if match == "Exact" and options.version == "0":
            errors.append(forbidden_field(_MATCH, f'{_MATCH} "exact" is forbidden for resourceVersion "0"'))
    if options.initial is not None:
        errors.append(forbidden_field("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(options: ListOptions) -> list[FieldError]:
    errors, match = [], options.match
    if options.initial is not None and match != "NotOlderThan":
        says = f"sendInitialEvents requires setting {_MATCH} to NotOlderThan"
        errors.append(forbidden_field(_MATCH, says))
    if match:
        if options.initial is None:
            says = f"{_MATCH} is forbidden for watch unless sendInitialEvents is provided"
            errors.append(forbidden_field(_MATCH, says))
        if match != "NotOlderThan":
            errors.append(not_supported(_MATCH, match, ["NotOlderThan"]))
        if options.proceed:
            errors.append(forbidden_field(_MATCH, f"{_MATCH} is forbidden when continue is provided"))
    return errors
