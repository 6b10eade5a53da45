"""What all writes share: metadata the server owns, admission, validation, and the store.

The order is Kubernetes': defaults, mutating admission, the kind's own preparation, managed fields, validation,
validating admission, then one compare-and-swap. Admission may take its time, so an object can have changed meanwhile:
then everything is done again on the new state, unless the client named the version it knew.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tidegate.kube.wire import Object
from tidegate.local.access.rbac import Question
from tidegate.local.access.users import User, service_account
from tidegate.local.admission.attributes import Attributes
from tidegate.local.apiserver.addresses import allocate, keep_address
from tidegate.local.apiserver.answers import decode, encode
from tidegate.local.apiserver.api import Api
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.changed import count_generation, prepare_for, validate_changed
from tidegate.local.apiserver.identity import carry_over, check_identity, new_uid, put_in_namespace, revision_of
from tidegate.local.apiserver.managed import managed_on_update
from tidegate.local.errors import (
    ApiError,
    already_exists,
    conflict,
    invalid_object,
    not_found,
)
from tidegate.local.kinds import metadata as rules
from tidegate.local.kinds.core.event import NEWER as NEWER_EVENT
from tidegate.local.kinds.core.event import to_core, whole
from tidegate.local.patch import settled
from tidegate.local.store import Row, StaleError

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels: generated names are never words."""
_TRIES = 8


def stored(obj: Object, revision: int) -> bytes:
    """An object as it is kept: with its revision, without kind and apiVersion."""
    if obj.get("apiVersion") == NEWER_EVENT:
        obj = whole(to_core(obj))  # Events are kept in one form and shown in two.
    metadata = dict(obj["metadata"])
    metadata["resourceVersion"] = str(revision)
    kept = {"metadata": metadata} | {k: v for k, v in obj.items() if k not in ("kind", "apiVersion", "metadata")}
    return encode(kept)


def loaded(call: Call, row: Row) -> Object:
    """A stored object with its kind and apiVersion, a copy of one's own."""
    served = call.served
    head = {"kind": served.kind, "apiVersion": served.api_version}
    return head | decode(row.value if served.convert is None else served.convert(row.value))


def attributes(api: Api, call: Call, operation: str, obj: Object | None, old: Object | None) -> Attributes:
    name = (obj or {}).get("metadata", {}).get("name") or call.name
    return Attributes(
        operation,  # type: ignore[arg-type]
        call.served, call.namespace, name, call.subresource, call.user, obj, old,
        call.dry_run, {}, call.warnings, partial(_may, api, call.user),
    )  # fmt: skip


def _may(api: Api, user: User, asked: dict[str, str]) -> tuple[bool, str]:
    """The answer to a question of an expression: what the user may, or a service account."""
    if account := asked.get("serviceAccount"):
        user = service_account(*account.split("/", 1))
    place = (asked.get(key, "") for key in ("group", "resource", "subresource", "namespace", "name"))
    path = asked.get("path", "")
    reason = api.access.allowed(user, Question(asked["verb"], path=path) if path else Question(asked["verb"], *place))
    return bool(reason), reason


async def create_object(api: Api, call: Call, obj: Object) -> bytes:
    """Stores a new object; its value. `obj` is decoded, and ours to change."""
    served, strategy = call.served, call.served.strategy
    _place(api, call, obj)
    strategy.default(obj)
    _fill_in(call, obj)
    rules.default_create(obj)
    _name_owners_once(call, obj)
    _manage(call, obj, None)
    asked = attributes(api, call, "CREATE", obj, None)
    await api.admission.mutate(asked)
    assert asked.obj is not None
    obj = asked.obj
    rules.default_create(obj)
    _name_owners_once(call, obj, " after mutating admission happens")
    _stamp(call, obj)
    strategy.prepare_create(obj)
    _validate_new(call, obj)
    allocate(api, call, obj, None)
    asked.obj, asked.name = obj, obj["metadata"]["name"]
    await api.admission.validate(asked)
    if not call.dry_run and revision_of(obj["metadata"].pop("resourceVersion", "")):
        raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
    key = served.key(call.namespace, asked.name)
    there = api.store.newest(key)
    if there is None:
        if call.dry_run:
            return _undecided(obj)
        with contextlib.suppress(StaleError):
            return (await api.store.put(key, lambda revision: stored(obj, revision), expected=None)).value
    error = already_exists(served.group, served.plural, asked.name)
    if there and b'"deletionTimestamp":' in there.value and decode(there.value)["metadata"].get("deletionTimestamp"):
        error.message = f"object is being deleted: {error.message}"
    raise error


def _name_owners_once(call: Call, obj: Object, when: str = "") -> None:
    if repeated := rules.drop_repeated_owners(obj):
        since = "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24"
        says = f".metadata.ownerReferences contains duplicate entries{when}; {since}; please fix your requests"
        call.warnings.append(f"{says}; duplicate UID(s) observed: {', '.join(repeated)}")


def _manage(call: Call, obj: Object, old: Object | None) -> None:
    """Notes who owns which field from now on."""
    entries = managed_on_update(call, obj, old)
    if call.served.kind == "Event" and old is not None:
        # Who owns fields of the other group's form is forgotten: they have other names here.
        entries = [entry for entry in entries if entry.get("apiVersion") == call.served.api_version]
    if entries:
        obj["metadata"]["managedFields"] = entries
    else:
        obj["metadata"].pop("managedFields", None)


def _undecided(obj: Object) -> bytes:
    """What a dry run shows: everything but a resource version."""
    if obj.get("apiVersion") == NEWER_EVENT:
        obj = whole(to_core(obj))
    return encode({key: value for key, value in obj.items() if key not in ("kind", "apiVersion")})


def _place(api: Api, call: Call, obj: Object) -> None:
    """Gives the object the namespace of the request, and a name if it wants one made."""
    metadata = obj.setdefault("metadata", {})
    put_in_namespace(call, metadata)
    prefix = metadata.get("generateName")
    if prefix and not metadata.get("name"):
        for _ in range(_TRIES):
            metadata["name"] = prefix[:58] + "".join(random.choices(_SUFFIX, k=5))  # noqa: S311
            if api.store.newest(call.served.key(call.namespace, metadata["name"])) is None:
                break


def _fill_in(call: Call, obj: Object) -> None:
    if call.served.strategy.generates_generation:
        obj["metadata"]["generation"] = 1


def _stamp(call: Call, obj: Object) -> None:
    obj["metadata"] |= {"uid": new_uid(), "creationTimestamp": call.now}


def _validate_new(call: Call, obj: Object) -> None:
    served, strategy = call.served, call.served.strategy
    errors = rules.validate_create(obj, namespaced=served.namespaced, name_errors=strategy.name_errors)
    own = strategy.validate_create(obj)
    errors = own if own and served.kind == "Event" else errors + own  # An event's metadata is looked at last.
    if errors:
        raise invalid_object(served.judged_group, served.kind, obj["metadata"].get("name") or "", errors)
    call.warnings += strategy.warnings(obj, None)


@dataclass(frozen=True, slots=True)
class Written:
    value: bytes
    created: bool = False


Make = Callable[[Object], Object]
"""Gives the object that is wanted, from a copy of the one that is there."""


async def update_object(api: Api, call: Call, make: Make, *, patched: bool) -> Written:
    """Replaces an existing object by what `make` makes of it; its value."""
    served = call.served
    key = served.key(call.namespace, call.name)
    for _ in range(_TRIES):
        row = api.store.newest(key)
        if row is None:
            raise not_found(served.group, served.plural, call.name)
        old = loaded(call, row)
        if served.custom:
            served.strategy.default(old)  # It may be older than a default: rules compare what is filled in alike.
        obj = make(loaded(call, row))
        conditional = bool(obj.get("metadata", {}).get("resourceVersion")) and not patched
        check_identity(call, obj, old, patched=patched)
        try:
            value = await _replace(api, call, row, old, obj, patched=patched)
        except StaleError:
            if conditional:
                raise conflict(served.group, served.plural, call.name) from None
            continue
        return Written(value)
    raise conflict(served.group, served.plural, call.name)


_PLAIN_STATUS = frozenset(["Pod", "Job", "Deployment", "ReplicaSet", "StatefulSet"])
"""Kinds written often that have no defaults in their status, which is all that counts of a status write."""


async def _replace(api: Api, call: Call, row: Row, old: Object, obj: Object, *, patched: bool) -> bytes:
    strategy, binding = call.served.strategy, call.subresource == "binding"
    if call.subresource != "status" or call.served.kind not in _PLAIN_STATUS:
        strategy.default(obj)
    carry_over(obj, old)
    if not patched:
        _name_owners_once(call, obj)
    if not binding:  # Nobody owns the choice of a node.
        _manage(call, obj, old)
    asked = attributes(api, call, "UPDATE", obj, old)
    await api.admission.mutate(asked)
    assert asked.obj is not None
    obj = asked.obj
    _name_owners_once(call, obj, " after mutating admission happens")
    prepare_for(call, obj, old)
    keep_address(call, obj, old)
    count_generation(call, obj, old)
    validate_changed(call, obj, old)
    allocate(api, call, obj, old)
    asked.obj = obj
    await api.admission.validate(asked)
    if settled(old, obj) is old:
        return row.value
    if call.dry_run:
        return _undecided(obj)
    return await put(api, call, row, obj)


async def put(api: Api, call: Call, row: Row, obj: Object) -> bytes:
    """The write itself. An object that was only waiting for its finalizers is gone with the last of them."""
    metadata = obj["metadata"]
    waits = (
        metadata.get("finalizers")
        or obj.get("spec", {}).get("finalizers")
        or metadata.get("deletionGracePeriodSeconds")
    )
    if metadata.get("deletionTimestamp") and not waits:
        last = decode(row.value)
        await api.store.remove(row.key, lambda revision: stored(last, revision), expected=row)
        return stored(obj, row.revision)  # The client sees what it wrote, which nobody will see again.
    return (await api.store.put(row.key, lambda revision: stored(obj, revision), expected=row)).value
