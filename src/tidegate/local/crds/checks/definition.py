"""What is wrong with a CustomResourceDefinition, in Kubernetes' words.

Kubernetes judges a form of its own in which what all versions share stands once, at the top of the spec; its messages
say `spec.validation.openAPIV3Schema` where people wrote `spec.versions[0].schema.openAPIV3Schema`. So do these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.crds.checks.conversion import approval_errors, conversion_errors, one_of
from tidegate.local.crds.checks.version import deprecation_errors, version_errors
from tidegate.local.crds.definition import condition
from tidegate.local.crds.values import formats
from tidegate.local.errors import FieldError, invalid, required
from tidegate.local.kinds import names

_SHARED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
_IMMUTABLE = "field is immutable"


def validate_crd_create(crd: Object) -> list[FieldError]:
    """What is wrong with a new definition, the rules of every object's metadata aside."""
    spec = crd["spec"]
    wanted = f"{spec.get('names', {}).get('plural', '')}.{spec.get('group', '')}"
    found: list[FieldError] = []
    if (name := crd["metadata"].get("name") or "") != wanted:
        found.append(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    return [*found, *_spec(spec), *_stored(crd), *approval_errors(crd, None), *_preserves(spec, None)]


def validate_crd_update(crd: Object, old: Object) -> list[FieldError]:
    """What is wrong with a changed definition."""
    spec, former = crd["spec"], old["spec"]
    found = list(_spec(spec))
    fixed = [("group",), ("names", "plural")]
    if condition(old, "Established").get("status") == "True":
        fixed = [("scope",), ("names", "kind"), *fixed]
    for keys in fixed:
        value, before = _at(spec, keys), _at(former, keys)
        if value != before:
            found.append(invalid(".".join(("spec", *keys)), value, _IMMUTABLE))
    return [*found, *_stored(crd), *approval_errors(crd, old), *_preserves(spec, former)]


def validate_crd_status(crd: Object) -> list[FieldError]:
    """What is wrong with a written status."""
    return list(_names((crd.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames"))


def crd_warnings(crd: Object, old: Object | None = None) -> list[str]:
    """Formats that mean nothing to an API server, unless the old definition had them too."""
    known = set(_strange_formats(old)) if old else set()
    return [f'unrecognized format "{form}"' for form in _strange_formats(crd) if form not in known]


def _strange_formats(crd: Object) -> list[str]:
    versions = crd["spec"].get("versions") or []
    shared = _shared(versions, "schema") is not None
    schemas = [(version.get("schema") or {}).get("openAPIV3Schema") for version in versions[: 1 if shared else None]]
    return [form for raw in schemas if raw for form in _formats(raw)]


def _formats(raw: Object) -> Iterator[str]:
    if (form := raw.get("format")) and not formats.recognised(raw.get("type") or "", form):
        yield form
    children = [*(raw.get("properties") or {}).values(), raw.get("items"), raw.get("additionalProperties")]
    children += [raw.get("not"), *(raw.get("allOf") or ()), *(raw.get("anyOf") or ()), *(raw.get("oneOf") or ())]
    for child in children:
        if isinstance(child, dict):
            yield from _formats(child)


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = (value or {}).get(key)
    return value or ""


def _shared(versions: list[Object], key: str) -> Any:
    """What all versions say alike; None if they differ or say nothing."""
    first = versions[0].get(key) if versions else None
    return first if all(version.get(key) == first for version in versions) else None


def _spec(spec: Object) -> Iterator[FieldError]:
    yield from _group(spec.get("group") or "")
    yield from one_of("spec.scope", spec.get("scope") or "", ("Cluster", "Namespaced"))
    versions = spec.get("versions") or []
    shared = {key: value for key in _SHARED if (value := _shared(versions, key)) is not None}
    if (shared.get("schema") or {}).get("openAPIV3Schema") == {}:
        yield required("spec.validation.openAPIV3Schema.type", "must not be empty at the root")
    elif not (shared.get("schema") or {}).get("openAPIV3Schema"):
        for index, version in enumerate(versions):
            if "schema" in shared or not (version.get("schema") or {}).get("openAPIV3Schema"):
                yield required(f"spec.versions[{index}].schema.openAPIV3Schema")
    for index, version in enumerate(versions):
        place = f"spec.versions[{index}]"
        if wrong := names.dns_1035_label(version.get("name") or ""):
            yield invalid(f"{place}.name", version.get("name") or "", ",".join(wrong))
            if not index:  # The first version also counts as the one and only of old.
                yield invalid("spec.version", version.get("name") or "", ",".join(wrong))
        yield from deprecation_errors(version, place)
        own = {key: version[key] for key in _SHARED if version.get(key) is not None and key not in shared}
        statuses = _has_status(version)
        yield from version_errors(own, version, place, f"{place}.schema", statuses)
    said = [version.get("name") for version in versions]
    if len(set(said)) != len(said):
        yield invalid("spec.versions", versions, "must contain unique version names")
    if sum(bool(version.get("storage")) for version in versions) != 1:
        yield invalid("spec.versions", versions, "must have exactly one version marked as storage version")
    for key in ("plural", "singular", "kind", "listKind"):
        if not (spec.get("names") or {}).get(key):
            yield required(f"spec.names.{key}")
    yield from _names(spec.get("names") or {}, "spec.names")
    statuses = any(map(_has_status, versions))
    yield from version_errors(shared, shared, "spec", "spec.validation", statuses)
    yield from conversion_errors(spec.get("conversion") or {})


def _has_status(version: Object) -> bool:
    return (version.get("subresources") or {}).get("status") is not None


def _group(group: str) -> Iterator[FieldError]:
    if not group:
        yield required("spec.group")
    elif wrong := names.dns_subdomain(group):
        yield invalid("spec.group", group, ",".join(wrong))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")


def _names(said: Object, place: str) -> Iterator[FieldError]:
    mixed = "may have mixed case, but should otherwise match: "
    for key, lower in (("plural", False), ("singular", False), ("kind", True), ("listKind", True)):
        value = said.get(key) or ""
        if value and (wrong := names.dns_1035_label(value.lower() if lower else value)):
            yield invalid(f"{place}.{key}", value, f"{mixed if lower else ''}{','.join(wrong)}")
    for key in ("shortNames", "categories"):
        for index, value in enumerate(said.get(key) or ()):
            if wrong := names.dns_1035_label(value):
                yield invalid(f"{place}.{key}[{index}]", value, ",".join(wrong))
    if said.get("kind") and said.get("kind") == said.get("listKind"):
        yield invalid(f"{place}.listKind", said["listKind"], "kind and listKind may not be the same")


def _stored(crd: Object) -> Iterator[FieldError]:
    stored = (crd.get("status") or {}).get("storedVersions")
    versions = crd["spec"].get("versions") or []
    if not stored:
        yield invalid("status.storedVersions", stored, "must have at least one stored version")
        return
    left = list(stored)
    for version in versions:
        if version.get("storage") and version["name"] not in left:
            yield invalid("status.storedVersions", stored, f"must have the storage version {version['name']}")
        if version["name"] in left:
            left.remove(version["name"])
    for name in left:
        said = (
            f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions "
            f"until a storage migration ensures no data remains persisted in {name} and removes {name} from "
            "status.storedVersions"
        )
        yield invalid(f"status.storedVersions[{stored.index(name)}]", name, said)


def _preserves(spec: Object, former: Object | None) -> Iterator[FieldError]:
    if spec.get("preserveUnknownFields") and any(_has_default(version.get("schema")) for version in spec["versions"]):
        said = "must be false in order to use defaults in the schema"
        yield invalid("spec.preserveUnknownFields", True, said)
    if spec.get("preserveUnknownFields") and not (former or {}).get("preserveUnknownFields"):
        said = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        yield invalid("spec.preserveUnknownFields", True, said)


def _has_default(schema: Any) -> bool:
    """Whether anything in a schema has a default."""
    if isinstance(schema, list):
        return any(map(_has_default, schema))
    if not isinstance(schema, dict):
        return False
    return "default" in schema or any(map(_has_default, schema.values()))
