"""Volumes of a pod: what each sort of source needs to say."""

from __future__ import annotations

import re
from collections.abc import Callable

from tidegate.kube.wire import Object
from tidegate.local.errors import (
    FieldError,
    duplicate,
    forbidden_field,
    invalid,
    required,
    too_long,
)
from tidegate.local.kinds import names
from tidegate.local.kinds.core import downward
from tidegate.local.kinds.core.claims import check_claim_spec, default_claim_spec
from tidegate.local.kinds.core.resources import quantity
from tidegate.local.kinds.core.security import backsteps, relative_path
from tidegate.local.kinds.metadata import check_annotations, check_labels
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, name_of, needs, one_of, wrong

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_FILE_MODE = "must be a number between 0 and 0777 (octal), both inclusive"
HOST_PATH_TYPES = (
    *("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate"),
    *("File", "FileOrCreate", "Socket"),
)
_IMAGE = re.compile(
    r"(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?\.)*[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
_LONGEST_IMAGE = 255
_FILE_SOURCES = ("secret", "configMap", "downwardAPI", "projected")

DEFAULTS: dict[str, Object] = {
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "iscsi": {"iscsiInterface": "default"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def image_pull_policy(image: str) -> str:
    """`Always` for a tag that moves: `:latest`, or none at all. What is no image name is no such tag."""
    found = _IMAGE.fullmatch(image) if len(image.partition("@")[0]) <= _LONGEST_IMAGE else None
    moves = found is not None and (found["tag"] == "latest" or not (found["tag"] or found["digest"]))
    return "Always" if moves else "IfNotPresent"


def default_volumes(spec: Object) -> None:
    for volume in spec.get("volumes") or ():
        if not any(value is not None for key, value in volume.items() if key != "name"):
            volume["emptyDir"] = {}
        for sort in _FILE_SOURCES:
            if (source := volume.get(sort)) is not None and source.get("defaultMode") is None:
                source["defaultMode"] = 0o644
        for sort, values in DEFAULTS.items():
            if (source := volume.get(sort)) is not None:
                for key, value in values.items():
                    source[key] = value if source.get(key) in (None, "") else source[key]
        _default_source(volume)


def _default_source(volume: Object) -> None:
    if (source := volume.get("hostPath")) is not None and source.get("type") is None:
        source["type"] = ""
    if (source := volume.get("image")) is not None:
        source["pullPolicy"] = source.get("pullPolicy") or image_pull_policy(source.get("reference") or "")
    if template := child(volume, "ephemeral").get("volumeClaimTemplate"):
        default_claim_spec(template.setdefault("spec", {}))
    downward.default_files(child(volume, "downwardAPI"))
    for source in child(volume, "projected").get("sources") or ():
        downward.default_files(child(source, "downwardAPI"))
        if (token := source.get("serviceAccountToken")) is not None and token.get("expirationSeconds") is None:
            token["expirationSeconds"] = 3600


def drop_disabled(spec: Object) -> None:
    """Projections behind feature gates that are off are forgotten, not refused."""
    for volume in spec.get("volumes") or ():
        for source in child(volume, "projected").get("sources") or ():
            source.pop("clusterTrustBundle", None)
            source.pop("podCertificate", None)


def check_volumes(path: str, spec: Object, pod_name: str, is_pod: bool) -> tuple[dict[str, Object], list[FieldError]]:
    """The volumes that make sense, by name, and what is wrong with the others."""
    made = {
        f"{pod_name}-{volume.get('name')}" for volume in spec.get("volumes") or () if pod_name and "ephemeral" in volume
    }
    good: dict[str, Object] = {}
    errors: list[FieldError] = []
    for at, volume in items(spec, "volumes", path):
        name = volume.get("name") or ""
        found = [*_source(at, volume, pod_name, is_pod), *name_of(f"{at}.name", name)]
        if name in good:
            found.append(duplicate(f"{at}.name", name))
        if not found:
            good[name] = volume
        errors += found
        claim = child(volume, "persistentVolumeClaim").get("claimName")
        if claim in made:
            says = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{at}.persistentVolumeClaim.claimName", claim, says))
    return good, errors


def _source(path: str, volume: Object, pod_name: str, is_pod: bool) -> Errors:
    chosen = False
    for sort, check in _SOURCES.items():
        if (source := volume.get(sort)) is None:
            continue
        if chosen:
            shown = _SHOWN_WHEN_SECOND.get(sort, sort)
            yield forbidden_field(f"{path}.{shown}", "may not specify more than 1 volume type")
            continue
        chosen = True
        at = f"{path}.{'persistentDisk' if sort == 'gcePersistentDisk' else sort}"
        yield from check(at, source)
        if sort == "ephemeral" and pod_name and volume.get("name"):
            claim = f"{pod_name}-{volume['name']}"
            for message in names.dns_subdomain(claim):
                yield invalid(f"{path}.name", volume["name"], f'PVC name "{claim}": {message}')
        if sort == "image" and is_pod:
            yield from needs(at, source, "reference")
    if not chosen:
        yield required(path, "must specify a volume type")


# Two of Kubernetes' own paths are misspelled; clients see them as they are.
_SHOWN_WHEN_SECOND = {"downwardAPI": "downwarAPI", "cephfs": "cephFS"}


def _empty_dir(path: str, source: Object) -> Errors:
    if (limit := source.get("sizeLimit")) is not None and quantity(limit).nano < 0:
        yield forbidden_field(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _host_path(path: str, source: Object) -> Errors:
    yield from needs(path, source, "path")
    if source.get("path"):
        yield from backsteps(f"{path}.path", source["path"])
        yield from maybe_one_of(f"{path}.type", source.get("type"), HOST_PATH_TYPES)


def _mode(path: str, source: Object, key: str = "defaultMode") -> Errors:
    if (mode := source.get(key)) is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{path}.{key}", mode, _FILE_MODE)


def _local_path(path: str, target: str) -> Errors:
    yield from relative_path(path, target)
    if target.startswith("..") and not target.startswith("../"):
        yield invalid(path, target, "must not start with '..'")


def _keys(path: str, source: Object) -> Errors:
    for at, item in items(source, "items", path):
        yield from needs(at, item, "key", "path")
        yield from _local_path(f"{at}.path", item.get("path") or "")
        yield from _mode(at, item, "mode")


def _keyed(name_key: str) -> Callable[[str, Object], Errors]:
    """A secret or a config map: a name, a mode and chosen keys."""

    def check(path: str, source: Object) -> Errors:
        yield from needs(path, source, name_key)
        yield from _mode(path, source)
        yield from _keys(path, source)

    return check


def _downward(path: str, source: Object) -> Errors:
    yield from _mode(path, source)
    yield from _downward_files(path, source)


def _downward_files(path: str, source: Object) -> Errors:
    for item in source.get("items") or ():
        yield from needs(path, item, "path")
        yield from _local_path(f"{path}.path", item.get("path") or "")
        if (chosen := item.get("fieldRef")) is not None:
            yield from downward.field_ref(f"{path}.fieldRef", chosen, in_volume=True)
            if item.get("resourceFieldRef") is not None:
                says = "fieldRef and resourceFieldRef can not be specified simultaneously"
                yield invalid(path, "resource", says)
        elif (chosen := item.get("resourceFieldRef")) is not None:
            yield from downward.resource_field_ref(f"{path}.resourceFieldRef", chosen, in_volume=True)
        else:
            yield required(path, "one of fieldRef and resourceFieldRef is required")
        yield from _mode(path, item, "mode")


def _projected(path: str, source: Object) -> Errors:
    yield from _mode(path, source)
    seen: set[str] = set()
    for at, one in items(source, "sources", path):
        for sort in ("secret", "configMap"):
            if (keyed := one.get(sort)) is not None:
                yield from needs(f"{at}.{sort}", keyed, "name")
                yield from _keys(f"{at}.{sort}", keyed)
                yield from _unique_paths(path, keyed, seen, keyed.get("name") or "")
        if (files := one.get("downwardAPI")) is not None:
            yield from _downward_files(f"{at}.downwardAPI", files)
            yield from _unique_paths(path, files, seen)
        if (token := one.get("serviceAccountToken")) is not None:
            yield from _token(path, f"{at}.serviceAccountToken", token)
        if len([key for key, value in one.items() if value is not None]) > 1:
            yield forbidden_field(at, "may not specify more than 1 volume type per source")


def _unique_paths(path: str, source: Object, seen: set[str], shown: str = "") -> Errors:
    for item in source.get("items") or ():
        if target := item.get("path"):
            if target in seen:
                yield invalid(path, shown or target, "conflicting duplicate paths")
            seen.add(target)


def _token(path: str, token_path: str, token: Object) -> Errors:
    seconds = token["expirationSeconds"]
    if seconds < 600:
        yield invalid(f"{token_path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > 1 << 32:
        yield invalid(f"{token_path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    yield from needs(path, token, "path")
    if token.get("path"):
        yield from _local_path(f"{path}.path", token["path"])


def _ephemeral(path: str, source: Object) -> Errors:
    template = source.get("volumeClaimTemplate")
    at = f"{path}.volumeClaimTemplate"
    if template is None:
        yield required(at)
        return
    metadata = child(template, "metadata")
    yield from check_annotations(f"{at}.metadata.annotations", metadata.get("annotations") or {})
    yield from check_labels(f"{at}.metadata.labels", metadata.get("labels") or {})
    for key, value in metadata.items():
        if key not in ("annotations", "labels") and value:
            yield forbidden_field(f"{at}.metadata.{key}", "cannot be set")
    yield from check_claim_spec(f"{at}.spec", child(template, "spec"))


def csi_driver_name(path: str, name: str) -> Errors:
    if not name:
        yield required(path)
        return
    if len(name) > 63:
        yield too_long(path, 63)
    yield from wrong(path, name, names.dns_subdomain(name.lower()))


def _csi(path: str, source: Object) -> Errors:
    yield from csi_driver_name(f"{path}.driver", source.get("driver") or "")
    if (secret := source.get("nodePublishSecretRef")) is not None:
        name = secret.get("name") or ""
        if not name:
            yield required(f"{path}.nodePublishSecretRef.name")
        else:
            yield from wrong(f"{path}.name", name, names.dns_subdomain(name))


def _nfs(path: str, source: Object) -> Errors:
    yield from needs(path, source, "server", "path")
    if not (source.get("path") or "").startswith("/"):
        yield invalid(f"{path}.path", source.get("path") or "", "must be an absolute path")


def _git_repo(path: str, source: Object) -> Errors:
    yield from needs(path, source, "repository")
    yield from relative_path(f"{path}.directory", source.get("directory") or "")


def _image(path: str, source: Object) -> Errors:
    yield from one_of(f"{path}.pullPolicy", source.get("pullPolicy"), PULL_POLICIES)


def _with(*keys: str) -> Callable[[str, Object], Errors]:
    """A source of which only the presence of fields is checked: storage of other machines."""

    def check(path: str, source: Object) -> Errors:
        yield from needs(path, source, *keys)

    return check


# In the order in which Kubernetes asks: where a volume has two sources, the first counts and the rest are refused.
_SOURCES: dict[str, Callable[[str, Object], Errors]] = {
    "emptyDir": _empty_dir,
    "hostPath": _host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": _with("pdName"),
    "awsElasticBlockStore": _with("volumeID"),
    "secret": _keyed("secretName"),
    "nfs": _nfs,
    "iscsi": _with("targetPortal", "iqn"),
    "glusterfs": _with("endpoints", "path"),
    "flocker": _with(),
    "persistentVolumeClaim": _with("claimName"),
    "rbd": _with("monitors", "image"),
    "cinder": _with("volumeID"),
    "cephfs": _with("monitors"),
    "quobyte": _with("registry", "volume"),
    "downwardAPI": _downward,
    "fc": _with(),
    "flexVolume": _with("driver"),
    "configMap": _keyed("name"),
    "azureFile": _with("secretName", "shareName"),
    "vsphereVolume": _with("volumePath"),
    "photonPersistentDisk": _with("pdID"),
    "portworxVolume": _with("volumeID"),
    "azureDisk": _with("diskName", "diskURI"),
    "storageos": _with(),
    "projected": _projected,
    "scaleIO": _with("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
