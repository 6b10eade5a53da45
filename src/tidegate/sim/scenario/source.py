"""YAML with the line of every value, so that a fault can be shown where it is.

Values are those of Kubernetes manifests: no dates, and numbers with a point stay as they were written, since amounts
are exact here. Aliases are followed within bounds: a short text can unfold to more than any machine holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate.model.problems import Path as Field
from tidegate.model.problems import Problem

_MOST_VALUES = 200_000
_DEEPEST = 100
_AS_WRITTEN = {"tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}
_PLAIN = {
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:binary",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong in a file, for people: `FILE:LINE: field: what is wrong; what to do`."""

    file: str
    line: int
    problem: Problem

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.problem}"


class MalformedError(Exception):
    """A file that cannot be taken, with all that is wrong in it."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("\n".join(map(str, faults)))


class Document:
    """One YAML document: its value, and where each part of it stands."""

    def __init__(self, file: str, node: Any) -> None:
        self.file = file
        self._lines: dict[Field, int] = {}
        self._values = 0
        self.value = self._value(node, (), 0)

    def fault(self, field: Field, message: str) -> Fault:
        """A fault of a field; of one that is missing, where it would be."""
        there = field
        while there and there not in self._lines:
            there = there[:-1]
        return Fault(self.file, self._lines[there], Problem(field, message))

    def refuse(self, field: Field, message: str) -> MalformedError:
        return MalformedError(self.fault(field, message))

    def _value(self, node: Any, field: Field, depth: int) -> Any:
        import yaml

        self._lines.setdefault(field, node.start_mark.line + 1)
        self._values += 1
        if self._values > _MOST_VALUES or depth > _DEEPEST:
            raise self.refuse(field[:4], "unfolds to too much or is too deep; write it with fewer aliases or levels")
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item, (*field, index), depth + 1) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, field, depth)
        return self._scalar(node, field)

    def _mapping(self, node: Any, field: Field, depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        merged: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if type(key_node).__name__ != "ScalarNode":
                raise self.refuse(field, "has a name that is not plain text; write each name out as text")
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged = self._merged(value_node, field, depth) | merged
                continue
            key = self._scalar(key_node, field)
            inner = (*field, str(key))
            if key in found:
                self._lines[inner] = key_node.start_mark.line + 1
                raise self.refuse(inner, "is there twice; remove one")
            self._lines[inner] = key_node.start_mark.line + 1
            found[key] = self._value(value_node, inner, depth + 1)
        return merged | found

    def _merged(self, node: Any, field: Field, depth: int) -> dict[Any, Any]:
        """What `<<: *base` or `<<: [*base, *other]` brings in; the first to name something counts."""
        found: dict[Any, Any] = {}
        for one in node.value if type(node).__name__ == "SequenceNode" else [node]:
            value = self._value(one, field, depth + 1)
            if not isinstance(value, dict):
                raise self.refuse(field, "merges something that is not a mapping; write << with an alias of a mapping")
            found = value | found
        return found

    def _scalar(self, node: Any, field: Field) -> Any:
        import yaml

        if node.tag in _AS_WRITTEN:
            return node.value
        if node.tag not in _PLAIN:
            raise self.refuse(field, f"has the tag {node.tag}, which means nothing here; remove the tag")
        try:
            return yaml.constructor.SafeConstructor().construct_object(node)
        except (yaml.YAMLError, ValueError):
            raise self.refuse(field, f'"{node.value}" cannot be read; write it in quotes') from None


def documents(path: Path) -> Iterator[Document]:
    """The documents of a file; empty ones are passed over."""
    yield from documents_in(_text(path, str(path)), str(path))


def documents_in(text: str, file: str) -> Iterator[Document]:
    """The documents of a text that stands in a file of this name."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for node in yaml.compose_all(text, Loader=loader):
            if node is not None and not (type(node).__name__ == "ScalarNode" and node.value == ""):
                yield Document(file, node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise MalformedError(Fault(file, line, Problem((), f"is not YAML: {error.problem}; correct it"))) from None
    except yaml.YAMLError as error:
        what = str(error).splitlines()[0]
        raise MalformedError(Fault(file, 1, Problem((), f"is not YAML: {what}; correct it"))) from None
    except RecursionError:
        raise MalformedError(Fault(file, 1, Problem((), "is too deep; write it with fewer levels"))) from None


def _text(path: Path, file: str) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise MalformedError(Fault(file, line, Problem((), "is not UTF-8 text; save it as such"))) from None
    except OSError as error:
        what = (error.strerror or "cannot be read").lower()
        raise MalformedError(Fault(file, 1, Problem((), f"cannot be read ({what}); check its name"))) from None
