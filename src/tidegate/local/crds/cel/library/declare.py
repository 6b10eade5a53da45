"""From tables of functions to the declarations the CEL library takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

from tidegate.local.crds.cel.library.budget import guarded

ANY = ("int", "uint", "double", "string", "bool", "bytes", "list", "map", "timestamp", "duration")
"""At run time a parameter of any type is one declaration per type."""
OWN = frozenset({"quantity", "ip", "cidr", "url", "semver", "format", "authorizer", "path_check", "group_check",
                 "resource_check", "decision"})  # fmt: skip

_GO_NAMES = {
    "quantity": "kubernetes.Quantity", "ip": "net.IP", "cidr": "net.CIDR", "url": "kubernetes.URL",
    "semver": "kubernetes.Semver", "format": "kubernetes.NamedFormat",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Function:
    """`signature` is `name(types) result`, or `type.name(types) result` for one that is called on a value; a name with
    a dot that only looks like that is written `::a.name(types) result`."""

    signature: str
    run: Callable[..., Any]


def declared(checked: bool) -> list[Any]:
    """All of Kubernetes' functions. The checker tells Kubernetes' types apart; at run time they are all maps."""
    return _declared(checked)


@lru_cache(maxsize=2)
def _declared(checked: bool) -> list[Any]:
    from cel_expr_python import cel  # type: ignore[import-untyped]

    overloads: dict[str, dict[tuple[Any, ...], Any]] = {}
    for function in _all_functions():
        name, member, parameters, result = _parsed(function.signature)
        for chosen in _choices(parameters, checked):
            held = chosen if checked else tuple("map" if kind in OWN else kind for kind in chosen)
            entry = overloads.setdefault(name, {}).setdefault((member, held), (result, {}))
            entry[1][chosen[0] if chosen else ""] = function.run
    return [
        cel.FunctionDecl(
            name,
            [
                cel.Overload(
                    "_".join([name, "of" if member else "for", *held]).replace("(", "_").replace(")", ""),
                    return_type=named_type(_result(result, checked), checked=checked),
                    parameters=[named_type(kind, checked=checked) for kind in held],
                    is_member=member,
                    impl=guarded(_dispatched(runs)),
                )
                for (member, held), (result, runs) in known.items()
            ],
        )
        for name, known in overloads.items()
    ]


def _result(kind: str, checked: bool) -> str:
    """At run time a function may give anything, so that it can also give up (`budget.Exhausted`); only times need their
    type to be carried over."""
    return kind if checked or kind in ("timestamp", "duration") else "any"


def _all_functions() -> list[Function]:
    from tidegate.local.crds.cel.library import addresses, authorization, lists, quantities, texts, urls, versions

    tables = (texts, lists, quantities, addresses, urls, versions, authorization)
    return [function for module in tables for function in module.FUNCTIONS]


def _dispatched(runs: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """One implementation for types that all look like maps: the first argument says which one it is."""
    if len(runs) == 1:
        return next(iter(runs.values()))

    def run(first: dict[str, Any], *rest: Any) -> Any:
        own = next((runs[tag] for tag in first if tag in runs), None)
        if own is None:
            raise ValueError("no such overload")
        return own(first, *rest)

    return run


def _parsed(signature: str) -> tuple[str, bool, tuple[str, ...], str]:
    head, result = signature.rsplit(" ", 1)
    name, _, inside = head.removesuffix(")").partition("(")
    parameters = tuple(part.strip() for part in inside.split(",") if part.strip())
    if name.startswith("::"):
        return name[2:], False, parameters, result
    owner, dot, method = name.partition(".")
    if dot and owner in (*ANY, *OWN, "any"):
        return method, True, (owner, *parameters), result
    return name, False, parameters, result


def _choices(parameters: tuple[str, ...], checked: bool) -> list[tuple[str, ...]]:
    if checked:
        return [parameters]
    return list(product(*(ANY if kind == "any" else (kind,) for kind in parameters)))


def named_type(kind: str, *, checked: bool) -> Any:
    """A type by its name in the tables; `list(int)` and `map(string)` say what they hold."""
    from cel_expr_python import cel

    plain = {
        "any": cel.Type.DYN, "int": cel.Type.INT, "uint": cel.Type.UINT, "double": cel.Type.DOUBLE,
        "string": cel.Type.STRING, "bool": cel.Type.BOOL, "bytes": cel.Type.BYTES, "timestamp": cel.Type.TIMESTAMP,
        "duration": cel.Type.DURATION, "list": cel.Type.List(cel.Type.DYN),
        "map": cel.Type.Map(cel.Type.STRING, cel.Type.DYN),
    }  # fmt: skip
    if kind in plain:
        return plain[kind]
    outer, _, inner = kind.partition("(")
    if inner:
        held = named_type(inner.removesuffix(")"), checked=checked)
        return cel.Type.List(held) if outer == "list" else cel.Type.Map(cel.Type.STRING, held)
    return cel.Type.AbstractType(_GO_NAMES.get(kind, f"kubernetes.{kind}")) if checked else plain["map"]
