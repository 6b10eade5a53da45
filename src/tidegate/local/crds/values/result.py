"""What checking a value against a schema found, and how that becomes field errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from tidegate.local import errors
from tidegate.local.errors import FieldError

Sort = Literal["type", "required", "not supported", "too long", "too many", "invalid", "faulty"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: where, in words, and with what value. A "faulty" one belongs to no field of its own."""

    sort: Sort
    path: str
    said: str
    value: Any = ""
    limit: int = 0
    options: tuple[Any, ...] = ()


@dataclass(slots=True)
class Result:
    """Findings, each said once, and how many checks held (which decides what branch of an anyOf is reported)."""

    findings: list[Finding] = field(default_factory=list)
    matches: int = 0

    def add(self, finding: Finding) -> None:
        if all(finding.said != known.said for known in self.findings):
            self.findings.append(finding)

    def merge(self, other: Result) -> Result:
        for finding in other.findings:
            self.add(finding)
        self.matches += other.matches
        return self

    merged = merge

    def count(self) -> Result:
        self.matches += 1
        return self


def invalid_type(path: str, wanted: str, found: str) -> Finding:
    return Finding("type", path, f"{path} in body must be of type {wanted}: {errors.shown(found)}", found)


def faulty(said: str) -> Finding:
    return Finding("faulty", "", said)


def field_errors(result: Result, *, under: str = "") -> list[FieldError]:
    """The findings as an API server answers them; `under` is the field the checked value stands in."""
    return [_field_error(finding, under) for finding in result.findings]


def _field_error(finding: Finding, under: str) -> FieldError:
    name = finding.path.removeprefix(".")
    place = ".".join(part for part in (under, name) if part) or "<nil>"
    match finding.sort:
        case "type":
            return errors.type_invalid(place, finding.value, finding.said)
        case "required":
            return errors.required(place)
        case "not supported":
            words = [option if isinstance(option, str) else errors.shown(option) for option in finding.options]
            listed = ", ".join(errors.shown(word) for word in words)
            said = f"Unsupported value: {shown(finding.value)}: supported values: {listed}"
            return FieldError("Unsupported value", place, said)
        case "too long":
            unit = "byte" if finding.limit == 1 else "bytes"
            return FieldError("Too long", place, f"Too long: may not be more than {finding.limit} {unit}")
        case "too many":
            return too_many(place, finding.value, finding.limit)
        case "faulty":
            return errors.invalid(under or "<nil>", "", finding.said)
        case "invalid":
            said = f"Invalid value: {shown(finding.value)}: {finding.said}"
            return FieldError("Invalid value", place, said)


def shown(value: Any) -> str:
    """A value as Go shows it in messages: numbers and texts plainly, anything else as JSON with its keys in order."""
    if isinstance(value, float):
        return go_number(value)
    if not isinstance(value, dict | list):
        return errors.shown(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def too_many(place: str, actual: int, most: int) -> FieldError:
    items = "item" if most == 1 else "items"
    return FieldError("Too many", place, f"Too many: {actual}: must have at most {most} {items}")


def go_number(number: Any) -> str:
    """A number as Go's %v prints it: with an exponent from a million on."""
    if isinstance(number, int):
        return str(number)
    if number == 0 or 1e-4 <= abs(number) < 1e6:
        return str(int(number)) if number.is_integer() else repr(number)
    shortest = (f"{number:.{precision}e}" for precision in range(17))
    return next((text for text in shortest if float(text) == number), repr(number))
