"""Request bodies: from bytes of any accepted format to an object of the kind the endpoint serves."""

from __future__ import annotations

import msgspec

from tidegate.kube.wire import Object, Request
from tidegate.local.apiserver.answers import encode
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.front import MOST_BODY
from tidegate.local.apiserver.negotiate import PROTOBUF
from tidegate.local.apiserver.served import Decoded, Served
from tidegate.local.errors import bad_request, too_large, unsupported_media_type
from tidegate.local.schema.node import Schema

_ACCEPTED = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"


class _Type(msgspec.Struct, rename={"api_version": "apiVersion"}):
    kind: str = ""
    api_version: str = ""


_type_of = msgspec.json.Decoder(_Type).decode


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def raw_body(request: Request, schema: Schema | None = None) -> bytes:
    """The body as JSON bytes, whatever format it came in; protobuf needs the `schema` of what it is."""
    if "x-too-large" in request.headers:
        raise too_large(f"Request entity too large: limit is {MOST_BODY}")
    media = media_type(request)
    if media in ("", "application/json"):
        return request.body
    if media == "application/yaml":
        return yaml_to_json(request.body)
    if media == PROTOBUF and schema is not None:
        from tidegate.local.schema.protobuf import decode_protobuf

        return encode(decode_protobuf(request.body, schema).obj)
    known = f"the body of the request was in an unknown format - accepted media types include: {_ACCEPTED}"
    raise unsupported_media_type(known)


def yaml_to_json(body: bytes) -> bytes:
    from tidegate.local.schema.bodies import UnreadableError
    from tidegate.local.schema.yaml_bodies import parse_yaml

    try:
        value, _ = parse_yaml(body)
    except UnreadableError as error:
        raise bad_request(f"error decoding YAML: {error}") from None
    return encode(value)


def decoded_body(call: Call) -> Object:
    """The object in the body, of the endpoint's kind, with complaints dealt with as `fieldValidation` says."""
    served = call.served
    body = raw_body(call.request, None if served.custom else served.schema)
    check_type(body, served)
    return {"kind": served.kind, "apiVersion": served.api_version} | checked(call, served.decode(body))


def checked(call: Call, decoded: Decoded) -> Object:
    """Strict refuses what the kind does not have, Warn tells, Ignore drops."""
    if decoded.complaints and (validation := call.validation) != "Ignore":
        if validation == "Strict":
            raise bad_request(f"strict decoding error: {', '.join(decoded.complaints)}")
        call.warnings += decoded.complaints
    return decoded.obj


def check_type(body: bytes, served: Served) -> None:
    """Refuses a body of another kind. Built-in kinds may leave out what the endpoint implies."""
    try:
        told = _type_of(body)
    except msgspec.ValidationError:
        raise bad_request(f"the object provided is unrecognized (must be of type {served.kind})") from None
    except msgspec.DecodeError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    if served.custom and not told.kind:
        raise bad_request("Object 'Kind' is missing in the body")
    if served.custom and not told.api_version:
        raise bad_request("Object 'apiVersion' is missing in the body")
    same = told.kind in ("", served.kind) and told.api_version in ("", served.api_version)
    if not same:
        group, _, version = told.api_version.rpartition("/")
        shown = f'{told.kind} in version "{version or served.version}"'
        if served.custom or told.kind == served.kind or group != served.group:
            message = f"the API version in the data ({told.api_version}) does not match the expected API version"
            if told.api_version in ("", served.api_version):
                message = f"{shown} cannot be handled as a {served.kind}"
            else:
                message = f"{message} ({served.api_version})"
            raise bad_request(message)
        raise bad_request(f"{shown} cannot be handled as a {served.kind}")
