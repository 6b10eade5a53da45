"""Custom resources: a CRD's versions as `Served`, ruled by their schemas."""

from __future__ import annotations

from functools import partial

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.apiserver.fields import META, Getter, at
from tidegate.local.apiserver.served import Decoded, Served, Subresource
from tidegate.local.crds.objects import CustomResource
from tidegate.local.crds.scale import Scale
from tidegate.local.errors import FieldError, bad_request
from tidegate.local.kinds.strategy import Strategy

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_SUB_VERBS = ("get", "patch", "update")


class CustomStrategy(Strategy):
    """The rules of a custom kind are its schema's."""

    unconditional_update = False

    def __init__(self, resource: CustomResource, *, has_status: bool) -> None:
        self._resource = resource
        self.has_status = has_status

    def default(self, obj: Object) -> None:
        self._resource.default(obj)

    def validate_create(self, obj: Object) -> list[FieldError]:
        return self._resource.validate_create(obj)

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return self._resource.validate_update(obj, old)

    def validate_status_update(self, obj: Object, old: Object) -> list[FieldError]:
        return self._resource.validate_status(obj, old)


def served_versions(definition: Object) -> list[Served]:
    """What a CRD asks to be served, one for each version that is on."""
    spec = definition["spec"]
    return [_served(definition, version) for version in spec["versions"] if version.get("served")]


def _served(definition: Object, version: Object) -> Served:
    spec = definition["spec"]
    names = definition.get("status", {}).get("acceptedNames") or spec["names"]
    group, subresources = spec["group"], version.get("subresources") or {}
    scale = Scale.parse(subresources["scale"]) if "scale" in subresources else None
    raw = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
    api_version = f"{group}/{version['name']}"
    preserve = bool(spec.get("preserveUnknownFields"))
    resource = CustomResource(api_version, names["kind"], raw, scale, preserve)
    has_status = "status" in subresources
    return Served(
        group, version["name"], names["plural"], names.get("singular") or names["kind"].lower(), names["kind"],
        spec["scope"] == "Namespaced", _VERBS, CustomStrategy(resource, has_status=has_status),
        lambda: resource.schema, partial(_decode, resource),
        list_kind=names.get("listKind") or "", short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()), subresources=_subresources(subresources, group, version, names),
        selectable=_selectable(spec, version), custom=True, columns=tuple(version.get("additionalPrinterColumns") or ()),
        warning=_deprecation(api_version, names["kind"], version), scale=scale,
    )  # fmt: skip


def _subresources(given: Object, group: str, version: Object, names: Object) -> dict[str, Subresource]:
    found = {}
    if "status" in given:
        found["status"] = Subresource("status", names["kind"], _SUB_VERBS, group, version["name"])
    if "scale" in given:
        found["scale"] = Subresource("scale", "Scale", _SUB_VERBS, "autoscaling", "v1")
    return found


def _selectable(spec: Object, version: Object) -> dict[str, Getter]:
    base = META if spec["scope"] == "Namespaced" else {"metadata.name": META["metadata.name"]}
    paths = [field["jsonPath"].removeprefix(".") for field in version.get("selectableFields") or []]
    return base | {path: at(path) for path in paths}


def _deprecation(api_version: str, kind: str, version: Object) -> str:
    if not version.get("deprecated"):
        return ""
    return str(version.get("deprecationWarning") or f"{api_version} {kind} is deprecated")


def _decode(resource: CustomResource, body: bytes) -> Decoded:
    try:
        decoded = resource.decode(body)
    except msgspec.DecodeError as error:
        raise bad_request(f"couldn't get version/kind; json parse error: {error}") from None
    except ValueError as error:
        raise bad_request(str(error)) from None
    return Decoded(decoded.obj, tuple(decoded.complaints))
