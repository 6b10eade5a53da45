"""Kubernetes quantities in expressions: `quantity("1Gi").isGreaterThan(quantity("500M"))`."""

from __future__ import annotations

from typing import Any

from tidegate.local.crds.cel.library.declare import Function
from tidegate.model.quantity import NANO, Quantity, QuantityError

Tagged = dict[str, Any]


def _made(nano: int) -> Tagged:
    """As a text: an amount may be larger than any number the CEL library has."""
    return {"quantity": str(nano)}


def _nano(quantity: Tagged) -> int:
    return int(quantity["quantity"])


def _parsed(text: str) -> Tagged:
    try:
        return _made(Quantity.parse(text).nano)
    except QuantityError:
        raise ValueError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ) from None


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _sign(quantity: Tagged) -> int:
    nano = _nano(quantity)
    return (nano > 0) - (nano < 0)


def _compared(one: Tagged, other: Tagged) -> int:
    return (_nano(one) > _nano(other)) - (_nano(one) < _nano(other))


def _is_integer(quantity: Tagged) -> bool:
    return _nano(quantity) % NANO == 0 and -(2**63) <= _nano(quantity) // NANO < 2**63


def _as_integer(quantity: Tagged) -> int:
    if not _is_integer(quantity):
        raise ValueError("cannot convert value to integer")
    return _nano(quantity) // NANO


def _plus(quantity: Tagged, other: Tagged | int) -> Tagged:
    return _made(_nano(quantity) + (other * NANO if isinstance(other, int) else _nano(other)))


def _minus(quantity: Tagged, other: Tagged | int) -> Tagged:
    return _made(_nano(quantity) - (other * NANO if isinstance(other, int) else _nano(other)))


FUNCTIONS = [
    Function("quantity(string) quantity", _parsed),
    Function("isQuantity(string) bool", _is_quantity),
    Function("quantity.sign() int", _sign),
    Function("quantity.isGreaterThan(quantity) bool", lambda one, other: _compared(one, other) > 0),
    Function("quantity.isLessThan(quantity) bool", lambda one, other: _compared(one, other) < 0),
    Function("quantity.compareTo(quantity) int", _compared),
    Function("quantity.asApproximateFloat() double", lambda quantity: _nano(quantity) / NANO),
    Function("quantity.asInteger() int", _as_integer),
    Function("quantity.isInteger() bool", _is_integer),
    Function("quantity.add(quantity) quantity", _plus),
    Function("quantity.add(int) quantity", _plus),
    Function("quantity.sub(quantity) quantity", _minus),
    Function("quantity.sub(int) quantity", _minus),
]
