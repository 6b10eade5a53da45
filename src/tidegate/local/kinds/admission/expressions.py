"""Expressions of policies and webhooks: whether they compile, and to what."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.local.crds.cel.syntax import Node
from tidegate.local.schema.node import Schema

_TEXT, _TRUTH, _NUMBER = Schema("string"), Schema("boolean"), Schema("integer")
_ABOUT_REQUEST = "authorizer_requestResource"
"""`authorizer.requestResource` is one variable, and this a name as long."""
_ANY = Schema(int_or_string=True)
"""A value of which nothing is known."""


def _record(**properties: Schema) -> Schema:
    return Schema("object", properties=properties)


_TEXTS, _BY_NAME = Schema("array", items=_TEXT), Schema("object", values=_TEXT)
_KIND = _record(group=_TEXT, version=_TEXT, kind=_TEXT)
_RESOURCE = _record(group=_TEXT, version=_TEXT, resource=_TEXT)
_USER = _record(username=_TEXT, uid=_TEXT, groups=_TEXTS, extra=Schema("object", values=_TEXTS))
_REQUEST = _record(
    kind=_KIND, resource=_RESOURCE, subResource=_TEXT, requestKind=_KIND, requestResource=_RESOURCE,
    requestSubResource=_TEXT, name=_TEXT, namespace=_TEXT, operation=_TEXT, userInfo=_USER, dryRun=_TRUTH, options=_ANY,
)  # fmt: skip
_METADATA = _record(
    name=_TEXT, generateName=_TEXT, namespace=_TEXT, labels=_BY_NAME, annotations=_BY_NAME, UID=_TEXT,
    creationTimestamp=_ANY, deletionGracePeriodSeconds=_NUMBER, deletionTimestamp=_ANY, generation=_NUMBER,
    resourceVersion=_TEXT, finalizers=_TEXTS,
)  # fmt: skip
_NAMESPACE = _record(metadata=_METADATA, spec=_record(finalizers=_TEXTS), status=_record(phase=_TEXT))
_OF_TYPE = {"string": _TEXT, "bool": _TRUTH, "int": _NUMBER, "double": Schema("number")}


@dataclass(frozen=True, slots=True)
class Sight:
    """What an expression can see besides the object and the request."""

    params: bool = False
    authorizer: bool = True
    variables: dict[str, str] | None = field(default=None)
    """Types of the policy's own variables; None where there are none to see."""

    def types(self) -> dict[str, str]:
        seen = dict.fromkeys(("object", "oldObject", "request", "namespaceObject"), "any")
        seen |= {"params": "any"} if self.params else {}
        seen |= {"authorizer": "authorizer", _ABOUT_REQUEST: "resource_check"} if self.authorizer else {}
        return seen | ({"variables": "any"} if self.variables is not None else {})

    def shapes(self) -> dict[str, Schema | None]:
        named = {name: _OF_TYPE.get(kind, _ANY) for name, kind in (self.variables or {}).items()}
        return {"request": _REQUEST, "namespaceObject": _NAMESPACE, "variables": _record(**named)}


def type_of(expression: str, sight: Sight) -> str:
    """What an expression gives: "bool", "string", "list" …, "dyn" where only running it can tell.

    Raises CompileError."""
    from tidegate.local.crds.cel import CompileError, compile_expression
    from tidegate.local.crds.cel.fields import Walk

    types, shapes = sight.types(), sight.shapes()
    walk = Walk(expression.replace("authorizer.requestResource", _ABOUT_REQUEST), roots=tuple(shapes))
    tree = compile_expression(walk.text, variables=types, checked=False).tree
    walk.read(tree, shapes)
    if walk.problems:
        raise CompileError(walk.said())
    found = compile_expression(walk.to_check(), variables=types | walk.chains).result_type.partition("<")[0]
    return "an object" if found in ("dyn", "any") and _is_of_object(tree) else found


def _is_of_object(node: Node) -> bool:
    """Whether this is a field of an object, of which only running can tell what it is."""
    while node.sort == "select" and node.operand is not None:
        node = node.operand
    return node.sort == "ident" and node.name in ("object", "oldObject", "params", "request", "variables")


def fault(expression: str, sight: Sight, *wanted: str) -> str:
    """Why an expression is not one that gives what is wanted (anything, if nothing is said); empty if it is."""
    from tidegate.local.crds.cel import CompileError

    try:
        kind = type_of(expression, sight)
    except CompileError as error:
        return f"compilation failed: {error}"
    if not wanted or kind in (*wanted, "dyn", "any"):
        return ""
    return f"must evaluate to {' or '.join(wanted)} but got {kind}"
