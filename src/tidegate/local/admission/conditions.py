"""matchConditions: CEL expressions that decide whether a webhook (or policy) is concerned at all."""

from __future__ import annotations

from typing import Any

from tidegate.local.admission.attributes import Attributes
from tidegate.local.admission.calls import request_of
from tidegate.local.admission.hooks import Hook
from tidegate.local.errors import forbidden

VARIABLES = ("object", "oldObject", "request", "authorizer")


def bindings(asked: Attributes) -> dict[str, Any]:
    """What expressions of admission can speak of."""
    return {
        "object": asked.obj, "oldObject": asked.old, "request": request_of(asked), "authorizer": authorizer_of(asked),
    }  # fmt: skip


def authorizer_of(asked: Attributes) -> dict[str, Any]:
    from tidegate.local.crds.cel.library.authorization import authorizer

    served = asked.served
    return authorizer(
        group=served.group, resource=served.plural, subresource=asked.subresource, namespace=asked.namespace,
        name=asked.name,
    )  # fmt: skip


def conditions_hold(hook: Hook, asked: Attributes) -> bool:
    """All must be true. One that is false decides; an error only counts if none is false, as failurePolicy says."""
    if not hook.conditions:
        return True
    from tidegate.local.crds.cel import CelError, kept_program
    from tidegate.local.crds.cel.library.authorization import asking

    given, wrong = bindings(asked), ""
    for condition in hook.conditions:
        with asking(asked.ask):
            value = kept_program(condition["expression"], VARIABLES).evaluate(given)
        if isinstance(value, CelError):
            wrong = f"{condition['name']}: {value}"
        elif value is not True:
            return False
    if wrong and hook.fails:
        raise forbidden(asked.served.group, asked.served.plural, asked.name, f"match condition {wrong}")
    return not wrong
