"""Who an object is: name, namespace, uid and version, which a write may confirm and cannot change."""

from __future__ import annotations

import random

from tidegate.kube.wire import Object
from tidegate.local.apiserver.call import Call
from tidegate.local.errors import ApiError, bad_request, conflict, invalid, invalid_object


def new_uid() -> str:
    """A random UUID. Unique is enough: it is no secret, and asking the system for randomness would cost far more."""
    digits = f"{random.getrandbits(128):032x}"
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def revision_of(version: str) -> int:
    """A resourceVersion as a number; 0 for none, and for one that is no number."""
    return int(version) if version.isascii() and version.isdigit() else 0


def put_in_namespace(call: Call, metadata: Object) -> None:
    if not call.served.namespaced:
        metadata.pop("namespace", None)
        return
    given = metadata.get("namespace")
    if given and given != call.namespace:
        message = "the namespace of the provided object does not match the namespace sent on the request"
        raise bad_request(message)
    metadata["namespace"] = call.namespace


def check_name(call: Call, metadata: Object) -> None:
    name = metadata.get("name")
    if not name:
        why = f"the name of the object ({call.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(why)
    if name != call.name:
        raise bad_request(f"the name of the object ({name}) does not match the name on the URL ({call.name})")


def check_identity(call: Call, obj: Object, old: Object, *, patched: bool) -> None:
    """Name, namespace, uid and version in the body must be those of the object that is there."""
    served, metadata, known = call.served, obj.setdefault("metadata", {}), old["metadata"]
    put_in_namespace(call, metadata)
    check_name(call, metadata)
    uid = metadata.get("uid")
    if uid and uid != known["uid"] and not patched:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {known['uid']}"
        raise conflict(served.group, served.plural, call.name, why)
    version = metadata.get("resourceVersion") or ""
    if version == known["resourceVersion"]:
        return
    if version and not (version.isascii() and version.isdigit()):
        raise ApiError(500, "", f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if revision_of(version):
        raise conflict(served.group, served.plural, call.name)
    if not served.strategy.unconditional_update:
        error = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise invalid_object(served.group, served.plural, call.name, [error])


def carry_over(obj: Object, old: Object) -> None:
    """What belongs to the server stays as it is, whatever the body says; what contradicts it is for validation."""
    metadata, known = obj["metadata"], old["metadata"]
    for key in ("resourceVersion", "creationTimestamp", "generation"):
        if key in known:
            metadata[key] = known[key]
        else:
            metadata.pop(key, None)
    metadata.setdefault("uid", known["uid"])
    if "deletionTimestamp" in known:
        metadata["deletionTimestamp"] = known["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in known:
        metadata.setdefault("deletionGracePeriodSeconds", known["deletionGracePeriodSeconds"])
