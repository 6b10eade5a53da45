"""The small kinds of the core group: namespaces, config maps, secrets and service accounts."""

from __future__ import annotations

import base64
import binascii
import json

from tidegate.kube.wire import Object
from tidegate.local.errors import forbidden_field, invalid, required, too_long
from tidegate.local.kinds import names
from tidegate.local.kinds.builtin import BuiltIn
from tidegate.local.kinds.metadata import finalizer_name
from tidegate.local.kinds.rules import Errors, child, default, same, unchanged, wrong
from tidegate.local.kinds.strategy import Strategy

MOST_BYTES = 1024 * 1024
_NAME_LABEL = "kubernetes.io/metadata.name"
_LOCKED = "field is immutable when `immutable` is set"


class Namespace(BuiltIn):
    has_status = True
    name_form = staticmethod(names.dns_label)

    def default(self, obj: Object) -> None:
        metadata = obj.setdefault("metadata", {})
        if metadata.get("name"):
            metadata["labels"] = {**(metadata.get("labels") or {}), _NAME_LABEL: metadata["name"]}
        default(obj.setdefault("status", {}), phase="Active")

    def prepare_create(self, obj: Object) -> None:
        obj["status"] = {"phase": "Active"}
        spec = obj.setdefault("spec", {})
        if "kubernetes" not in (spec.get("finalizers") or ()):
            spec["finalizers"] = [*(spec.get("finalizers") or ()), "kubernetes"]
        metadata = obj["metadata"]
        # A generated name is only known by now.
        metadata["labels"] = {**(metadata.get("labels") or {}), _NAME_LABEL: metadata.get("name") or ""}

    def prepare_update(self, obj: Object, old: Object) -> None:
        super().prepare_update(obj, old)
        obj["spec"] = {**child(obj, "spec"), "finalizers": child(old, "spec").get("finalizers") or []}
        if not obj["spec"]["finalizers"]:
            del obj["spec"]["finalizers"]

    def check_create(self, obj: Object) -> Errors:
        for finalizer in child(obj, "spec").get("finalizers") or ():
            yield from finalizer_name("spec.finalizers", finalizer)

    def check_status(self, obj: Object, old: Object) -> Errors:
        phase = child(obj, "status").get("phase") or ""
        deleted = child(obj, "metadata").get("deletionTimestamp")
        if not deleted and phase != "Active":
            yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")
        elif deleted and phase != "Terminating":
            yield invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")

    def subresource(self, name: str) -> Strategy | None:
        return Finalize() if name == "finalize" else None


class Finalize(Namespace):
    """The door by which a namespace's contents are declared gone."""

    def prepare_update(self, obj: Object, old: Object) -> None:
        obj["status"] = old.get("status", {})

    def check_update(self, obj: Object, old: Object) -> Errors:
        for index, finalizer in enumerate(child(obj, "spec").get("finalizers") or ()):
            yield from finalizer_name(f"spec.finalizers[{index}]", finalizer)


class ServiceAccount(BuiltIn):
    def prepare_create(self, obj: Object) -> None:
        """Of a secret only its name counts: it is one of the same namespace."""
        if secrets := obj.get("secrets"):
            obj["secrets"] = [{"name": secret["name"]} if secret.get("name") else {} for secret in secrets]

    def prepare_update(self, obj: Object, old: Object) -> None:
        self.prepare_create(obj)


def _locked(obj: Object, old: Object, *keys: str) -> Errors:
    """What was declared immutable stays, and so does the declaration."""
    if old.get("immutable"):
        if not obj.get("immutable"):
            yield forbidden_field("immutable", _LOCKED)
        for key in keys:
            if not same(obj.get(key), old.get(key)):
                yield forbidden_field(key, _LOCKED)


def _keys(obj: Object, field: str) -> Errors:
    for key in obj.get(field) or ():
        yield from wrong(f"{field}[{key}]", key, names.config_key(key))


def _decoded_size(text: str) -> int:
    return len(text) * 3 // 4 - text[-2:].count("=")


class ConfigMap(BuiltIn):
    def check(self, obj: Object) -> Errors:
        data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
        yield from _keys(obj, "data")
        for key in data:
            if key in binary:
                yield invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
        yield from _keys(obj, "binaryData")
        size = sum(len(text.encode()) for text in data.values()) + sum(map(_decoded_size, binary.values()))
        if size > MOST_BYTES:
            yield too_long("[]", MOST_BYTES)

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from _locked(obj, old, "data", "binaryData")


class Secret(BuiltIn):
    def default(self, obj: Object) -> None:
        default(obj, type="Opaque")
        if texts := obj.pop("stringData", None):
            encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
            obj["data"] = {**(obj.get("data") or {}), **encoded}

    def prepare_update(self, obj: Object, old: Object) -> None:
        if not obj.get("type"):
            obj["type"] = old.get("type")

    def check(self, obj: Object) -> Errors:
        data = obj.get("data") or {}
        yield from _keys(obj, "data")
        if sum(map(_decoded_size, data.values())) > MOST_BYTES:
            yield too_long("data", MOST_BYTES)
        yield from _of_type(obj.get("type") or "", data, child(obj, "metadata", "annotations"))

    def check_update(self, obj: Object, old: Object) -> Errors:
        yield from unchanged("", obj, old, "type")
        yield from _locked(obj, old, "data")


def _of_type(sort: str, data: Object, annotations: Object) -> Errors:
    """What the well-known types of secrets must hold."""
    account = "kubernetes.io/service-account.name"
    if sort == "kubernetes.io/service-account-token" and not annotations.get(account):
        yield required(f"metadata.annotations[{account}]")
    elif sort in ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson"):
        key = "." + sort.removeprefix("kubernetes.io/")
        if key not in data:
            yield required(f"data[{key}]")
        elif says := _not_json_object(data[key]):
            yield invalid(f"data[{key}]", "<secret contents redacted>", says)
    elif sort == "kubernetes.io/basic-auth" and not {"username", "password"} & data.keys():
        yield required("data[username]")
        yield required("data[password]")
    elif sort == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        yield required("data[ssh-privatekey]")
    elif sort == "kubernetes.io/tls":
        for key in ("tls.crt", "tls.key"):
            if key not in data:
                yield required(f"data[{key}]")


def _not_json_object(text: str) -> str:
    try:
        value = json.loads(base64.b64decode(text))
    except (ValueError, binascii.Error) as error:
        return str(error)
    return "" if value is None or isinstance(value, dict) else "json: cannot unmarshal into an object"
