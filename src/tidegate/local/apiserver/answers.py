"""Answers: objects as bytes in the shape a client asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.negotiate import PLAIN, YAML, Shape, shape_of
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import ApiError

encode = msgspec.json.encode
decode = msgspec.json.Decoder(dict).decode


def respond(call: Call, status: int, body: bytes, shape: Shape = PLAIN) -> Response:
    """Bytes of JSON, turned into what the client wants to see, with the warnings collected on the way."""
    headers = {"content-type": shape.content_type, "cache-control": "no-cache, private"}
    if call.warnings:
        said = dict.fromkeys(call.warnings)
        headers["warning"] = ", ".join(f'299 - "{_quoted(text)}"' for text in said)
    if shape.media == YAML:
        body = _yaml(body)
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
    raise ApiError(406, "NotAcceptable", f"you requested {shape.transform}, but the requested object is not a list", {})


def answer_data(call: Call, status: int, data: Any) -> Response:
    """Something that is not stored: a review, a Scale, a Status."""
    shape = shape_of(call.request.headers.get("accept", ""))
    return respond(call, status, encode(data), Shape(shape.media))


def version_of(obj: Object) -> str:
    return str(obj["metadata"].get("resourceVersion", ""))


def partial(obj: Object, shape: Shape) -> Object:
    kind = {"kind": "PartialObjectMetadata", "apiVersion": f"meta.k8s.io/{shape.version}"}
    return kind | {"metadata": obj["metadata"]}


def table_of(call: Call, objects: Iterable[Object], meta: Object, shape: Shape, *, heading: bool = True) -> Object:
    from tidegate.local.tables import table

    include = call.query.get("includeObject", "Metadata")
    made = table(call.served, list(objects), now=call.now, include_object=include)
    made |= {"apiVersion": f"meta.k8s.io/{shape.version}", "metadata": meta}
    if not heading:
        made["columnDefinitions"] = []
    return made


def rendered_item(served: Served, value: bytes) -> bytes:
    """A value inside a list: items of built-in kinds do not repeat kind and apiVersion, custom ones do."""
    return served.rendered(value) if served.custom else value


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def _yaml(body: bytes) -> bytes:
    import yaml

    return bytes(yaml.safe_dump(decode(body), sort_keys=True, encoding="utf-8"))
