"""An expression beside the schema of what it speaks of: which fields it names, whether they exist, what they are.

The CEL library checks types but cannot be told the shape of an object. So the tree of an expression is walked with the
schema in hand. That gives three things:

- errors for fields that the schema does not have;
- a text to *check*, in which `self.spec.replicas` is one variable of its own, of the field's type;
- a text to *run*, in which fields have their real names (CEL cannot spell `a-b`, Kubernetes writes `a__dash__b`) and
  values their CEL types (a text of format date-time is a timestamp, a number is a double).

Where the walk cannot know (the result of a function, a value of any shape) nothing is said and nothing is changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tidegate.local.crds.cel.syntax import Node
from tidegate.local.schema.node import Schema

_RESERVED = frozenset(
    {
        "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
        "let", "loop", "package", "namespace", "return", "var", "void", "while",
    }
)  # fmt: skip
_SYMBOLS = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
_NAME = re.compile(r"\s*(?:\w+|`[^`]+`)")
_TEXT = Schema(type="string")
_CONVERTED = {"date-time": "__timestamp", "date": "__timestamp", "duration": "__duration", "byte": "__bytes"}
_FORMATTED = {"date-time": "timestamp", "date": "timestamp", "duration": "duration", "byte": "bytes"}
_SAME = {"string": "string", "integer": "int", "number": "double", "boolean": "bool"}


def escaped(name: str) -> str | None:
    """The name of a field as an expression writes it; None if it cannot."""
    if not name or name[0].isdigit() or not re.fullmatch(r"[\w.\-/]+", name, re.ASCII):
        return None
    if name in _RESERVED:
        return f"__{name}__"
    for word, symbol in _SYMBOLS.items():
        name = name.replace(symbol, f"__{word}__") if symbol != "__" else "__underscores__".join(name.split("__"))
    return name


def exposed(schema: Schema, *, root: bool = False) -> bool:
    """Whether expressions can see a value of this shape at all; what has no declared shape they cannot."""
    if schema.int_or_string:
        return True
    if schema.type == "array":
        return schema.items is not None and exposed(schema.items)
    if schema.type == "object" and schema.values is not None and not schema.properties:
        return (schema.values.type == "" and not schema.values.int_or_string) or exposed(schema.values)
    return bool(schema.type) or root


def with_metadata(schema: Schema) -> Schema:
    """The root of an object: its name and its kind can be seen, whatever the schema says."""
    named = Schema(type="object", properties={"name": _TEXT, "generateName": _TEXT})
    properties = schema.properties | {"apiVersion": _TEXT, "kind": _TEXT, "metadata": named}
    return Schema(type="object", properties=properties, values=schema.values)


def type_of(schema: Schema) -> str:
    """A shape as a type for the checker; objects are of any type there."""
    if schema.int_or_string:
        return "any"
    if schema.type == "array" and schema.items is not None:
        return f"list({type_of(schema.items)})"
    if schema.type == "string":
        return _FORMATTED.get(schema.format, "string")
    return _SAME.get(schema.type, "any")


@dataclass(slots=True)
class Walk:
    """One expression read against a schema."""

    text: str
    problems: list[tuple[int, str]] = field(default_factory=list)
    edits: list[tuple[int, int, str]] = field(default_factory=list)
    """For running: (from, to, in its place)."""
    chains: dict[str, str] = field(default_factory=dict)
    """For checking: variables of one field each, with their types."""
    chain_edits: list[tuple[int, int, str]] = field(default_factory=list)
    respelled: dict[str, str] = field(default_factory=dict)
    """Real names of fields, with the names the expression has for them."""
    roots: tuple[str, ...] = ("self", "oldSelf")
    """Variables whose shape is known."""

    def read(self, node: Node, scope: dict[str, Schema | None]) -> Schema | None:
        """The shape of what `node` gives, if that is known; notes what it finds on the way."""
        match node.sort:
            case "ident":
                shape = scope.get(node.name)
                self._convert(shape, node.position, node.position + len(node.name))
                return shape
            case "select":
                return self._select(node, scope)
            case "call":
                return self._call(node, scope)
            case "loop":
                return self._loop(node, scope)
        for child in node.children:
            self.read(child, scope)
        return None

    def _select(self, node: Node, scope: dict[str, Schema | None]) -> Schema | None:
        assert node.operand is not None
        outer = self.read(node.operand, scope)
        place = node.position
        if node.test:  # has() itself is what the library points at
            node.position = self.text.find(".", self._end(node.operand))
        shape = self._member(outer, node.name, node.position, said_at=place)
        end = self._end(node)
        if shape is not None and end and not node.test:
            self._convert(shape, _start(node), end)
            self._chain(node, shape, end)
        return shape

    def _member(
        self, outer: Schema | None, name: str, place: int, *, width: int = 1, said_at: int | None = None
    ) -> Schema | None:
        """The field `name` of `outer`, named after `width` signs at `place`; one that does not exist is a problem."""
        if outer is None or outer.type != "object" or outer.int_or_string:
            return None
        if outer.values is not None and not outer.properties:
            return outer.values if outer.values.type or outer.values.int_or_string else None
        for own, child in outer.properties.items():
            if name in (escaped(own), own) and exposed(child):
                if own != name and (found := _NAME.match(self.text, place + width)):
                    self.edits.append((place + width, found.end(), f"`{own}`"))
                    self.respelled[own] = name
                return with_metadata(child) if child.embedded else child
        self.problems.append((place if said_at is None else said_at, f"undefined field '{name}'"))
        return None

    def _call(self, node: Node, scope: dict[str, Schema | None]) -> Schema | None:
        target = self.read(node.operand, scope) if node.operand else None
        arguments = [self.read(child, scope) for child in node.children]
        if node.name in ("_[_]", "_[?_]") and arguments and arguments[0] is not None:
            return arguments[0].items or (arguments[0].values if not arguments[0].properties else None)
        if node.name == "_?._" and len(node.children) == 2:
            return self._member(arguments[0], node.children[1].name, node.position, width=2)
        if node.name in ("value", "orValue", "or", "optMap", "optFlatMap"):
            return target if node.name in ("value", "orValue", "or") else None
        if node.name == "validate" and node.operand is not None:
            self._optional(node)
        return None

    def _loop(self, node: Node, scope: dict[str, Schema | None]) -> Schema | None:
        assert node.operand is not None
        span = self.read(node.operand, scope)
        inner = dict(scope)
        for name in node.variables:
            inner[name] = None
        if span is not None and node.variables:
            inner[node.variables[0]] = _embedded_aware(span.items) if span.type == "array" else None
        for child in node.children:
            self.read(child, inner)
        return span if _is_filter(node) else None

    def _end(self, node: Node) -> int:
        """Where an identifier or a select ends; 0 for anything else."""
        if node.sort == "ident":
            return node.position + len(node.name)
        found = _NAME.match(self.text, node.position + 1) if node.sort == "select" and node.position >= 0 else None
        return found.end() if found else 0

    def _convert(self, shape: Schema | None, start: int, end: int) -> None:
        """Lets a text of a format arrive as what the format means."""
        if shape is None or start < 0 or shape.int_or_string:
            return
        wrap = "double" if shape.type == "number" else ""
        if shape.type == "string":
            wrap = _CONVERTED.get(shape.format, "")
        if wrap:
            self.edits += [(start, start, f"{wrap}("), (end, end, ")")]

    def _chain(self, node: Node, shape: Schema, end: int) -> None:
        """`self.a.b`, written without spaces, becomes one variable as long as itself, so that places stay true."""
        start = _start(node)
        said = self.text[start:end] if start >= 0 else ""
        root = said.partition(".")[0]
        if root in self.roots and re.fullmatch(r"\w+(?:\.\w+)+", said, re.ASCII):
            name = said.replace(".", "_")
            self.chains[name] = type_of(shape)
            self.chain_edits = [edit for edit in self.chain_edits if not (start <= edit[0] and edit[1] <= end)]
            self.chain_edits.append((start, end, name))

    def _optional(self, node: Node) -> None:
        """`format.x().validate(y)` gives an optional; a function of ours cannot, so its empty list becomes none."""
        close = _closing(self.text, node.position)
        start = _start(node)
        if close and start >= 0:
            self.edits += [(start, start, "optional.ofNonZeroValue("), (close + 1, close + 1, ")")]

    def to_run(self) -> str:
        return _edited(self.text, self.edits)

    def to_check(self) -> str:
        return _edited(self.text, self.chain_edits)

    def said(self) -> str:
        """The problems as the CEL library would tell them."""
        told = []
        for place, what in self.problems:
            before = self.text[: max(place, 0)]
            line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
            shown = self.text.split("\n")[line]
            told.append(f"ERROR: <input>:{line + 1}:{column + 1}: {what}\n | {shown}\n | {'.' * column}^")
        return "\n".join(told)


def _embedded_aware(shape: Schema | None) -> Schema | None:
    return with_metadata(shape) if shape is not None and shape.embedded else shape


def _start(node: Node) -> int:
    while node.operand is not None and node.sort in ("select", "call"):
        node = node.operand
    return node.position


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis at `opening` closes; 0 if that cannot be told."""
    depth, quote, place = 0, "", opening
    while 0 <= place < len(text):
        letter = text[place]
        if quote:
            if letter == "\\":
                place += 1
            elif letter == quote:
                quote = ""
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0:
                return place
        place += 1
    return 0


def _is_filter(node: Node) -> bool:
    """Whether a loop is the macro filter(), whose result has the shape of its range."""
    step = node.children[2] if len(node.children) == 4 else None
    if step is None or step.name != "_?_:_" or step.children[1].name != "_+_":
        return False
    added = step.children[1].children[-1]
    return added.sort == "list" and [item.name for item in added.children] == [node.variables[0]]


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Applies edits from the end on; of insertions at one place the later found stands further out."""
    opening = [edit for edit in edits if edit[2].endswith("(") or edit[1] > edit[0]]
    closing = [edit for edit in edits if edit not in opening]
    for start, end, new in sorted(opening + closing, key=lambda edit: (edit[0], edit[1]), reverse=True):
        text = text[:start] + new + text[end:]
    return text
