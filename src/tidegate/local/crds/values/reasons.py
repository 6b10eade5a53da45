"""Why a value breaks its schema, in the words and the order of reasoning of Kubernetes' validator.

This is the careful path: it runs only when `verdict` did not say yes, so it may be slow. Where Kubernetes' validator is
odd, so is this one, since an object must be refused or taken alike: a list passes as a string with a format; bounds
of integers are cut to integers; of the branches of an `anyOf` that all fail, the one in which most checks held is
reported; an enum with null in it refuses null.

An update tolerates what was wrong before and did not change (`Before`): see `ratchet`.
"""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.values import formats
from tidegate.local.crds.values.numbers import INT64, is_whole, number_findings
from tidegate.local.crds.values.patterns import PatternError, matcher
from tidegate.local.crds.values.ratchet import Before
from tidegate.local.crds.values.result import Finding, Result, faulty, invalid_type

_TYPE_NAMES = {bool: "boolean", str: "string", float: "number", list: "array", dict: "object"}
_STRUCTURE_TYPES = frozenset({"string", "array"})


def reasons(raw: Object, value: Any, *, path: str = "", before: Before | None = None) -> Result:
    """All that is wrong with `value`; what `before` shows to be unchanged is forgiven."""
    result = _judged(raw, value, path, before)
    if result.findings and before is not None and before.unchanged:
        return Result([], result.matches)
    return result


def _judged(raw: Object, value: Any, path: str, before: Before | None) -> Result:
    if value is None:
        return _typed(raw, None, path).merged(_enumerated(raw, None, path))
    result = Result()
    if _types(raw) or _format(raw):
        result.merge(_typed(raw, value, path)).count()
    result.merge(_combined(raw, value, path, before)).count()
    sort = type_name(value)
    if sort == "string":
        result.merge(_texted(raw, value, path)).count()
        if (form := _format(raw)) and formats.predicate(form):
            result.merge(_formatted(form, value, path)).count()
    elif sort in ("integer", "number"):
        result.merge(number_findings(raw, _types(raw), value, path)).count()
    elif sort == "array":
        result.merge(_listed(raw, value, path, before)).count()
    result.merge(_enumerated(raw, value, path)).count()
    if sort == "object":
        result.merge(_fielded(raw, value, path, before)).count()
    return result.count()


def type_name(value: Any) -> str:
    """The JSON type Kubernetes sees: an integer too large for 64 bits is a number to it."""
    if value.__class__ is int:
        return "integer" if -INT64 <= value < INT64 else "number"
    return _TYPE_NAMES[value.__class__]


def _types(raw: Object) -> tuple[str, ...]:
    if raw.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    return (raw["type"],) if raw.get("type") else ()


def _format(raw: Object) -> str:
    """The node's format, if it means something for its type."""
    form: str = raw.get("format", "")
    types = _types(raw)
    return form if form and formats.recognised(types[0] if len(types) == 1 else "", form) else ""


def _typed(raw: Object, value: Any, path: str) -> Result:
    types, form = _types(raw), _format(raw)
    if value is None:
        if types and not raw.get("nullable"):
            return Result([invalid_type(path, ",".join(types), "null")])
        return Result(matches=1)
    sort = type_name(value)
    own_form = {"integer": "int64", "number": "float64"}.get(sort, "")
    whole = sort == "number" and "integer" in types and is_whole(float(value))
    fits = sort in types or whole or (sort == "integer" and "number" in types)
    if sort not in _STRUCTURE_TYPES and form and not (fits or own_form == form):
        return Result([invalid_type(path, form, own_form)])
    if form and sort in _STRUCTURE_TYPES and not {"number", "integer"} & set(types):
        return Result(matches=1)
    if not fits:
        return Result([invalid_type(path, ",".join(types), sort)])
    return Result(matches=1)


def _combined(raw: Object, value: Any, path: str, before: Before | None) -> Result:
    """anyOf, oneOf, allOf and not. Their own results are not forgiven, those of fields inside them are."""
    result = Result()
    if options := raw.get("anyOf"):
        _any_of(result, [lambda o=option: _judged(o, value, path, before) for option in options], path)
    if options := raw.get("oneOf"):
        _one_of(result, [_judged(option, value, path, before) for option in options], path)
    if options := raw.get("allOf"):
        outcomes = [_judged(option, value, path, before) for option in options]
        for outcome in outcomes:
            result.merge(outcome)
        if failed := [outcome for outcome in outcomes if outcome.findings]:
            none = ". None validated" if len(failed) == len(outcomes) else ""
            result.add(faulty(f'"{path}" must validate all the schemas (allOf){none}'))
    if (denied := raw.get("not")) is not None and not _judged(denied, value, path, before).findings:
        result.add(faulty(f'"{path}" must not validate the schema (not)'))
    return result.count()


def _any_of(result: Result, options: list[Any], path: str) -> None:
    best: Result | None = None
    for option in options:
        outcome = option()
        if not outcome.findings:
            result.merge(outcome)
            return
        if best is None or outcome.matches > best.matches:
            best = outcome
    result.add(faulty(f'"{path}" must validate at least one schema (anyOf)'))
    if best is not None:
        result.merge(best)


def _one_of(result: Result, outcomes: list[Result], path: str) -> None:
    good = [outcome for outcome in outcomes if not outcome.findings]
    if len(good) == 1:
        result.merge(good[0])
        return
    how = f"Found {len(good)} valid alternatives" if good else "Found none valid"
    result.add(faulty(f'"{path}" must validate one and only one schema (oneOf). {how}'))
    if good:
        return
    result.merge(max(outcomes, key=lambda outcome: outcome.matches))


def _texted(raw: Object, value: str, path: str) -> Result:
    most, least, pattern = raw.get("maxLength"), raw.get("minLength"), raw.get("pattern")
    if most is not None and len(value) > most:
        said = f"{path} in body should be at most {most} chars long"
        return Result([Finding("too long", path, said, limit=most)])
    if least is not None and len(value) < least:
        return Result([Finding("invalid", path, f"{path} in body should be at least {least} chars long", value)])
    if not pattern:
        return Result()
    try:
        held = matcher(pattern)(value)
    except PatternError as error:
        pattern, held = f"{pattern}, but pattern is invalid: {error}", False
    return Result() if held else Result([Finding("invalid", path, f"{path} in body should match '{pattern}'", value)])


def _formatted(form: str, value: str, path: str) -> Result:
    holds = formats.predicate(form)
    return Result() if holds is None or holds(value) else Result([invalid_type(path, form, value)])


def _enumerated(raw: Object, value: Any, path: str) -> Result:
    allowed = raw.get("enum")
    if not allowed or any(_same(value, option) for option in allowed):
        return Result()
    said = f"{path} in body should be one of {allowed}"
    return Result([Finding("not supported", path, said, value, options=tuple(allowed))])


def _same(value: Any, option: Any) -> bool:
    """Null is nobody's option; a number is first made one of the option's kind, so 1.5 counts as 1."""
    if value is None or option is None:
        return False
    if option.__class__ is int and value.__class__ is float:
        return int(value) == option
    return bool(value == option) and (value.__class__ is bool) == (option.__class__ is bool)


def _listed(raw: Object, value: list[Any], path: str, before: Before | None) -> Result:
    result = Result()
    item = raw.get("items")
    if isinstance(item, dict):
        for index, child in enumerate(value):
            known = before.item(index) if before else None
            result.merge(reasons(item, child, path=f"{path}[{index}]", before=known))
    least, most = raw.get("minItems"), raw.get("maxItems")
    if least is not None and len(value) < least:
        result.add(Finding("invalid", path, f"{path} in body should have at least {least} items", len(value)))
    if most is not None and len(value) > most:
        said = f"{path} in body should have at most {most} items"
        result.add(Finding("too many", path, said, len(value), limit=most))
    return result.count()


def _fielded(raw: Object, value: Object, path: str, before: Before | None) -> Result:
    result = Result()
    least, most = raw.get("minProperties"), raw.get("maxProperties")
    if least is not None and len(value) < least:
        result.add(Finding("invalid", path, f"{path} in body should have at least {least} properties", len(value)))
    if most is not None and len(value) > most:
        said = f"{path} in body should have at most {most} properties"
        result.add(Finding("too many", path, said, len(value), limit=most))
    named: Object = raw.get("properties") or {}
    others = raw.get("additionalProperties")
    for key, child in value.items():
        if key in named:
            known = before.field(key) if before and not (path == "" and key in ("kind", "apiVersion")) else None
            result.merge(reasons(named[key], child, path=f"{path}.{key}" if path else key, before=known))
        elif others is False:
            result.add(Finding("invalid", path, f"{path}.{key} in body is a forbidden property", key))
        elif isinstance(others, dict):
            known = before.field(key) if before else None
            result.merge(reasons(others, child, path=f"{path}.{key}", before=known))
    for key in raw.get("required") or ():
        if key not in value:
            result.add(Finding("required", f"{path}.{key}", f"{path}.{key} in body is required"))
    return result
