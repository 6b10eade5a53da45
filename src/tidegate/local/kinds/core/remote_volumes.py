"""Volumes on other machines: what each sort of source needs to say, in a pod and in a persistent volume."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidegate.kube.wire import Object
from tidegate.local.errors import invalid, not_supported, required
from tidegate.local.kinds import names
from tidegate.local.kinds.rules import Errors, child, maybe_one_of, name_of, needs, within, wrong

Check = Callable[[str, Object], Errors]

_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([0-9A-Za-z.-]+)(:[^,;*&$|\s]+)$"),
    "eui": re.compile(r"^eui.[0-9A-Za-z]{16}$"),
    "naa": re.compile(r"^naa.[0-9A-Za-z]{32}$"),
}
_PAIRS = "must be a host:port pair or multiple pairs separated by commas"
_MANAGED = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_RESERVED = "kubernetes.io and k8s.io namespaces are reserved"


def with_fields(*keys: str) -> Check:
    """A source of which only the presence of fields is checked."""

    def check(path: str, source: Object) -> Errors:
        yield from needs(path, source, *keys)

    return check


def disk(key: str) -> Check:
    def check(path: str, source: Object) -> Errors:
        yield from needs(path, source, key)
        if not 0 <= (source.get("partition") or 0) <= 255:
            yield invalid(f"{path}.partition", source["partition"], "must be between 1 and 255, inclusive")

    return check


def nfs(path: str, source: Object) -> Errors:
    yield from needs(path, source, "server", "path")
    if not (source.get("path") or "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path") or "", "must be an absolute path")


def iscsi(path: str, source: Object) -> Errors:
    yield from needs(path, source, "targetPortal", "iqn")
    if source.get("iqn"):
        yield from _initiator(f"{path}.iqn", source["iqn"])
    yield from within(f"{path}.lun", source.get("lun") or 0, 0, 255)
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and source.get("secretRef") is None:
        yield required(f"{path}.secretRef")
    if (initiator := source.get("initiatorName")) is not None:
        yield from _initiator(f"{path}.initiatorname", initiator)


def _initiator(path: str, name: str) -> Errors:
    form = _INITIATORS.get(name[:3])
    if form is None:
        yield invalid(path, name, "must be valid format starting with iqn, eui, or naa")
    elif not form.search(name):
        yield invalid(path, name, "must be valid format")


def fibre_channel(path: str, source: Object) -> Errors:
    targets, ids = source.get("targetWWNs"), source.get("wwids")
    if not targets and not ids:
        yield required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if targets and ids:
        yield invalid(f"{path}.targetWWNs", targets, "targetWWNs and wwids can not be specified simultaneously")
    if targets and source.get("lun") is None:
        yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
    elif targets:
        yield from within(f"{path}.lun", source["lun"], 0, 255)


def flocker(path: str, source: Object) -> Errors:
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID")
    if not name and not uuid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if name and uuid:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in name:
        yield invalid(f"{path}.datasetName", name, "must not contain '/'")


def quobyte(path: str, source: Object) -> Errors:
    registry = source.get("registry") or ""
    if not registry:
        yield required(f"{path}.registry", _PAIRS)
    elif len(source.get("tenant") or "") > 64:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        for pair in registry.split(","):
            if not re.fullmatch(r"\[[^\[\]]*\]:[^:\[\]]*|[^:\[\]]*:[^:\[\]]*", pair):
                yield invalid(f"{path}.registry", registry, _PAIRS)
    yield from needs(path, source, "volume")


def cinder(path: str, source: Object) -> Errors:
    yield from needs(path, source, "volumeID")
    yield from _secret(path, source, "name")


def cinder_anywhere(path: str, source: Object) -> Errors:
    yield from needs(path, source, "volumeID")
    yield from _secret(path, source, "name", "namespace")


def _secret(path: str, source: Object, *keys: str) -> Errors:
    if (secret := source.get("secretRef")) is not None:
        yield from needs(f"{path}.secretRef", secret, *keys)


def flex(path: str, source: Object) -> Errors:
    yield from needs(path, source, "driver")
    for key in source.get("options") or ():
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}.options[{key}]", key, _RESERVED)


def azure_disk(path: str, source: Object) -> Errors:
    yield from needs(path, source, "diskName", "diskURI")
    sort, place = source.get("kind"), source.get("diskURI") or ""
    caching = source.get("cachingMode")
    yield from maybe_one_of(f"{path}.cachingMode", caching, ("None", "ReadOnly", "ReadWrite"))
    yield from maybe_one_of(f"{path}.kind", sort, ("Dedicated", "Managed", "Shared"))
    if sort == "Managed" and not place.startswith("/subscriptions/"):
        yield not_supported(f"{path}.diskURI", place, (_MANAGED,))
    elif sort is not None and sort != "Managed" and not place.startswith("https://"):
        yield not_supported(f"{path}.diskURI", place, (_BLOB,))


def azure_file_anywhere(path: str, source: Object) -> Errors:
    yield from needs(path, source, "secretName", "shareName")
    if source.get("secretNamespace") == "":
        yield required(f"{path}.secretNamespace")


def storage_os(path: str, source: Object) -> Errors:
    yield from _storage_os(path, source)
    yield from _secret(path, source, "name")


def storage_os_anywhere(path: str, source: Object) -> Errors:
    yield from _storage_os(path, source)
    yield from _secret(path, source, "name", "namespace")


def _storage_os(path: str, source: Object) -> Errors:
    yield from name_of(f"{path}.volumeName", source.get("volumeName") or "")
    if namespace := source.get("volumeNamespace"):
        yield from wrong(f"{path}.volumeNamespace", namespace, names.dns_label(namespace))


def gluster_anywhere(path: str, source: Object) -> Errors:
    yield from needs(path, source, "endpoints", "path")
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        says = "if the endpointnamespace is set, it must be a valid namespace name"
        yield invalid(f"{path}.endpointsNamespace", namespace, says)
    elif namespace is not None:
        yield from wrong(f"{path}.endpointsNamespace", namespace, names.dns_label(namespace))


def secret_anywhere(path: str, secret: Object) -> Errors:
    """A secret of any namespace."""
    yield from name_of(f"{path}.name", secret.get("name") or "", names.dns_subdomain)
    yield from name_of(f"{path}.namespace", secret.get("namespace") or "")


def csi_anywhere(path: str, source: Object) -> Errors:
    yield from needs(path, source, "volumeHandle")
    for sort in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"):
        if (secret := source.get(f"{sort}SecretRef")) is not None:
            yield from secret_anywhere(f"{path}.{sort}SecretRef", secret)


def iscsi_anywhere(path: str, source: Object) -> Errors:
    yield from iscsi(path, source)
    if source.get("secretRef") is not None and not child(source, "secretRef").get("name"):
        yield required(f"{path}.secretRef.name")
