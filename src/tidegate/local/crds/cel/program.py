"""Compiling and running expressions; errors are values, since a rule that cannot be evaluated is a finding.

Values go in and come out as plain JSON data. A compiled program may be run any number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tidegate.local.crds.cel import syntax
from tidegate.local.crds.cel.library import budget

_STATUS = re.compile(r"^(?:[A-Z_]+: )?(.*?)(?: \[[A-Z_]+\])?$", re.DOTALL)
_WORDS = (
    (re.compile(r'Key not found in map : "?(.*?)"?$'), r"no such key: \1"),
    (re.compile(r"Index error: index=(-?\d+).*"), r"index out of bounds: \1"),
    (re.compile(r"No matching overloads found.*|Applying SELECT to non-message type"), "no such overload"),
    (re.compile(r"divide by zero"), "division by zero"),
    (
        re.compile(r"String to (Duration|Timestamp) conversion failed"),
        r"type conversion error from 'string' to 'google.protobuf.\1'",
    ),
    (re.compile(r"cannot convert string to (\w+)"), r"type conversion error from 'string' to '\1'"),
    (re.compile(r'No value with name "(.*)" found in Activation'), r"no such attribute(s): \1"),
    (re.compile(r"Iteration budget exceeded|: Exhausted"), "operation cancelled: actual cost limit exceeded"),
)

_COMPILE_WORDS = (
    (
        re.compile(r"expression of type ('[^']*') cannot be the operand of a select operation"),
        r"type \1 does not support field selection",
    ),
    (re.compile(r"google\.protobuf\.(Timestamp|Duration)(?=[,)'])"), lambda found: found[1].lower()),
)


class CompileError(ValueError):
    """An expression that does not parse or whose types do not fit; the message shows where."""


@dataclass(frozen=True, slots=True)
class CelError:
    """An evaluation that came to nothing: a missing key, a division by zero, too much work …"""

    message: str

    def __str__(self) -> str:
        return self.message

    @property
    def too_costly(self) -> bool:
        return self.message.startswith("operation cancelled: actual cost limit exceeded")


class Program:
    """A compiled expression."""

    __slots__ = ("_compiled", "_environment", "result_type", "text", "tree")

    def __init__(self, text: str, compiled: Any, environment: Any, result_type: str) -> None:
        self.text = text
        self._compiled = compiled
        self._environment = environment
        self.result_type = result_type
        """"bool", "string" …; "dyn" where only running it can tell."""
        self.tree = syntax.tree(compiled.serialize())

    def uses(self, variable: str) -> bool:
        return any(node.sort == "ident" and node.name == variable for node in self.tree.walk())

    def bound(self, bindings: Mapping[str, Any]) -> Any:
        """Bindings made ready once, for several programs of the same variables."""
        return self._environment.Activation(bindings)

    def evaluate(self, bindings: Mapping[str, Any] | Any) -> Any:
        """The value as plain data, or a CelError. `bindings` are values by variable, or what `bound` made of them."""
        budget.refill()
        try:
            ready = bindings if not isinstance(bindings, Mapping) else self.bound(bindings)
            result = self._compiled.eval(ready)
            if str(result.type()) == "ERROR":
                return CelError(_in_go_words(str(result.value())))
            return result.plain_value()
        except (RuntimeError, TypeError) as error:
            return CelError(_in_go_words(str(error)))


def compile_expression(text: str, *, variables: Iterable[str] | Mapping[str, str], checked: bool = True) -> Program:
    """Raises CompileError. `variables` are the names an expression may use; a mapping also says their types, in the
    words of `library.declare` ("int", "list(string)", "any"). Unchecked, an expression only has to parse."""
    types = variables if isinstance(variables, Mapping) else dict.fromkeys(variables, "any")
    named = tuple(sorted(types.items()))
    result_type = _compiled(text, named, True).return_type().name().lower() if checked else "dyn"
    return Program(text, _compiled(text, named, False), _environment(named, False), result_type)


@lru_cache(maxsize=512)
def kept_program(text: str, variables: tuple[str, ...]) -> Program:
    """Unchecked, for who runs the same expressions at every write: to compile one takes far longer than to run it."""
    return compile_expression(text, variables=variables, checked=False)


def _compiled(text: str, variables: tuple[tuple[str, str], ...], checked: bool) -> Any:
    try:
        return _environment(variables, checked).compile(text, disable_check=not checked)
    except RuntimeError as error:
        found = _STATUS.match(str(error))
        said = found[1] if found else str(error)
        for pattern, words in _COMPILE_WORDS:
            said = pattern.sub(words, said)
        raise CompileError(said) from None


@lru_cache(maxsize=64)
def _environment(variables: tuple[tuple[str, str], ...], checked: bool) -> Any:
    """Checking and running have environments of their own: Kubernetes' types exist only for the checker."""
    from cel_expr_python import cel  # type: ignore[import-untyped]
    from cel_expr_python.ext import ext_optional  # type: ignore[import-untyped]

    from tidegate.local.crds.cel.library.declare import declared, named_type

    types = {name: named_type(kind, checked=checked) for name, kind in variables}
    return cel.NewEnv(variables=types, functions=declared(checked), extensions=[ext_optional.ExtOptional()])


def _in_go_words(message: str) -> str:
    """The library's message as Go's implementation would have it, since that is what people search for."""
    found = _STATUS.match(message)
    said = found[1] if found else message
    for pattern, words in _WORDS:
        if (match := pattern.search(said)) is not None:
            return match.expand(words) if "\\1" in words else words
    return said
