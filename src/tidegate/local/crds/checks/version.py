"""What one version of a definition says, beside its schema: deprecation, subresources, columns, selectable fields."""

from __future__ import annotations

from collections.abc import Iterator

from tidegate.kube.wire import Object
from tidegate.local.crds.checks.schema import schema_errors
from tidegate.local.crds.compile import compiled
from tidegate.local.crds.paths import FieldPathError, field_path
from tidegate.local.crds.values.result import too_many
from tidegate.local.errors import FieldError, duplicate, invalid, required

_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE = 8


def deprecation_errors(version: Object, place: str) -> Iterator[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return
    place = f"{place}.deprecationWarning"
    if not version.get("deprecated"):
        yield invalid(place, warning, "can only be set for deprecated versions")
        return
    if len(warning.encode()) > 256:
        yield invalid(place, warning, "must be <= 256 characters long")
    if not warning:
        yield invalid(place, warning, "must not be an empty string")
    for index, letter in enumerate(warning):
        if not letter.isprintable():
            said = "must only contain printable UTF-8 characters; non-printable character found at index"
            yield invalid(place, warning, f"{said} {len(warning[:index].encode())}")
            return


def version_errors(
    said: Object, whole: Object, place: str, schema_place: str, has_status: bool
) -> Iterator[FieldError]:
    """The four things a version says, or all versions together; `whole` has the schema for selectable fields."""
    raw = (said.get("schema") or {}).get("openAPIV3Schema")
    if raw:
        yield from schema_errors(raw, f"{schema_place}.openAPIV3Schema", status=has_status)
    yield from _scale(said.get("subresources") or {}, f"{place}.subresources")
    for index, column in enumerate(said.get("additionalPrinterColumns") or ()):
        yield from _column(column, f"{place}.additionalPrinterColumns[{index}]")
    if fields := said.get("selectableFields"):
        schema = (whole.get("schema") or {}).get("openAPIV3Schema")
        if not schema:
            top = "may only be set when validations.schema is included"
            own = "may only be set when `version.schema.openAPIV3Schema` is not included"
            yield invalid(f"{place}.selectableFields", "", top if place == "spec" else own)
        else:
            yield from _selectable(fields, schema, f"{place}.selectableFields")


def _scale(subresources: Object, place: str) -> Iterator[FieldError]:
    scale = subresources.get("scale")
    if scale is None:
        return
    for key, under in (("specReplicasPath", ".spec"), ("statusReplicasPath", ".status")):
        path = scale.get(key) or ""
        if not path:
            yield required(f"{place}.scale.{key}")
        elif wrong := list(_simple_path(path, f"{place}.scale.{key}")):
            yield from wrong
        elif not path.startswith(f"{under}."):
            yield invalid(f"{place}.scale.{key}", path, f"should be a json path under {under}")
    if path := scale.get("labelSelectorPath"):
        wrong = list(_simple_path(path, f"{place}.scale.labelSelectorPath"))
        if not wrong and not path.startswith((".spec.", ".status.")):
            said = "should be a json path under either .spec or .status"
            wrong = [invalid(f"{place}.scale.labelSelectorPath", path, said)]
        yield from wrong


def _simple_path(path: str, place: str) -> Iterator[FieldError]:
    if not path.startswith("."):
        yield invalid(place, path, "must be a simple json path starting with .")


def _column(column: Object, place: str) -> Iterator[FieldError]:
    if not column.get("name"):
        yield required(f"{place}.name")
    kinds = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column.get("type"):
        yield required(f"{place}.type", kinds)
    elif column["type"] not in _COLUMN_TYPES:
        yield invalid(f"{place}.type", column["type"], kinds)
    if column.get("format") and column["format"] not in _COLUMN_FORMATS:
        yield invalid(f"{place}.format", column["format"], f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not column.get("jsonPath"):
        yield required(f"{place}.JSONPath")
    else:
        yield from _simple_path(column["jsonPath"], f"{place}.JSONPath")


def _selectable(fields: list[Object], raw: Object, place: str) -> Iterator[FieldError]:
    schema, seen = compiled(raw), set()
    for index, field in enumerate(fields):
        path, where = field.get("jsonPath") or "", f"{place}[{index}].jsonPath"
        if not path:
            yield required(where)
            continue
        try:
            shown, shape = field_path(path, schema, brackets=False)
        except FieldPathError as error:
            yield invalid(where, path, f"is an invalid path: {error}")
            continue
        if shown.split(".")[0] == "metadata":
            yield invalid(where, path, "must not point to fields in metadata")
        if shape.type not in ("string", "boolean", "integer"):
            said = "must point to a field of type string, boolean or integer. "
            said += "Enum string fields and strings with formats are allowed."
            yield invalid(where, path, said)
        if shown in seen:
            yield duplicate(where, path)
        seen.add(shown)
    if len(seen) > _MOST_SELECTABLE:
        yield too_many(place, len(seen), _MOST_SELECTABLE)
