"""References by which a pod reads about itself: fields and resources."""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.core.resources import quantity
from tidegate.local.kinds.rules import Errors, wrong

_KNOWN = {
    *("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"),
    *("spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName"),
    *("status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
}
_IN_ENV = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
_IN_VOLUME = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_RESOURCES = tuple(
    f"{sort}.{name}" for sort in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE = ("requests.hugepages-", "limits.hugepages-")
_BYTES = ("1", *(f"1{unit}" for unit in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))
_DIVISORS = {"cpu": ("1m", "1")}
_CALLED = {"ephemeral-storage": "local ephemeral storage"}


def default_files(source: Object) -> None:
    for item in source.get("items") or ():
        default_field_ref(item.get("fieldRef"))


def default_field_ref(ref: Object | None) -> None:
    if ref is not None and not ref.get("apiVersion"):
        ref["apiVersion"] = "v1"


def field_ref(path: str, ref: Object, in_volume: bool = False) -> Errors:
    field, version = ref.get("fieldPath") or "", ref.get("apiVersion")
    if not field:
        yield required(f"{path}.fieldPath")
        return
    base, bracket, rest = field.partition("['")
    subscripted = bool(bracket) and rest.endswith("']")
    if version != "v1":
        says = f"error converting fieldPath: unsupported pod version: {version}"
        yield invalid(f"{path}.fieldPath", field, says)
    elif subscripted and base in ("metadata.annotations", "metadata.labels"):
        key = rest[:-2]
        key = key.lower() if base == "metadata.annotations" else key
        yield from wrong(path, key, names.qualified_name(key))
    elif subscripted or field not in _KNOWN:
        says = f"error converting fieldPath: field label not supported: {base if subscripted else field}"
        yield invalid(f"{path}.fieldPath", field, says)
    elif field not in (known := _IN_VOLUME if in_volume else _IN_ENV):
        yield not_supported(f"{path}.fieldPath", field, known)


def resource_field_ref(path: str, ref: Object, in_volume: bool = False) -> Errors:
    resource = ref.get("resource") or ""
    if in_volume and not ref.get("containerName"):
        yield required(f"{path}.containerName")
    elif not resource:
        yield required(f"{path}.resource")
    elif resource not in _RESOURCES and not resource.startswith(_HUGE):
        yield not_supported(f"{path}.resource", resource, _RESOURCES)
    yield from _divisor(path, resource, ref.get("divisor"))


def _divisor(path: str, resource: str, divisor: str | int | None) -> Errors:
    if not divisor or not quantity(divisor):
        return
    name = resource.partition(".")[2]
    name = "hugepages" if name.startswith("hugepages-") else name
    if resource not in _RESOURCES and name != "hugepages":
        return
    allowed = _DIVISORS.get(name, _BYTES)
    if str(quantity(divisor)) not in allowed:
        listed = "1m and 1" if name == "cpu" else ", ".join(allowed)
        says = f"only divisor's values {listed} are supported with the {_CALLED.get(name, name)} resource"
        yield invalid(f"{path}.divisor", resource, says)
