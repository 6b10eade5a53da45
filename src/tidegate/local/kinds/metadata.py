"""The metadata every object has: what a write may say in it, and what no update may change."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError, forbidden_field, invalid, required, too_long
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import Errors, child, unchanged, wrong

MOST_ANNOTATION_BYTES = 256 * 1024
ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_NEVER_CHANGE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_SERVER_OWNED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")


def default_create(obj: Object) -> None:
    """Drops what only the server says; name, uid and times are then the server's to fill in."""
    metadata = obj.setdefault("metadata", {})
    for key in _SERVER_OWNED:
        metadata.pop(key, None)


def drop_repeated_owners(obj: Object) -> list[str]:
    """An owner said twice counts once; the uids of those (whoever wrote them is warned)."""
    owners = child(obj, "metadata").get("ownerReferences") or []
    if len(owners) < 2:
        return []
    repeated = [owner for index, owner in enumerate(owners) if owner in owners[:index]]
    if repeated:
        obj["metadata"]["ownerReferences"] = [
            owner for index, owner in enumerate(owners) if owner not in owners[:index]
        ]
    return [owner.get("uid") or "" for owner in repeated]


def validate_create(
    obj: Object, *, namespaced: bool, name_errors: Callable[[str], list[str]] = names.dns_subdomain
) -> list[FieldError]:
    return list(_validate_create(child(obj, "metadata"), namespaced, name_errors))


def _validate_create(metadata: Object, namespaced: bool, name_errors: Callable[[str], list[str]]) -> Errors:
    yield from _prefix(metadata.get("generateName") or "", name_errors)
    name = metadata.get("name")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from wrong("metadata.name", name, name_errors(name) or names.path_segment(name))
    namespace = metadata.get("namespace")
    if namespaced and not namespace:
        yield required("metadata.namespace")
    elif namespaced and namespace:
        yield from wrong("metadata.namespace", namespace, names.dns_label(namespace))
    elif namespace:
        yield forbidden_field("metadata.namespace", "not allowed on this type")
    if (generation := metadata.get("generation") or 0) < 0:
        yield invalid("metadata.generation", generation, "must be greater than or equal to 0")
    yield from _said(metadata)
    yield from _finalizers(metadata.get("finalizers") or [])


def _prefix(prefix: str, name_errors: Callable[[str], list[str]]) -> Errors:
    if prefix:
        yield from wrong("metadata.generateName", prefix, name_errors(_as_whole_name(prefix)))


def _as_whole_name(prefix: str) -> str:
    """A name that could come of `prefix`: a dash at its end is followed by something."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


_TWICE = frozenset([
    "Pod", "ConfigMap", "Secret", "ServiceAccount", "Namespace", "Node", "PersistentVolumeClaim", "Endpoints", "Role",
    "RoleBinding", "Job", "ClusterRole", "ClusterRoleBinding", "Ingress", "StorageClass", "RuntimeClass",
])  # fmt: skip
_AS_NEW = frozenset(["LimitRange", "EndpointSlice", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"])
"""Kubernetes looks at an update's metadata once for every kind and again in the kind's own rules: as a change, as if
the object were new, or both. What is wrong is listed as often."""


def validate_update(
    obj: Object, old: Object, *, name_errors: Callable[[str], list[str]] = names.dns_subdomain
) -> list[FieldError]:
    metadata, known, kind = child(obj, "metadata"), child(old, "metadata"), obj.get("kind", "")
    # What is stored has been checked already.
    said = [*_said(metadata)] if any(metadata.get(key) != known.get(key) for key in _SAID) else []
    held = [*_finalizers(metadata.get("finalizers") or [])]
    prefix = metadata.get("generateName") or ""
    prefix = "" if prefix == known.get("generateName") else prefix
    changed = [*_changed(metadata, known)]
    named = [] if kind == "RuntimeClass" else [*core_finalizers(obj)]
    if not (said or held or prefix or changed or named):
        return []
    again = changed + said
    as_new = [*_prefix(prefix, name_errors), *said, *held]
    errors = [*_prefix(prefix, names.path_segment), *said, *held, *again]
    if kind in _TWICE:
        return errors + again + as_new + named
    if kind == "PersistentVolume":
        return errors + as_new + as_new + named
    if kind in _AS_NEW:
        return errors + as_new
    return errors if kind == "Event" else errors + again


def _changed(metadata: Object, old: Object) -> Errors:
    if old.get("deletionTimestamp"):
        added = sorted(set(metadata.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if added:
            listed = ", ".join(f'"{name}"' for name in added)
            yield forbidden_field(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new finalizers "
                f"[]string{{{listed}}}",
            )
    if not metadata.get("resourceVersion"):
        yield invalid("metadata.resourceVersion", "", "must be specified for an update")
    if (generation := metadata.get("generation") or 0) < (old.get("generation") or 0):
        yield invalid("metadata.generation", generation, "must not be decremented")
    yield from unchanged("metadata", metadata, old, *_NEVER_CHANGE)


_SAID = ("labels", "annotations", "ownerReferences")


def _said(metadata: Object) -> Errors:
    yield from check_labels("metadata.labels", metadata.get("labels") or {})
    yield from check_annotations("metadata.annotations", metadata.get("annotations") or {})
    yield from _owners(metadata.get("ownerReferences") or [])


def check_labels(path: str, values: Mapping[str, str]) -> Errors:
    for key, value in values.items():
        yield from wrong(path, key, names.qualified_name(key))
        yield from wrong(path, value, names.label_value(value))


def check_annotations(path: str, values: Mapping[str, str]) -> Errors:
    size = 0
    for key, value in values.items():
        yield from wrong(path, key, names.qualified_name(key.lower()))
        size += len(key.encode()) + len(value.encode())
    if size > MOST_ANNOTATION_BYTES:
        yield too_long(path, MOST_ANNOTATION_BYTES)


def _owners(references: list[Object]) -> Errors:
    path = "metadata.ownerReferences"
    controller = ""
    for reference in references:
        api_version, kind = reference.get("apiVersion") or "", reference.get("kind") or ""
        group, _, version = api_version.rpartition("/")
        if not version or "/" in group:
            yield invalid(f"{path}.apiVersion", api_version, "version must not be empty")
        for key in ("kind", "name", "uid"):
            if not reference.get(key):
                yield invalid(f"{path}.{key}", reference.get(key) or "", "must not be empty")
        if (group, version, kind) == ("", "v1", "Event"):
            yield invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner")
        if reference.get("controller"):
            this = f"{kind}/{reference.get('name') or ''}"
            if controller:
                yield invalid(
                    path,
                    references,
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {this}",
                )
            controller = controller or this


def _finalizers(finalizers: list[str]) -> Errors:
    path = "metadata.finalizers"
    for finalizer in finalizers:
        yield from wrong(path, finalizer, names.qualified_name(finalizer))
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        yield invalid(path, finalizers, f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set")


def core_finalizers(obj: Object) -> Errors:
    """The extra rule of built-in kinds: a finalizer without a domain must be one that Kubernetes knows."""
    for index, finalizer in enumerate(child(obj, "metadata").get("finalizers") or ()):
        yield from _known_finalizer(f"metadata.finalizers[{index}]", finalizer)


def finalizer_name(path: str, finalizer: str) -> Errors:
    yield from wrong(path, finalizer, names.qualified_name(finalizer))
    yield from _known_finalizer(path, finalizer)


def _known_finalizer(path: str, finalizer: str) -> Errors:
    if "/" not in finalizer and finalizer not in (ORPHAN, FOREGROUND, "kubernetes"):
        says = "name is neither a standard finalizer name nor is it fully qualified"
        yield invalid(path, finalizer, says)
