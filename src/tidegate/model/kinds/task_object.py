"""TaskObject: a value that Tasks take and give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType, field

from tidegate.model.kinds.shape import AGE, OPEN, SPELLING, Column, Definition, Kind, Rule, Shape

SHA256 = "^[0-9a-f]{64}$"
SPELLING[SHA256] = "a SHA-256; write its 64 hexadecimal digits in lower case"

MOST_INLINE_BYTES = 256 * 1024
"""Of a blob written into the object itself, before base64; the API server's store is no place for more."""


class Blob(Shape, frozen=True, kw_only=True):
    """Bytes in an encoding of their own: inline when small, else by reference."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "has(self.bytes) != has(self.ref)",
            "a blob has either bytes or ref; write small content as bytes and point to large content with ref",
            lambda self: (self.content is None) != (self.ref is None),
        ),
        Rule(
            "self == oldSelf",
            "a TaskObject does not change once it is written; create another one",
        ),
    )

    encoding: Annotated[str, Meta(min_length=1, max_length=63)]
    """How the bytes are to be read, e.g. `pickle5`."""
    content: Annotated[bytes, Meta(max_length=MOST_INLINE_BYTES)] | None = field(name="bytes", default=None)
    """The content, in base64."""
    ref: Annotated[str, Meta(min_length=1, max_length=2048)] | None = None
    """Where the content is, for what is too large to be written here."""
    size: Annotated[int, Meta(ge=0)] | None = None
    """How many bytes the content has."""
    sha256: Annotated[str, Meta(pattern=SHA256, max_length=64)] | None = None
    """The content's SHA-256 in hexadecimal digits, by which a reader knows that it got all of it."""


class TaskObject(Kind, frozen=True, kw_only=True):
    """A value, written once: what a Task takes or what it gives. It has exactly one of `data`, `value` and `blob`."""

    definition: ClassVar[Definition] = Definition(
        plural="taskobjects",
        short=("tobj",),
        columns=(Column("Encoding", ".blob.encoding"), Column("Size", ".blob.size", "integer"), AGE),
        exactly_one=("data", "value", "blob"),
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        # `value` has no type, so rules see it only through `dyn`, and there a null looks absent: that one of the three
        # is there at all is left to `exactly_one`.
        Rule(
            "[has(self.data), has(dyn(self).value), has(self.blob)].filter(given, given).size() <= 1",
            "a TaskObject has exactly one of data, value and blob; remove the others",
            lambda self: [self.data is None, self.value is UNSET, self.blob is None].count(False) == 1,
        ),
        Rule(
            "has(self.data) == has(oldSelf.data) && has(self.blob) == has(oldSelf.blob)"
            " && has(dyn(self).value) == has(dyn(oldSelf).value)"
            " && (!has(dyn(self).value) || dyn(self).value == dyn(oldSelf).value)",
            "a TaskObject does not change once it is written; create another one",
        ),
    )

    data: (
        Annotated[
            Mapping[str, str],
            Meta(
                max_length=1024,
                extra_json_schema={
                    "x-kubernetes-validations": [
                        {
                            "rule": "self == oldSelf",
                            "message": "a TaskObject does not change once it is written; create another one",
                        }
                    ]
                },
            ),
        ]
        | None
    ) = None
    """Named strings."""
    value: Annotated[Any, Meta(extra_json_schema={**OPEN, "nullable": True})] | UnsetType = UNSET
    """Any JSON."""
    blob: Blob | None = None
    """Bytes in an encoding of their own."""
