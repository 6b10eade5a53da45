"""Whether a value keeps to its schema: closures made once per node, for the many objects that do.

A True is final. A False only means "look closer": the rare shapes Kubernetes treats oddly are left to `reasons`, which
decides. A property test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.values import formats
from tidegate.local.crds.values.numbers import INT64
from tidegate.local.crds.values.patterns import PatternError, matcher
from tidegate.local.crds.values.reasons import reasons

Check = Callable[[Any], bool]


def verdict(raw: Object) -> Check | None:
    """A check for values of this node; None if it takes everything."""
    checks = [check for check in (_typed(raw), _combined(raw), _enumerated(raw)) if check]
    if not checks:
        return None
    check = checks[0] if len(checks) == 1 else _both(checks)
    if raw.get("nullable") and not raw.get("enum"):
        return lambda value: value is None or check(value)
    return check


def _both(checks: list[Check]) -> Check:
    if len(checks) == 2:
        first, second = checks
        return lambda value: first(value) and second(value)
    return lambda value: all(check(value) for check in checks)


def _typed(raw: Object) -> Check | None:
    if raw.get("x-kubernetes-int-or-string"):
        whole, text = _integer(raw), _string(raw | {"format": ""})
        return lambda value: whole(value) or text(value)
    makers = {"object": _object, "array": _array, "string": _string, "integer": _integer, "number": _number}
    kind = raw.get("type", "")
    if kind in makers:
        return makers[kind](raw)
    if kind == "boolean":
        return lambda value: value is True or value is False
    return None if set(raw) <= _SILENT else lambda value: not reasons(raw, value).findings


_SILENT = frozenset({"description", "title", "x-kubernetes-preserve-unknown-fields", "nullable", "example", "default"})


def _string(raw: Object) -> Check:
    least, most = raw.get("minLength"), raw.get("maxLength")
    tests: list[Check] = []
    if form := raw.get("format"):
        holds = formats.predicate(form)
        if holds:
            tests.append(holds)
    if raw.get("pattern"):
        try:
            tests.append(matcher(raw["pattern"]))
        except PatternError:
            return lambda value: False
    if least is None and most is None and not tests:
        return lambda value: value.__class__ is str
    low, high = least or 0, most if most is not None else INT64
    if not tests:
        return lambda value: value.__class__ is str and low <= len(value) <= high
    if len(tests) == 1:
        test = tests[0]
        return lambda value: value.__class__ is str and low <= len(value) <= high and test(value)
    return lambda value: value.__class__ is str and low <= len(value) <= high and all(test(value) for test in tests)


def _integer(raw: Object) -> Check:
    reach = 2**31 if raw.get("format") == "int32" else INT64
    bounds = [raw[key] for key in ("minimum", "maximum", "multipleOf") if raw.get(key) is not None]
    if any(not float(bound).is_integer() or not -reach <= bound < reach for bound in bounds):
        return lambda value: False
    low, high = -reach, reach - 1
    if raw.get("minimum") is not None:
        low = int(raw["minimum"]) + bool(raw.get("exclusiveMinimum"))
    if raw.get("maximum") is not None:
        high = int(raw["maximum"]) - bool(raw.get("exclusiveMaximum"))
    if raw.get("multipleOf") is None:
        return lambda value: value.__class__ is int and low <= value <= high
    factor = int(raw["multipleOf"])
    return lambda value: value.__class__ is int and low <= value <= high and factor > 0 and value % factor == 0


def _number(raw: Object) -> Check:
    if any(key in raw for key in ("minimum", "maximum", "multipleOf", "format")):
        return lambda value: not reasons(raw, value).findings
    return lambda value: (value.__class__ is int and -INT64 <= value < INT64) or value.__class__ is float


def _array(raw: Object) -> Check:
    item = verdict(raw["items"]) if isinstance(raw.get("items"), dict) else None
    low, high = raw.get("minItems") or 0, raw.get("maxItems")

    def check(value: Any) -> bool:
        if value.__class__ is not list or len(value) < low or (high is not None and len(value) > high):
            return False
        if item is not None:
            for child in value:
                if not item(child):
                    return False
        return True

    return check


def _object(raw: Object) -> Check:
    named = {name: verdict(child) for name, child in (raw.get("properties") or {}).items()}
    others = raw.get("additionalProperties")
    rest = verdict(others) if isinstance(others, dict) else None
    closed = others is False
    required = tuple(raw.get("required") or ())
    low, high = raw.get("minProperties") or 0, raw.get("maxProperties")
    sized = low > 0 or high is not None

    def check(value: Any) -> bool:
        if value.__class__ is not dict:
            return False
        for key in required:
            if key not in value:
                return False
        if sized and not low <= len(value) <= (INT64 if high is None else high):
            return False
        for key, child in value.items():
            if key in named:
                known = named[key]
                if known is not None and not known(child):
                    return False
            elif closed or (rest is not None and not rest(child)):
                return False
        return True

    return check


def _combined(raw: Object) -> Check | None:
    """anyOf and friends: a sure yes is found here, anything else asks `reasons`."""
    parts = {key: raw[key] for key in ("anyOf", "oneOf", "allOf", "not") if raw.get(key) is not None}
    if raw.get("x-kubernetes-int-or-string") and parts.get("anyOf") == [{"type": "integer"}, {"type": "string"}]:
        del parts["anyOf"]  # the type says that already
    checks: list[Check] = []
    if options := parts.pop("anyOf", None):
        checks.append(_any_of([verdict(option) for option in options], {"anyOf": options}))
    for clause in parts.pop("allOf", ()):
        checks.append(_sure(verdict(clause), clause))
    if parts:
        checks.append(lambda value: not reasons(parts, value).findings)
    return None if not checks else checks[0] if len(checks) == 1 else _both(checks)


def _any_of(options: list[Check | None], raw: Object) -> Check:
    return lambda value: any(option is None or option(value) for option in options) or not reasons(raw, value).findings


def _sure(check: Check | None, raw: Object) -> Check:
    return lambda value: check is None or check(value) or not reasons(raw, value).findings


def _enumerated(raw: Object) -> Check | None:
    allowed = raw.get("enum")
    if not allowed:
        return None
    words = frozenset(option for option in allowed if isinstance(option, str))
    return lambda value: value.__class__ is str and value in words
