"""Volume claims: their spec, which templates in pods and stateful sets share, and the kind itself."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.core.resources import amount, quantity, round_up
from tidegate.local.kinds.rules import Errors, child, default, maybe_one_of, needs, same, unchanged, wrong
from tidegate.local.kinds.selectors import label_selector

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")
_RESIZES = tuple(
    f"{who}Resize{how}"
    for who in ("Controller", "Node")
    for how in ("Infeasible", "InProgress", "Pending")
    if (who, how) != ("Controller", "Pending")
)


def default_claim_spec(spec: Object) -> None:
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    for sort in ("limits", "requests"):
        round_up(child(spec, "resources").get(sort))


def check_claim_spec(path: str, spec: Object) -> Errors:
    modes = spec.get("accessModes") or []
    if not modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from label_selector(f"{path}.selector", spec.get("selector"))
    yield from access_modes(path, modes)
    storage = child(spec, "resources", "requests").get("storage")
    at = f"{path}.resources[storage]"
    if storage is None:
        yield required(at)
    elif quantity(storage).nano <= 0:
        yield invalid(at, storage, "must be greater than zero")
    else:
        yield from amount(at, "storage", storage)
    for key in ("storageClassName", "volumeAttributesClassName"):
        if spec.get(key):
            yield from wrong(f"{path}.{key}", spec[key], names.dns_subdomain(spec[key]))
    yield from maybe_one_of(f"{path}.volumeMode", spec.get("volumeMode"), VOLUME_MODES)
    yield from _sources(path, spec)


def access_modes(path: str, modes: list[str]) -> Errors:
    for mode in modes:
        if mode not in ACCESS_MODES:
            yield not_supported(f"{path}.accessModes", mode, ACCESS_MODES)
    if "ReadWriteOncePod" in modes and set(modes) & set(ACCESS_MODES) != {"ReadWriteOncePod"}:
        yield forbidden_field(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")


def _sources(path: str, spec: Object) -> Errors:
    for key in ("dataSource", "dataSourceRef"):
        if (source := spec.get(key)) is None:
            continue
        yield from needs(f"{path}.{key}", source, "name", "kind")
        group = source.get("apiGroup") or ""
        if not group and source.get("kind") != "PersistentVolumeClaim":
            says = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
            yield invalid(f"{path}.{key}", source.get("kind") or "", says)
        elif group:
            yield from wrong(f"{path}.{key}.apiGroup", group, names.dns_subdomain(group))
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    if (
        source is not None
        and ref is not None
        and any(source.get(k) != ref.get(k) for k in ("apiGroup", "kind", "name"))
    ):
        yield invalid(path, f"{path}.dataSource", "must match dataSourceRef")


def _is_source(source: Object) -> bool:
    """What a claim can be filled from; of the older field, anything else was always ignored."""
    known = (("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot"))
    return (source.get("apiGroup") or "", source.get("kind")) in known


class PersistentVolumeClaim(BuiltIn):
    has_status = True

    def default(self, obj: Object) -> None:
        default(obj.setdefault("status", {}), phase="Pending")
        default_claim_spec(obj.setdefault("spec", {}))

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"phase": "Pending"}
        _settle_sources(obj["spec"], {})

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        _settle_sources(obj["spec"], child(old, "spec"))

    def check(self, obj: Object) -> Errors:
        yield from check_claim_spec("spec", child(obj, "spec"))

    def check_update(self, obj: Object, old: Object) -> Errors:
        spec, before = dict(child(obj, "spec")), dict(child(old, "spec"))
        size, was = (child(one, "resources", "requests").get("storage") or "0" for one in (spec, before))
        if not before.get("volumeName"):
            before["volumeName"] = spec.get("volumeName")
        if before.get("storageClassName") is None:
            before["storageClassName"] = spec.get("storageClassName")
        if child(obj, "status").get("phase") == "Bound":
            spec["resources"] = before.get("resources")
            spec["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
        if not same(spec, before):
            except_for = "resources.requests and volumeAttributesClassName for bound claims"
            yield forbidden_field("spec", f"spec is immutable after creation except {except_for}")
        capacity = child(old, "status", "capacity").get("storage") or "0"
        if quantity(size) < quantity(was) and quantity(size) <= quantity(capacity):
            says = "field can not be less than status.capacity"
            yield forbidden_field("spec.resources.requests.storage", says)
        yield from unchanged("", child(obj, "spec"), child(old, "spec"), "volumeMode")

    def check_status(self, obj: Object, old: Object) -> Errors:
        status = child(obj, "status")
        yield from _check_amounts("status.capacity", status.get("capacity") or {})
        yield from _check_resizing(status)


def _check_amounts(path: str, amounts: Object) -> Errors:
    for name, text in amounts.items():
        if quantity(text).nano < 0:
            yield invalid(f"{path}[{name}]", text, "must be greater than or equal to 0")


def _check_resizing(status: Object) -> Errors:
    """Only storage is resized, or what somebody has a name of their own for."""
    for key in ("allocatedResources", "allocatedResourceStatuses"):
        path = f"status.{key}"
        for name, value in (status.get(key) or {}).items():
            messages = names.qualified_name(name)
            yield from wrong(path, name, messages)
            if not messages and "/" not in name and name != "storage":
                yield not_supported(path, name, ("storage",))
            if key == "allocatedResourceStatuses" and value not in _RESIZES:
                yield not_supported(path, value, _RESIZES)


def _settle_sources(spec: Object, before: Object) -> None:
    """The older and the newer field say the same; what one says the other says too."""
    if child(spec, "dataSourceRef").get("namespace") and before.get("dataSourceRef") is None:
        del spec["dataSourceRef"]  # Of another namespace: behind a feature gate that is off.
    source, ref = spec.get("dataSource"), spec.get("dataSourceRef")
    unused = before.get("dataSource") is None and before.get("dataSourceRef") is None
    if unused and ref is None and source is not None and not _is_source(source):
        del spec["dataSource"]
    elif source is not None and ref is None:
        spec["dataSourceRef"] = dict(source)
    elif ref is not None and source is None and not ref.get("namespace"):
        spec["dataSource"] = {key: value for key, value in ref.items() if key != "namespace"}
