"""x-kubernetes-validations: rules of a schema, compiled once, and asked of every value they stand at.

Like Kubernetes: a rule that uses `oldSelf` is asked only where there is an old value to compare with (unless it takes
it as an optional), null is never asked, and a rule that fails for a value that did not change is forgiven.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local import errors
from tidegate.local.crds.cel import CelError, CompileError, Program, compile_expression
from tidegate.local.crds.cel.fields import Walk, exposed, with_metadata
from tidegate.local.crds.cel.fields import type_of as cel_type
from tidegate.local.crds.paths import FieldPathError, field_path
from tidegate.local.crds.values.ratchet import Before, item_key, keyed
from tidegate.local.errors import FieldError
from tidegate.local.schema.node import Schema

_MOST_MESSAGE_BYTES = 5 * 1024
_VARIABLES = ("self", "oldSelf", "has_old", "old")
_MAYBE_OLD = "[has_old ? optional.of(old) : optional.none()].all(oldSelf, {})"


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule, with how to speak of its failure."""

    program: Program
    uses_old: bool
    optional_old: bool
    said: str
    message: str
    message_program: Program | None
    reason: str
    field: str
    respelled: dict[str, str]
    """Fields whose real names the rule cannot spell, with how it spells them."""

    def ask(self, bindings: Any) -> CelError | bool:
        verdict = self.program.evaluate(bindings)
        return verdict if isinstance(verdict, CelError) else verdict is True

    def trouble(self, error: CelError) -> str:
        """Why it could not be asked."""
        told, _, key = error.message.rpartition(" ")
        if told == "no such key:":
            error = CelError(f"{told} {self.respelled.get(key, key)}")
        if error.message.startswith("no such overload"):
            said = "call arguments did not match a supported operator, function or macro signature for rule"
            return f"'{error}': {said}: {self.said}"
        if error.too_costly:
            said = "no further validation rules will be run due to call cost exceeds limit for rule"
            return f"'{error}': {said}: {self.said}"
        return f"{error} evaluating rule: {self.said}"

    def detail(self, bindings: Any) -> str:
        """Why it failed: what messageExpression makes of it, if that works, else the message, else the rule."""
        if self.message_program is not None:
            text = self.message_program.evaluate(bindings)
            text = text.strip() if isinstance(text, str) else ""
            if text and "\n" not in text and len(text.encode()) <= _MOST_MESSAGE_BYTES:
                return text
        return self.message or f"failed rule: {self.said}"


@dataclass(frozen=True, slots=True)
class RuleFault:
    """Why a rule of a schema cannot be compiled; `key` is the field of the rule that is wrong."""

    index: int
    key: str
    detail: str


def compile_rule(raw: Object, schema: Schema, *, root: bool) -> Rule:
    """Raises CompileError."""
    text = raw["rule"]
    optional = bool(raw.get("optionalOldSelf"))
    shape = with_metadata(schema) if root or schema.embedded else schema
    walk = _walked(text, shape, optional=optional)
    running = _MAYBE_OLD.format(walk.to_run()) if optional else walk.to_run()
    program = compile_expression(running, variables=_VARIABLES, checked=False)
    uses_old = any(node.sort == "ident" and node.name == "oldSelf" for node in _parsed(text).tree.walk())
    message = raw.get("messageExpression")
    try:
        where = field_path(raw["fieldPath"], schema)[0] if raw.get("fieldPath") else ""
    except FieldPathError:
        where = ""
    return Rule(
        program, uses_old, optional, (raw.get("message") or text).strip(), (raw.get("message") or "").strip(),
        _message_program(message, shape) if message else None, raw.get("reason") or "", where, walk.respelled,
    )  # fmt: skip


def _parsed(text: str) -> Program:
    return compile_expression(text, variables=("self", "oldSelf"), checked=False)


def _walked(text: str, shape: Schema, *, optional: bool = False) -> Walk:
    walk = Walk(text)
    walk.read(_parsed(text).tree, {"self": shape, "oldSelf": shape})
    if walk.problems:
        raise CompileError(walk.said())
    return walk


def _message_program(text: str, shape: Schema) -> Program | None:
    try:
        return compile_expression(_walked(text, shape).to_run(), variables=_VARIABLES, checked=False)
    except CompileError:
        return None


def rule_faults(raw_rules: list[Object], schema: Schema, *, root: bool) -> Iterator[RuleFault]:
    """What keeps the rules of one node from compiling, types included."""
    shape = with_metadata(schema) if root or schema.embedded else schema
    for index, raw in enumerate(raw_rules):
        try:
            kind = _checked(raw["rule"], shape)
            if kind not in ("bool", "dyn"):
                yield RuleFault(index, "rule", "cel expression must evaluate to a bool")
        except CompileError as error:
            yield RuleFault(index, "rule", f"compilation failed: {error}")
            continue
        if text := raw.get("messageExpression"):
            try:
                if _checked(text, shape) not in ("string", "dyn"):
                    yield RuleFault(index, "messageExpression", "messageExpression must evaluate to a string")
            except CompileError as error:
                yield RuleFault(index, "messageExpression", f"messageExpression compilation failed: {error}")


def _checked(text: str, shape: Schema) -> str:
    """The type of an expression; raises CompileError."""
    walk = _walked(text, shape)
    own = cel_type(shape)
    try:
        checking = {"self": own, "oldSelf": "any"} | walk.chains
        return compile_expression(walk.to_check(), variables=checking).result_type
    except CompileError as error:
        said = str(error)
        for name in sorted(walk.chains, key=len, reverse=True):
            said = said.replace(name, name.replace("_", ".")) if name not in text else said
        raise CompileError(said) from None


def uses_old_self(raw: Object) -> bool:
    try:
        return _parsed(raw["rule"]).uses("oldSelf")
    except CompileError:
        return False


@dataclass(slots=True)
class Rules:
    """The rules at one node and below it."""

    schema: Schema
    rules: list[Rule]
    faults: list[str]
    named: dict[str, Rules]
    values: Rules | None
    items: Rules | None

    @classmethod
    def of(cls, schema: Schema, *, root: bool = False) -> Rules | None:
        """None if there is no rule at all here and below."""
        named = {name: found for name, child in schema.properties.items() if (found := cls.of(child))}
        values = cls.of(schema.values) if schema.values else None
        items = cls.of(schema.items) if schema.items else None
        raw_rules = [raw for raw in schema.constraints.get("x-kubernetes-validations") or () if raw["rule"].strip()]
        if not (named or values or items or raw_rules) or not exposed(schema, root=root):
            return None
        rules, faults = [], []
        for raw in raw_rules:
            try:
                rules.append(compile_rule(raw, schema, root=root))
            except CompileError as error:
                faults.append(f"rule compile error: {error}")
        return cls(schema, rules, faults, named, values, items)

    def check(self, value: Any, old: Any, schema: Schema, *, path: str = "") -> list[FieldError]:
        """What the rules say of an object, beside its old self if this is an update."""
        before = Before(value, old, schema) if old is not None else None
        return list(self._check(value, old, path, before, None))

    def _check(
        self, value: Any, old: Any, path: str, before: Before | None, nearest: Before | None
    ) -> Iterator[FieldError]:
        if value is None:
            return
        for fault in self.faults:
            yield errors.invalid(path or "<nil>", self.schema.type, fault)
        if self.rules:
            yield from self._ask(value, old, path, before if before is not None else nearest)
        if isinstance(value, dict) and (self.named or self.values):
            yield from self._check_fields(value, old, path, before, nearest)
        elif isinstance(value, list) and self.items:
            yield from self._check_items(value, old, path, before, nearest)

    def _check_fields(
        self, value: Object, old: Any, path: str, before: Before | None, nearest: Before | None
    ) -> Iterator[FieldError]:
        for key, child in value.items():
            below = self.named.get(key) or (self.values if key not in self.schema.properties else None)
            if below is None:
                continue
            known = before.field(key) if before and not (nearest is None and key in ("apiVersion", "kind")) else None
            place = f"{path}[{key}]" if key not in self.named else f"{path}.{key}" if path else key
            former = old.get(key) if isinstance(old, dict) else None
            yield from below._check(child, former, place, known, before or nearest)

    def _check_items(
        self, value: list[Any], old: Any, path: str, before: Before | None, nearest: Before | None
    ) -> Iterator[FieldError]:
        assert self.items is not None
        former = keyed(self.schema, old)
        for index, child in enumerate(value):
            match = former.get(item_key(self.schema, child)) if former else None
            known = before.item(index) if before else None
            yield from self.items._check(child, match, f"{path}[{index}]", known, before or nearest)

    def _ask(self, value: Any, old: Any, path: str, before: Before | None) -> Iterator[FieldError]:
        former = {"oldSelf": old, "old": old} if any(rule.uses_old for rule in self.rules) else {}
        bindings = self.rules[0].program.bound({"self": value, "has_old": old is not None} | former)
        for rule in self.rules:
            if rule.uses_old and old is None and not rule.optional_old:
                continue
            verdict = rule.ask(bindings)
            if verdict is True:
                continue
            if isinstance(verdict, CelError):
                yield errors.invalid(path or "<nil>", self.schema.type, rule.trouble(verdict))
                if verdict.too_costly:
                    return
            elif rule.uses_old or before is None or not before.unchanged:
                yield self._failure(rule, value, path, rule.detail(bindings))

    def _failure(self, rule: Rule, value: Any, path: str, detail: str) -> FieldError:
        dot = "." if path and rule.field and not rule.field.startswith("[") else ""
        place = f"{path}{dot}{rule.field}" or "<nil>"
        match rule.reason:
            case "FieldValueForbidden":
                return errors.forbidden_field(place, detail)
            case "FieldValueRequired":
                return errors.required(place, detail)
            case "FieldValueDuplicate":
                shown = "" if isinstance(value, dict | list) else f": {errors.shown(value)}"
                return FieldError("Duplicate value", place, f"Duplicate value{shown}")
        if self.schema.type in ("object", "array"):
            return FieldError("Invalid value", place, f"Invalid value: {detail}")
        return errors.invalid(place, value, detail)
