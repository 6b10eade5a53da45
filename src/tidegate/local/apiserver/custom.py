"""Custom resources: a CRD's versions as `Served`, ruled by their schemas; and the rules of CRDs themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import msgspec

from tidegate.kube.wire import Object
from tidegate.local.apiserver.fields import META, Getter, at
from tidegate.local.apiserver.served import Decoded, Served, Subresource
from tidegate.local.crds import checks, definition
from tidegate.local.crds.definition import Definition, Version
from tidegate.local.crds.objects import CustomResource
from tidegate.local.errors import FieldError
from tidegate.local.kinds.strategy import Strategy
from tidegate.local.schema.decode import undecodable

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_KNOWN = ("orphan", "foregroundDeletion")
_SUB_VERBS = ("get", "patch", "update")


class DefinitionStrategy(Strategy):
    """The rules of CRDs. A deleted one stays until its objects are gone."""

    has_status = True
    unconditional_update = False

    def default(self, obj: Object) -> None:
        definition.default_crd(obj)

    def prepare_create(self, obj: Object) -> None:
        definition.prepare_create(obj)

    def prepare_update(self, obj: Object, old: Object) -> None:
        definition.prepare_update(obj, old)

    def prepare_delete(self, obj: Object) -> None:
        metadata = obj["metadata"]
        metadata["finalizers"] = [*(metadata.get("finalizers") or []), CLEANUP]
        conditions = obj.setdefault("status", {}).get("conditions") or []
        words = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
        ending = {"type": "Terminating", "status": "True", "reason": "InstanceDeletionPending", "message": words}
        ending["lastTransitionTime"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        obj["status"]["conditions"] = [each for each in conditions if each["type"] != "Terminating"] + [ending]

    def validate_create(self, obj: Object) -> list[FieldError]:
        return checks.validate_crd_create(obj)

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return checks.validate_crd_update(obj, old)

    def validate_status_update(self, obj: Object, old: Object) -> list[FieldError]:
        return checks.validate_crd_status(obj)

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        return checks.crd_warnings(obj)


class CustomStrategy(Strategy):
    """The rules of a custom kind are its schema's."""

    unconditional_update = False

    def __init__(self, resource: CustomResource, *, has_status: bool) -> None:
        self._resource = resource
        self.has_status = has_status

    def default(self, obj: Object) -> None:
        self._resource.default(obj)

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        advice = "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
        held = obj["metadata"].get("finalizers") or ()
        return [f'metadata.finalizers: "{name}": {advice}' for name in held if "/" not in name and name not in _KNOWN]

    def validate_create(self, obj: Object) -> list[FieldError]:
        return self._resource.validate_create(obj)

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return self._resource.validate_update(obj, old)

    def validate_status_update(self, obj: Object, old: Object) -> list[FieldError]:
        return self._resource.validate_status(obj, old)


def served_versions(crd: Object) -> list[Served]:
    """What a CRD asks to be served, one for each version that is on."""
    parsed = Definition.parse(crd)
    revision = crd["metadata"]["resourceVersion"]
    return [_served(parsed, version, revision) for version in parsed.versions.values() if version.served]


def _served(parsed: Definition, version: Version, revision: str) -> Served:
    resource = parsed.resource(version.name)
    return Served(
        parsed.group,
        version.name,
        parsed.plural,
        parsed.singular,
        parsed.kind,
        parsed.namespaced,
        _VERBS,
        CustomStrategy(resource, has_status=version.has_status),
        lambda: resource.schema,
        partial(_decode, resource),
        partial(_decode_value, resource),
        list_kind=parsed.list_kind,
        short_names=parsed.short_names,
        categories=parsed.categories,
        subresources=_subresources(parsed, version),
        selectable=_selectable(parsed, version),
        custom=True,
        columns=version.columns,
        raw_schema=version.raw or None,
        warning=version.warning,
        scale=version.scale,
        refresh=partial(_refreshed, resource) if resource.has_defaults else None,
        since=int(revision),
    )


def _subresources(parsed: Definition, version: Version) -> dict[str, Subresource]:
    found = {}
    if version.has_status:
        found["status"] = Subresource("status", parsed.kind, _SUB_VERBS, parsed.group, version.name)
    if version.scale:
        found["scale"] = Subresource("scale", "Scale", _SUB_VERBS, "autoscaling", "v1")
    return found


def _selectable(parsed: Definition, version: Version) -> dict[str, Getter]:
    base = META if parsed.namespaced else {"metadata.name": META["metadata.name"]}
    paths = [path.removeprefix(".") for path in version.selectable]
    return base | {path: at(path) for path in paths}


def _refreshed(resource: CustomResource, value: bytes) -> bytes:
    obj = msgspec.json.decode(value)
    resource.default(obj)
    return msgspec.json.encode(obj)


def _decode(resource: CustomResource, body: bytes, yaml: bool = False) -> Decoded:
    repeats: list[str] = []
    try:
        if yaml:
            from tidegate.local.schema.yaml_bodies import parse_yaml

            value, repeats = parse_yaml(body)
            body = msgspec.json.encode(value)
        decoded = resource.decode(body)
    except ValueError as error:  # Not JSON at all, or metadata that cannot be read.
        version = resource.api_version.rpartition("/")[2]
        raise undecodable(resource.kind, version, str(error)) from None
    said = ["\n  ".join(["yaml: unmarshal errors:", *repeats])] if repeats else []
    return Decoded(decoded.obj, (*said, *decoded.complaints))


def _decode_value(resource: CustomResource, value: Object) -> Decoded:
    try:
        return Decoded(value, tuple(resource.admit(value)))
    except ValueError as error:
        raise undecodable(resource.kind, resource.api_version.rpartition("/")[2], str(error)) from None
