"""Request bodies: from bytes of any accepted format to an object of the kind the endpoint serves."""

from __future__ import annotations

import msgspec

from tidegate.kube.wire import Object, Request
from tidegate.local.apiserver.answers import decode, encode
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.front import MOST_BODY
from tidegate.local.apiserver.negotiate import JSON, MEDIA_TYPES, PROTOBUF, YAML
from tidegate.local.apiserver.served import Decoded, Served
from tidegate.local.errors import ApiError, bad_request, invalid, invalid_object, too_large, unsupported_media_type
from tidegate.local.schema.bodies import UnreadableError, parse_json
from tidegate.local.schema.decode import undecodable, unrecognized
from tidegate.local.schema.node import Schema


class _Type(msgspec.Struct, rename={"api_version": "apiVersion"}):
    kind: str = ""
    api_version: str = ""


_type_of = msgspec.json.Decoder(_Type).decode
UNTYPED = _Type()
_NEITHER = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def whole_body(request: Request) -> bytes:
    if "x-too-large" in request.headers:
        raise too_large(f"Request entity too large: limit is {MOST_BODY}")
    return request.body


def raw_body(request: Request, schema: Schema | None = None) -> bytes:
    """The body as JSON bytes, or as YAML if that is what it is; protobuf needs the `schema` of what it says."""
    media = media_type(request)
    if media in ("", JSON, YAML):
        return whole_body(request)
    if media == PROTOBUF and schema is not None:
        from tidegate.local.schema.protobuf import decode_protobuf

        return encode(decode_protobuf(whole_body(request), schema).obj)
    raise unknown_format(MEDIA_TYPES)


def unknown_format(accepted: tuple[str, ...]) -> ApiError:
    listed = ", ".join(accepted)
    message = f"the body of the request was in an unknown format - accepted media types include: {listed}"
    return unsupported_media_type(message)


def decoded_body(call: Call) -> Object:
    """The object in the body, of the endpoint's kind, with complaints dealt with as `fieldValidation` says."""
    served, yaml = call.served, media_type(call.request) == YAML
    body = raw_body(call.request, None if served.custom else served.schema)
    told = type_of(body, served.kind, yaml=yaml)
    if served.custom and told.kind and told.api_version != served.api_version and not yaml:
        warn_of_all(call, decode(body))
    check_type(told, body, served)
    if told is UNTYPED:
        body = b"{}"
    obj = checked(call, served.decode(body, yaml))
    if b"managedFields" in body and not yaml and not (obj.get("metadata") or {}).get("managedFields"):
        keep_reset(obj, decode(body))
    obj["kind"], obj["apiVersion"] = served.kind, served.api_version
    return obj


def warn_of_all(call: Call, obj: Object) -> None:
    """Of a version that is not served no field is known."""
    if call.validation == "Warn":
        if str(obj.get("apiVersion")).rpartition("/")[0] != call.served.group:
            return
        own = ("kind", "apiVersion", "metadata")
        call.warnings += [f'unknown field "{key}"' for key in obj if key not in own]


def keep_reset(obj: Object, said: Object) -> None:
    """An empty list of managed fields is the wish to forget them all, which the kind itself does not tell from none."""
    metadata = said.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") == []:
        obj["metadata"]["managedFields"] = []


def checked(call: Call, decoded: Decoded) -> Object:
    """Strict refuses what the kind does not have, Warn tells, Ignore drops."""
    if decoded.complaints and (validation := call.validation) != "Ignore":
        if validation == "Strict":
            raise undecodable(call.served.kind, call.served.version, strictly(decoded.complaints))
        call.warnings += decoded.complaints
    return decoded.obj


def strictly(complaints: tuple[str, ...]) -> str:
    return f"strict decoding error: {', '.join(complaints)}"


def type_of(body: bytes, kind: str, *, yaml: bool = False) -> _Type:
    """What a body says it is; 400 if it cannot be anything."""
    try:
        if yaml:
            return _type_in_yaml(body)
        return _type_of(body)
    except (msgspec.DecodeError, UnreadableError):
        pass
    try:
        value = parse_json(body)
    except UnreadableError as error:
        raise unrecognized(kind, f"couldn't get version/kind; json parse error: {error}", body) from None
    if value is None:
        return UNTYPED
    if isinstance(value, dict):
        wrong = next(key for key in ("apiVersion", "kind") if not isinstance(value.get(key), str | None))
        sort = _go_sort(value[wrong])
        why = f"json: cannot unmarshal {sort} into Go struct field .{wrong} of type string"
    else:
        why = f"json: cannot unmarshal {_go_sort(value)} into Go value of type {_NEITHER}"
    raise unrecognized(kind, f"couldn't get version/kind; json parse error: {why}", body)


def _type_in_yaml(body: bytes) -> _Type:
    from tidegate.local.schema.yaml_bodies import parse_yaml

    value, _ = parse_yaml(body)
    return UNTYPED if value is None else msgspec.convert(value, _Type)


def _go_sort(value: object) -> str:
    names = {bool: "bool", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


def check_type(told: _Type, body: bytes, served: Served) -> None:
    """Refuses a body of another kind. Built-in kinds may leave out what the endpoint implies."""
    kind, api_version = told.kind, told.api_version
    if served.custom:
        _check_custom_type(kind, api_version, body, served)
    elif kind not in ("", served.kind) or api_version not in ("", served.api_version):
        group, _, version = api_version.rpartition("/")
        if (kind == served.kind or group != served.group) and api_version not in ("", served.api_version):
            raise _another_version(api_version, served)
        raise bad_request(f'{kind} in version "{version or served.version}" cannot be handled as a {served.kind}')


def _check_custom_type(kind: str, api_version: str, body: bytes, served: Served) -> None:
    if not kind:
        shown = body.decode(errors="replace")
        raise unrecognized(served.kind, f"Object 'Kind' is missing in '{shown}'", body)
    if api_version != served.api_version:
        raise _another_version(api_version, served)
    if kind != served.kind:
        name = (decode(body).get("metadata") or {}).get("name") or ""
        error = invalid("kind", kind, f"must be {served.kind}")
        raise invalid_object(served.group, kind, name, [error])


def _another_version(api_version: str, served: Served) -> ApiError:
    message = f"the API version in the data ({api_version}) does not match the expected API version"
    return bad_request(f"{message} ({served.api_version})")
