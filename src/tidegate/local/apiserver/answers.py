"""Answers: objects as bytes in the shape a client asked for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from tidegate.kube.wire import Object, Resource, Response
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.negotiate import PLAIN, YAML, Shape, not_acceptable_kind, shape_of
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import bad_request

encode = msgspec.json.encode
decode = msgspec.json.Decoder(dict).decode


def respond(call: Call, status: int, body: bytes, shape: Shape = PLAIN) -> Response:
    """Bytes of JSON, turned into what the client wants to see, with the warnings collected on the way."""
    headers = {"content-type": shape.content_type, "cache-control": "no-cache, private"}
    if call.warnings:
        headers["warning"] = warned(call.warnings)
    if shape.media == YAML:
        body = to_yaml(body)
    elif call.pretty:
        body = msgspec.json.format(body, indent=2) + b"\n"
    return Response(status, body, headers)


def answer_object(call: Call, status: int, value: bytes) -> Response:
    """One stored value as the client wants it."""
    shape = shape_of(call.request.headers.get("accept", ""))
    served = call.served
    if not shape.transform:
        return respond(call, status, served.rendered(value), shape)
    obj = decode(value)
    if shape.transform == "Table":
        return respond(call, status, encode(table_of(call, [obj], {"resourceVersion": version_of(obj)}, shape)), shape)
    if shape.transform == "PartialObjectMetadata":
        return respond(call, status, encode(partial(obj, shape)), shape)
    raise not_acceptable_kind(f"you requested {shape.transform}, but the requested object is not a list")


def answer_data(call: Call, status: int, data: Any) -> Response:
    """Something that is not stored: a review, a Scale, a Status."""
    shape = shape_of(call.request.headers.get("accept", ""), transforms=False)
    return respond(call, status, encode(data), Shape(shape.media))


def version_of(obj: Object) -> str:
    return str(obj["metadata"].get("resourceVersion", ""))


def partial(obj: Object, shape: Shape) -> Object:
    kind = {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{shape.version}"}
    return kind | {"metadata": obj["metadata"]}


def table_of(call: Call, objects: Iterable[Object], meta: Object, shape: Shape, *, heading: bool = True) -> Object:
    from tidegate.local.tables import custom_columns, table

    served = call.served
    include = call.query.get("includeObject") or "Metadata"
    if include not in ("None", "Metadata", "Object"):
        raise bad_request(f'unrecognized includeObject value: "{include}"')
    columns = None if served.columns is None else custom_columns(list(served.columns))
    head = {"kind": served.kind, "apiVersion": served.api_version}
    return table(
        Resource(served.group, served.version, served.plural, served.kind, served.namespaced),
        [head | obj for obj in objects] if include == "Object" else objects,
        now=datetime.fromisoformat(call.now),
        include_object=include,  # type: ignore[arg-type]
        columns=columns,
        metadata=meta,
        headers=heading,
        api_version=f"meta.k8s.io/{shape.version}",
    )


def rendered_item(served: Served, value: bytes) -> bytes:
    """A value inside a list: items of built-in kinds do not repeat kind and apiVersion, custom ones do."""
    if served.convert is not None:
        return served.convert(value)
    return served.rendered(value) if served.custom else value


def warned(warnings: Iterable[str]) -> str:
    """Warnings as a header: one line each, in the order they were said."""
    return "\n".join(f'299 - "{_quoted(text)}"' for text in dict.fromkeys(warnings))


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def to_yaml(body: bytes) -> bytes:
    import yaml

    return bytes(yaml.safe_dump(decode(body), sort_keys=True, encoding="utf-8"))
