"""What is odd about a good object: told, in Warning headers, to whoever writes it."""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Iterator

from tidegate.kube.wire import Object
from tidegate.local.kinds import names
from tidegate.local.kinds.core.pod_warnings import NODE_LABELS, pod_warnings
from tidegate.local.kinds.core.resources import quantity
from tidegate.local.kinds.rules import child, items

Warnings = Iterator[str]

_IN_TEMPLATE = ("spec", "template", "spec")
_POD_SPECS = {
    "Pod": ("spec",),
    "PodTemplate": ("template", "spec"),
    "CronJob": ("spec", "jobTemplate", *_IN_TEMPLATE),
    **dict.fromkeys(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job"), _IN_TEMPLATE),
    "ReplicationController": _IN_TEMPLATE,
}
_IN_POD_NAMES = frozenset(["CronJob", "Deployment", "Job", "ReplicaSet", "ReplicationController"])
_OLD_VOLUMES = {
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_INGRESS_CLASS = "kubernetes.io/ingress.class"
_OLD_ANNOTATIONS = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
    "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
}


def warnings_of(obj: Object, *, is_new: bool) -> Warnings:
    """Of an object of a built-in kind; its name is only spoken of when it is given."""
    kind = obj.get("kind", "")
    if is_new:
        yield from _of_name(kind, child(obj, "metadata").get("name") or "")
        if kind == "Ingress" and _INGRESS_CLASS in child(obj, "metadata", "annotations"):
            yield f"annotation \"{_INGRESS_CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"
    if (path := _POD_SPECS.get(kind)) is not None:
        yield from pod_warnings(".".join(path), child(obj, *path))
    if kind in _OF_KIND:
        yield from _OF_KIND[kind](obj)


def _of_name(kind: str, name: str) -> Warnings:
    says = "can result in surprising behavior; a DNS label is recommended"
    if kind == "Pod" and "." in name:
        yield f"metadata.name: this is used in the Pod's hostname, which {says}: [must not contain dots]"
    elif kind in _IN_POD_NAMES and (messages := names.dns_label(name)):
        yield f"metadata.name: this is used in Pod names and hostnames, which {says}: [{' '.join(messages)}]"


def _service(obj: Object) -> Warnings:
    spec = child(obj, "spec")
    sort, addresses = spec.get("type"), spec.get("externalIPs") or []
    headless = sort == "ClusterIP" and spec.get("clusterIP") == "None"
    if "service.kubernetes.io/topology-aware-hints" in child(obj, "metadata", "annotations"):
        old, new = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"
        yield f"annotation {old} is deprecated, please use {new} instead"
    if headless:
        ignored = {
            "spec.loadBalancerIP": spec.get("loadBalancerIP"),
            "spec.externalIPs": addresses,
            "spec.SessionAffinity": spec.get("sessionAffinity") != "None",
        }
        yield from (f"{field} is ignored for headless services" for field, is_set in ignored.items() if is_set)
    for at, address in items(spec, "externalIPs", "spec"):
        yield from _odd_address(at, address)
    if addresses and not headless and sort != "ExternalName":
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if addresses and sort == "ExternalName":
        yield 'spec.externalIPs is ignored when spec.type is "ExternalName"'
    if spec.get("externalName") and sort != "ExternalName":
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'


def _odd_address(path: str, text: str) -> Warnings:
    """An address that Kubernetes reads, but would write otherwise."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return
    if isinstance(address, ipaddress.IPv4Address):
        return
    if address.ipv4_mapped is not None:
        yield f'{path}: non-standard IP address "{text}" is invalid: use "{address.ipv4_mapped}"'
    elif str(address) != text:
        yield f'{path}: IPv6 address "{text}" should be in RFC 5952 canonical format ("{address}")'


def _node(obj: Object) -> Warnings:
    if child(obj, "spec").get("configSource") is not None:
        yield "spec.configSource: the feature is removed"
    if child(obj, "spec").get("externalID"):
        yield "spec.externalID: this field is deprecated, and is unused by Kubernetes"


def _stateful_set(obj: Object) -> Warnings:
    for at, claim in items(child(obj, "spec"), "volumeClaimTemplates", "spec"):
        yield from _fractions(at, child(claim, "spec"))
    if (child(obj, "spec").get("revisionHistoryLimit") or 0) < 0:
        says = "a negative value retains all historical revisions; a value >= 0 is recommended"
        yield f"spec.revisionHistoryLimit: {says}"


def _fractions(path: str, spec: Object) -> Warnings:
    for sort in ("requests", "limits"):
        amount = child(spec, "resources", sort).get("storage")
        if amount is not None and quantity(amount).nano % 10**9:
            says = f'fractional byte value "{amount}" is invalid, must be an integer'
            yield f"{path}.resources.{sort}[storage]: {says}"


def _claim(obj: Object) -> Warnings:
    old = "volume.beta.kubernetes.io/storage-class"
    if old in child(obj, "metadata", "annotations"):
        yield f"metadata.annotations[{old}]: {_OLD_ANNOTATIONS[old]}"
    yield from _fractions("spec", child(obj, "spec"))


def _volume(obj: Object) -> Warnings:
    spec = child(obj, "spec")
    for key, says in _OLD_ANNOTATIONS.items():
        if key in child(obj, "metadata", "annotations"):
            yield f"metadata.annotations[{key}]: {says}"
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        says = "Instead, the recommended approach is to use dynamic provisioning."
        yield f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {says}"
    needed = child(spec, "nodeAffinity", "required")
    for at, term in items(needed, "nodeSelectorTerms", "spec.nodeAffinity.required"):
        for where, expression in items(term, "matchExpressions", at):
            if (key := expression.get("key")) in NODE_LABELS:
                yield f"{where}.key: {key} is {NODE_LABELS[key]}"
    for key, (shown, says) in _OLD_VOLUMES.items():
        if spec.get(key) is not None:
            yield f"spec.{shown}: {says}"


def _secret(obj: Object) -> Warnings:
    """A certificate is to fit its key."""
    if obj.get("type") != "kubernetes.io/tls":
        return
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate

    data = obj.get("data") or {}
    try:
        certificate = load_pem_x509_certificate(base64.b64decode(data.get("tls.crt") or ""))
        key = load_pem_private_key(base64.b64decode(data.get("tls.key") or ""), None)
    except (ValueError, TypeError, binascii.Error):
        yield "tls: failed to find any PEM data in certificate or key input"
        return
    if certificate.public_key() != key.public_key():
        yield "tls: private key does not match public key"


_OF_KIND = {
    "Service": _service,
    "Node": _node,
    "StatefulSet": _stateful_set,
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "Secret": _secret,
}
