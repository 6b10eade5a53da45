"""Label and field selectors: parsed once per request, then asked for every object."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tidegate.kube.wire import Object

Labels = Mapping[str, str]

_TOKEN = re.compile(r"\s*(?:(==|!=|=|!|,|\(|\)|>|<)|([^\s=!,()<>]+))")
_KEY = re.compile(
    r"(?:([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
)
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


_SYMBOLS = frozenset(["==", "!=", "=", "!", ",", "(", ")", ">", "<"])
_BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


class SelectorError(ValueError):
    """The selector does not parse; the text says where."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label or field."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def matches(self, labels: Labels) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
            case _:
                return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        try:
            actual, bound = int(value), int(next(iter(self.values)))
        except ValueError:
            return False
        return actual > bound if self.operator == ">" else actual < bound


Selector = tuple[Requirement, ...]


def matches(selector: Selector, labels: Labels) -> bool:
    return all(requirement.matches(labels) for requirement in selector)


class _Tokens:
    def __init__(self, text: str) -> None:
        self._tokens = list(self._split(text))
        self._at = 0

    @staticmethod
    def _split(text: str) -> Iterator[str]:
        at = 0
        while at < len(text) and text[at:].strip():
            found = _TOKEN.match(text, at)
            if not found:
                raise SelectorError(f"unable to parse requirement: found '{text[at:]}', expected: identifier")
            at = found.end()
            yield found[1] or found[2]

    def peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self._at += 1
        return token


def parse_labels(text: str) -> Selector:
    """`a=b,c!=d,e in (f,g),!h,i>3`: all must hold."""
    tokens = _Tokens(text)
    found = []
    while tokens.peek():
        found.append(_requirement(tokens))
        after = tokens.take()
        if after and after != ",":
            raise SelectorError(f"found '{after}', expected: ',' or 'end of string'")
        if after and not tokens.peek():
            raise SelectorError("found '', expected: identifier after ','")
    return tuple(found)


def _requirement(tokens: _Tokens) -> Requirement:
    negated = tokens.peek() == "!"
    if negated:
        tokens.take()
    key = tokens.take()
    if not key or key in _SYMBOLS:
        raise SelectorError(f"unable to parse requirement: found '{key}', expected: !, identifier, or 'end of string'")
    _check_key(key)
    if negated:
        return Requirement(key, "!")
    operator = tokens.peek()
    if operator in ("", ","):
        return Requirement(key, "exists")
    tokens.take()
    if operator in ("in", "notin"):
        return Requirement(key, operator, frozenset(_values(tokens, key)))
    if operator in ("=", "==", "!=", ">", "<"):
        value = tokens.take() if tokens.peek() not in ("", ",") else ""
        _check_value(key, value)
        if operator in "><" and not re.fullmatch(r"[+-]?\d+", value):
            raise SelectorError(
                f"values[0][{key}]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer"
            )
        name = "in" if operator in ("=", "==") else "notin" if operator == "!=" else operator
        return Requirement(key, name, frozenset([value]))
    raise SelectorError(f"unable to parse requirement: found '{operator}', expected: in, notin, =, ==, !=, gt, lt")


def _values(tokens: _Tokens, key: str) -> Iterator[str]:
    if (opening := tokens.take()) != "(":
        raise SelectorError(f"unable to parse requirement: found '{opening}' expected: '('")
    while True:
        value = "" if tokens.peek() in (",", ")") else tokens.take()
        if not value and not tokens.peek():
            raise SelectorError("unable to parse requirement: found '', expected: ',', ')' or identifier")
        _check_value(key, value)
        yield value
        following = tokens.take()
        if following == ")":
            return
        if following != ",":
            raise SelectorError(f"unable to parse requirement: found '{following}', expected: ',' or ')'")


def _check_key(key: str) -> None:
    if not _KEY.fullmatch(key) or len(key.rpartition("/")[2]) > 63 or len(key.rpartition("/")[0]) > 253:
        raise SelectorError(
            f'unable to parse requirement: key: Invalid value: "{key}": a label key must be a qualified name'
        )


def _check_value(key: str, value: str) -> None:
    if not _VALUE.fullmatch(value) or len(value) > 63:
        raise SelectorError(f'unable to parse requirement: values[0][{key}]: Invalid value: "{value}": {_BAD_VALUE}')


def parse_fields(text: str) -> Selector:
    """`metadata.name=x,status.phase!=Running`; a backslash escapes `,`, `=` and itself."""
    found = []
    for term in _terms(text):
        if not term:
            continue
        key, operator, value = _split_term(term)
        if not key and not value:
            continue
        found.append(Requirement(key, "notin" if operator == "!=" else "in", frozenset([_unescape(value)])))
    return tuple(found)


def _terms(text: str) -> list[str]:
    terms, start, at = [], 0, 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == ",":
            terms.append(text[start:at])
            start = at + 1
        at += 1
    return [*terms, text[start:]]


def _split_term(term: str) -> tuple[str, str, str]:
    for at in range(len(term)):
        for operator in ("!=", "==", "="):
            if term.startswith(operator, at):
                return term[:at], operator, term[at + len(operator) :]
    raise SelectorError(f"invalid selector: '{term}'; can't understand '{term}'")


def _unescape(value: str) -> str:
    out, at = [], 0
    while at < len(value):
        if value[at] == "\\":
            if at + 1 >= len(value) or value[at + 1] not in "\\,=":
                raise SelectorError(f"invalid field selector: invalid escape sequence in '{value}'")
            at += 1
        elif value[at] in ",=":
            raise SelectorError(f"invalid field selector: unescaped '{value[at]}' in '{value}'")
        out.append(value[at])
        at += 1
    return "".join(out)


def selector_of(raw: Object | None) -> Callable[[Labels], bool]:
    """A LabelSelector object (matchLabels, matchExpressions) as a test; None matches nothing, an empty one all."""
    if raw is None:
        return lambda _: False
    names = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
    wanted = [Requirement(key, "in", frozenset([value])) for key, value in (raw.get("matchLabels") or {}).items()]
    for expression in raw.get("matchExpressions") or []:
        values = frozenset(expression.get("values") or [])
        wanted.append(Requirement(expression["key"], names[expression["operator"]], values))
    selector = tuple(wanted)
    return lambda labels: matches(selector, labels)


def selector_text(raw: Object | None) -> str:
    """A LabelSelector object in the form that a query takes, as Scale shows it."""
    parts = [f"{key}={value}" for key, value in ((raw or {}).get("matchLabels") or {}).items()]
    for expression in (raw or {}).get("matchExpressions") or []:
        key, values = expression["key"], ",".join(sorted(expression.get("values") or []))
        match expression["operator"]:
            case "In":
                parts.append(f"{key} in ({values})")
            case "NotIn":
                parts.append(f"{key} notin ({values})")
            case "Exists":
                parts.append(key)
            case _:
                parts.append(f"!{key}")
    return ",".join(sorted(parts))
