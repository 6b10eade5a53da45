"""Which fields of Kubernetes' own kinds are always there, as far as Kubernetes' server is concerned.

It holds those kinds as Go structs. A struct inside a struct is there even when nothing in it is set, and so is any
field whose zero value is written out. Nobody can add or remove such a field, only change what it holds; field
ownership shows this everywhere (`f:spec` never belongs to anybody, `f:volumes` does, `f:containers` does not).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from tidegate.local.schema.definitions import Field, definition, go_type

_ZERO_SCALARS: dict[str, Any] = {"string": "", "bool": False, "bytes": None}
_ABSENT = object()


@cache
def always_present(definition_name: str) -> dict[str, Any]:
    """Of a built-in struct: the fields that are always there, each with its zero value."""
    zeros = {key: _zero(field) for key, field in definition(definition_name).all_fields().items()}
    return {key: zero for key, zero in zeros.items() if zero is not _ABSENT}


def _zero(field: Field) -> Any:
    goes = go_type(field.type)
    if field.omit == "zero":
        return _ABSENT
    match goes.shape:
        case "struct":
            return {}
        case "special":
            return None
        case "scalar" if field.omit == "never":
            return _ZERO_SCALARS.get(goes.name, 0)
        case _ if field.omit == "never":
            return None
        case _:
            return _ABSENT
