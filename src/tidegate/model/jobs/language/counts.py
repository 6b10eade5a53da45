"""Counts of pods and questions about an object, as kind files write them: data first, CEL where data is not enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from tidegate.model.jobs.language.paths import JobError, JobPath, Scope

MOST = 2**31 - 1
_WAYS = ("path", "first", "least", "most", "times", "indexes", "cel")
_TUNING = ("when", "default", "minus", "atLeast", "atMost")
_HOW = (
    "write a number, a path, or one of {path: …}, {first: […]}, {least: […]}, {most: […]}, {times: […]}, "
    "{indexes: […]}, {cel: …}"
)


@dataclass(frozen=True, slots=True)
class _Case:
    """One way to get a number, when `when` holds (or always)."""

    way: str
    given: Any
    when: Check | None = None
    default: int | None = None
    minus: int = 0
    at_least: Number | None = None
    at_most: Number | None = None


class Number:
    """How to count: the first of its cases that holds. Never negative."""

    __slots__ = ("cases", "raw")
    raw: Any
    cases: tuple[_Case, ...]

    SCHEMA: ClassVar[dict[str, Any]] = {"x-kubernetes-preserve-unknown-fields": True}

    def __init__(self, raw: Any, cases: tuple[_Case, ...]) -> None:
        self.raw, self.cases = raw, cases

    @classmethod
    def parse(cls, raw: object) -> Number:
        items = raw if isinstance(raw, list | tuple) else [raw]
        if not items:
            raise ValueError(f"is an empty list; {_HOW}")
        return cls(raw, tuple(_case(item) for item in items))

    def wire(self) -> Any:
        return self.raw

    def of(self, scope: Scope) -> int | None:
        """The count; None where no case holds or nothing is said."""
        for case in self.cases:
            if case.when is None or case.when.holds(scope):
                return _tuned(case, scope)
        return None

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Number) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.raw))

    def __repr__(self) -> str:
        return f"Number({self.raw!r})"


class Check:
    """A question about an object: is this so? A path alone asks whether what is there is true, or not empty."""

    __slots__ = ("raw", "test")
    raw: Any
    test: Callable[[Scope], bool]

    SCHEMA: ClassVar[dict[str, Any]] = {"x-kubernetes-preserve-unknown-fields": True}

    def __init__(self, raw: Any, test: Callable[[Scope], bool]) -> None:
        self.raw, self.test = raw, test

    @classmethod
    def parse(cls, raw: object) -> Check:
        return cls(raw, _test(raw))

    def wire(self) -> Any:
        return self.raw

    def holds(self, scope: Scope) -> bool:
        return self.test(scope)

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Check) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self.raw))

    def __repr__(self) -> str:
        return f"Check({self.raw!r})"


def _case(raw: object) -> _Case:
    if isinstance(raw, bool) or (isinstance(raw, int) and raw < 0):
        raise ValueError(f"{raw} is not a count; {_HOW}")
    if isinstance(raw, int):
        return _Case("literal", raw)
    if isinstance(raw, str):
        return _Case("path", JobPath.parse(raw))
    if not isinstance(raw, Mapping):
        raise ValueError(f"{raw} is not a count; {_HOW}")
    for key in ("value", "default", "minus"):
        if key in raw and (isinstance(raw[key], bool) or not isinstance(raw[key], int) or raw[key] < 0):
            raise ValueError(f"{key} {raw[key]} is not a number of 0 or more; write one without quotes")
    ways = [way for way in _WAYS if way in raw]
    if unknown := raw.keys() - {*_WAYS, *_TUNING, "value"}:
        raise ValueError(f"{sorted(map(str, unknown))[0]} is not known in a count; {_HOW}")
    if not ways and "value" in raw:
        given: tuple[str, Any] = ("literal", raw["value"])
    elif len(ways) != 1 or "value" in raw:
        raise ValueError(f"a count is got in exactly one way; {_HOW}")
    else:
        given = (ways[0], _given(ways[0], raw[ways[0]]))
    return _Case(
        *given,
        when=Check.parse(raw["when"]) if "when" in raw else None,
        default=raw.get("default"),
        minus=raw.get("minus", 0),
        at_least=Number.parse(raw["atLeast"]) if "atLeast" in raw else None,
        at_most=Number.parse(raw["atMost"]) if "atMost" in raw else None,
    )


def _given(way: str, raw: Any) -> Any:
    if way == "path":
        return JobPath.parse(raw)
    if way == "cel":
        return _expression(raw)
    if not isinstance(raw, list | tuple) or not raw:
        raise ValueError(f"{way} takes a list; write {way}: [.spec.one, .spec.other]")
    return tuple(JobPath.parse(item) if way == "indexes" else Number.parse(item) for item in raw)


def _tuned(case: _Case, scope: Scope) -> int | None:
    found = _counted(case, scope)
    value = case.default if found is None else found
    low = case.at_least.of(scope) if case.at_least else None
    high = case.at_most.of(scope) if case.at_most else None
    if value is None and low is not None:
        value = low
    if value is None:
        return None
    value = value - case.minus
    value = value if low is None else max(value, low)
    value = value if high is None else min(value, high)
    return min(max(value, 0), MOST)


def _counted(case: _Case, scope: Scope) -> int | None:
    match case.way:
        case "literal":
            return int(case.given)
        case "path":
            return _integer(case.given, scope)
        case "first":
            return next((value for number in case.given if (value := number.of(scope)) is not None), None)
        case "least" | "most":
            values = [value for number in case.given if (value := number.of(scope)) is not None]
            return (min if case.way == "least" else max)(values) if values else None
        case "times":
            product = 1
            for number in case.given:
                value = number.of(scope)
                if value is None:
                    return None
                product *= value
            return product
        case "indexes":
            return _indexes([str(path.value(scope) or "") for path in case.given])
        case _:
            value = evaluate(case.given, scope, whole=True)
            if isinstance(value, bool) or not isinstance(value, int):
                raise JobError((), f'the expression "{case.given}" gave {value}; make it give a whole number')
            return value


def _integer(path: JobPath, scope: Scope) -> int | None:
    found = path.first(scope)
    if found is None:
        return None
    value = found.value
    # Settings and annotations, whose names have dots, are text: there digits in quotes count, too.
    if isinstance(value, str) and "." in str(found.path[-1]) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise JobError(
            found.path, f'"{value}" is not a count of pods; write a whole number of 0 or more, without quotes'
        )
    return value


def _indexes(texts: list[str]) -> int:
    """How many indexes several lists like "1,3-5" name together; by intervals, since they may be long."""
    spans = []
    for part in ",".join(texts).split(","):
        first, _, last = part.partition("-")
        if first.isascii() and first.isdigit():
            spans.append((int(first), int(last) if last.isascii() and last.isdigit() else int(first)))
    total, reached = 0, -1
    for first_index, last_index in sorted(spans):
        total += max(last_index - max(first_index - 1, reached), 0)
        reached = max(reached, last_index)
    return min(total, MOST)


def _test(raw: object) -> Callable[[Scope], bool]:
    if isinstance(raw, bool):
        return lambda scope: raw
    if isinstance(raw, str):
        path = JobPath.parse(raw)
        return lambda scope: _is_true(path.value(scope))
    if not isinstance(raw, Mapping) or len(raw.keys() & {"path", "condition", "cel"}) != 1:
        how = "write a path, {path: …, in: […]}, {condition: Complete} or {cel: …}"
        raise ValueError(f"{raw} is not a question about an object; {how}")
    if unknown := raw.keys() - {"path", "condition", "cel", "in", "unless"}:
        raise ValueError(f"{sorted(map(str, unknown))[0]} is not known in a question; remove it")
    asked = _asked(raw)
    if "unless" in raw:
        spared = _test(raw["unless"])
        return lambda scope: asked(scope) and not spared(scope)
    return asked


def _is_true(value: Any) -> bool:
    """Settings that are text, as Spark's are, say false in any case."""
    return value not in (None, False, "", [], {}) and not (isinstance(value, str) and value.lower() == "false")


def _asked(raw: Mapping[str, Any]) -> Callable[[Scope], bool]:
    if "cel" in raw:
        expression = _expression(raw["cel"])
        return lambda scope: evaluate(expression, scope) is True
    if "condition" in raw:
        return lambda scope: _condition(scope.root, str(raw["condition"])) == "True"
    path = JobPath.parse(raw["path"])
    if "in" not in raw:
        return _test(raw["path"])
    if not isinstance(raw["in"], list | tuple):
        raise ValueError(f"in takes a list; write in: [{raw['in']}]")
    allowed = tuple(raw["in"])
    return lambda scope: path.value(scope) in allowed


def _condition(obj: Any, wanted: str) -> str:
    """What a condition says; nothing where no list of conditions can be read, since nobody said so then."""
    status = obj.get("status")
    listed = status.get("conditions") if isinstance(status, Mapping) else None
    for condition in listed if isinstance(listed, list | tuple) else ():
        if isinstance(condition, Mapping) and condition.get("type") == wanted:
            return str(condition.get("status"))
    return ""


def _expression(text: object) -> str:
    """The text, once it is known to compile; ValueError says what the compiler says."""
    if not isinstance(text, str):
        raise ValueError(f"{text} is not an expression; write CEL in quotes")
    try:
        _compiled(text)
    except RuntimeError as error:
        said = str(error).partition("\n")[0]
        raise ValueError(f'"{text}" is not an expression: {said}; use self, item, key and name') from None
    return text


@lru_cache(maxsize=256)
def _compiled(text: str) -> Any:
    from cel_expr_python import cel  # type: ignore[import-untyped]

    names = {"self": cel.Type.DYN, "item": cel.Type.DYN, "key": cel.Type.STRING, "name": cel.Type.STRING}
    return cel.NewEnv(variables=names).compile(text)


def evaluate(text: str, scope: Scope, *, whole: bool = False) -> Any:
    """What a CEL expression gives; JobError where it fails on this object. Where it finds nothing, the answer to a
    question is no; that is no number (`whole`)."""
    values = {"self": scope.root, "item": scope.item or {}, "key": scope.key, "name": scope.name}
    try:
        found = _compiled(text).eval(data=values)
        if whole and str(found.type()) == "ERROR":
            raise ValueError(found.value())
        return found.value()
    except (RuntimeError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise JobError((), f'the expression "{text}" fails on this object: {said}; guard it with has()') from None
