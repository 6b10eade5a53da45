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
from tidegate.local.kinds.core import downward, projections
from tidegate.local.kinds.core import remote_volumes as remote
from tidegate.local.kinds.core.claims import check_claim_spec, default_claim_spec
from tidegate.local.kinds.core.resources import quantity
from tidegate.local.kinds.core.security import backsteps, relative_path
from tidegate.local.kinds.metadata import check_annotations, check_labels
from tidegate.local.kinds.rules import Errors, child, items, maybe_one_of, name_of, needs, one_of, wrong

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
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


def host_path(path: str, source: Object) -> Errors:
    yield from needs(path, source, "path")
    if source.get("path"):
        yield from backsteps(f"{path}.path", source["path"])
        yield from maybe_one_of(f"{path}.type", source.get("type"), HOST_PATH_TYPES)


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
            shown = "uID" if key == "uid" else key  # Kubernetes makes the path of Go's name.
            yield forbidden_field(f"{at}.metadata.{shown}", "cannot be set")
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


def _git_repo(path: str, source: Object) -> Errors:
    yield from needs(path, source, "repository")
    yield from relative_path(f"{path}.directory", source.get("directory") or "")


def _image(path: str, source: Object) -> Errors:
    yield from one_of(f"{path}.pullPolicy", source.get("pullPolicy"), PULL_POLICIES)


# In the order in which Kubernetes asks: where a volume has two sources, the first counts and the rest are refused.
_SOURCES: dict[str, Callable[[str, Object], Errors]] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": remote.disk("pdName"),
    "awsElasticBlockStore": remote.disk("volumeID"),
    "secret": projections.keyed("secretName"),
    "nfs": remote.nfs,
    "iscsi": remote.iscsi,
    "glusterfs": remote.with_fields("endpoints", "path"),
    "flocker": remote.flocker,
    "persistentVolumeClaim": remote.with_fields("claimName"),
    "rbd": remote.with_fields("monitors", "image"),
    "cinder": remote.cinder,
    "cephfs": remote.with_fields("monitors"),
    "quobyte": remote.quobyte,
    "downwardAPI": projections.downward_api,
    "fc": remote.fibre_channel,
    "flexVolume": remote.flex,
    "configMap": projections.keyed("name"),
    "azureFile": remote.with_fields("secretName", "shareName"),
    "vsphereVolume": remote.with_fields("volumePath"),
    "photonPersistentDisk": remote.with_fields("pdID"),
    "portworxVolume": remote.with_fields("volumeID"),
    "azureDisk": remote.azure_disk,
    "storageos": remote.storage_os,
    "projected": projections.projected,
    "scaleIO": remote.with_fields("gateway", "system", "volumeName"),
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
