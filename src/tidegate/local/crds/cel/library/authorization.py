"""The authorizer of admission expressions: `authorizer.group("").resource("pods").namespace("x").check("create")`.

A chain of calls gathers one question in a map; asking it is the business of whoever evaluates, who hands over a
function with `asking`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tidegate.local.crds.cel.library.declare import Function

Tagged = dict[str, Any]
Ask = Callable[[dict[str, str]], "tuple[bool, str]"]
"""Given verb and path, or verb, group, resource, subresource, namespace and name: may they, and why."""


def authorizer(**request: str) -> Tagged:
    """The value of the variable `authorizer`; `authorizer.requestResource` is a question about the request itself."""
    return {"authorizer": {}, "requestResource": {"resource_check": request}}


_asked: list[Ask] = []


@contextmanager
def asking(ask: Ask) -> Iterator[None]:
    """Answers questions with `ask` while an expression is evaluated."""
    _asked.append(ask)
    try:
        yield
    finally:
        _asked.pop()


def _step(tag: str, key: str) -> Callable[[Tagged, str], Tagged]:
    return lambda chain, value: {tag: _gathered(chain) | {key: value}}


def _gathered(chain: Tagged) -> dict[str, Any]:
    """What the question is so far; the authorizer itself has a ready-made one beside it."""
    gathered: dict[str, Any] = chain["authorizer"] if "authorizer" in chain else next(iter(chain.values()))
    return gathered


def _service_account(chain: Tagged, namespace: str, name: str) -> Tagged:
    return {"authorizer": chain["authorizer"] | {"serviceAccount": f"{namespace}/{name}"}}


def _checked(chain: Tagged, verb: str) -> Tagged:
    if not _asked:
        raise ValueError("no authorizer is available here")
    allowed, reason = _asked[-1](_gathered(chain) | {"verb": verb})
    return {"decision": {"allowed": allowed, "reason": reason}}


FUNCTIONS = [
    Function("authorizer.path(string) path_check", _step("path_check", "path")),
    Function("authorizer.group(string) group_check", _step("group_check", "group")),
    Function("authorizer.serviceAccount(string, string) authorizer", _service_account),
    Function("group_check.resource(string) resource_check", _step("resource_check", "resource")),
    Function("resource_check.subresource(string) resource_check", _step("resource_check", "subresource")),
    Function("resource_check.namespace(string) resource_check", _step("resource_check", "namespace")),
    Function("resource_check.name(string) resource_check", _step("resource_check", "name")),
    Function("path_check.check(string) decision", _checked),
    Function("resource_check.check(string) decision", _checked),
    Function("decision.allowed() bool", lambda decision: decision["decision"]["allowed"]),
    Function("decision.reason() string", lambda decision: decision["decision"]["reason"]),
    Function("decision.errored() bool", lambda decision: False),
    Function("decision.error() string", lambda decision: ""),
]
