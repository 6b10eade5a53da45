"""DELETE: at once, after a grace period, or when finalizers let go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import msgspec

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_data, answer_object, decode, encode, rendered_item, respond
from tidegate.local.apiserver.api import Api, timestamp
from tidegate.local.apiserver.bodies import raw_body
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.choice import choice_of
from tidegate.local.apiserver.list import page_of
from tidegate.local.apiserver.list_options import list_options
from tidegate.local.apiserver.routes import is_true
from tidegate.local.apiserver.write import attributes, loaded, stored
from tidegate.local.errors import ApiError, bad_request, conflict, invalid, invalid_object, not_found, not_supported
from tidegate.local.schema.builtin import builtin_schema
from tidegate.local.store import Row, StaleError

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_ORPHANS_BY_DEFAULT = {("", "replicationcontrollers"), ("batch", "jobs")}
"""Kinds whose dependents outlived them in the first versions of the API, and therefore still do."""
_POLICIES = ("Foreground", "Background", "Orphan")


class _Preconditions(msgspec.Struct, rename={"version": "resourceVersion"}):
    uid: str | None = None
    version: str | None = None


class _Body(msgspec.Struct, rename="camel"):
    kind: str = ""
    grace_period_seconds: int | None = None
    preconditions: _Preconditions | None = None
    orphan_dependents: bool | None = None
    propagation_policy: str | None = None
    dry_run: list[str] | None = None


_OPTIONS = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_body = msgspec.json.Decoder(_Body).decode


@dataclass(frozen=True, slots=True)
class Options:
    """DeleteOptions, from the body or else from the query."""

    grace_period_s: int | None = None
    uid: str | None = None
    version: str | None = None
    policy: str | None = None
    dry_run: bool = False
    legacy_cascade: bool = False
    """`orphanDependents: false`: the answer then says 202 while dependents are still there."""


def options_of(call: Call) -> Options:
    query = call.query
    if call.request.body:
        try:
            body = _body(raw_body(call.request, builtin_schema(_OPTIONS)))
        except msgspec.DecodeError as error:
            raise bad_request(f"the body of the request is not a DeleteOptions: {error}") from None
        if body.dry_run and body.dry_run != ["All"]:
            wrong = not_supported("dryRun", body.dry_run, ["All"])
            raise invalid_object("meta.k8s.io", "DeleteOptions", "", [wrong])
    else:
        seconds = query.get("gracePeriodSeconds")
        orphan = query.get("orphanDependents")
        body = _Body(
            grace_period_seconds=int(seconds) if seconds and seconds.lstrip("-").isdecimal() else None,
            orphan_dependents=is_true(orphan) if orphan is not None else None,
            propagation_policy=query.get("propagationPolicy"),
        )
    return _checked(call, body)


def _checked(call: Call, body: _Body) -> Options:
    policy, orphan = body.propagation_policy, body.orphan_dependents
    errors = []
    if policy is not None and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", policy, why))
    elif policy is not None and policy not in _POLICIES:
        errors.append(not_supported("propagationPolicy", policy, [*_POLICIES, "nil"]))
    if errors:
        raise invalid_object("meta.k8s.io", "DeleteOptions", "", errors)
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    wanted = body.preconditions or _Preconditions()
    dry = call.dry_run or bool(body.dry_run)
    return Options(body.grace_period_seconds, wanted.uid, wanted.version, policy, dry, orphan is False)


async def delete(api: Api, call: Call) -> Response:
    options = options_of(call)
    row, gone = await delete_object(api, call, call.name, options)
    if not gone:
        return answer_object(call, 202 if options.legacy_cascade else 200, row.value)
    served = call.served
    details: Object = {"name": call.name, "group": served.group, "kind": served.plural}
    details["uid"] = decode(row.value)["metadata"]["uid"]
    details = {key: value for key, value in details.items() if value}
    success = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    return answer_data(call, 200, success)


async def delete_collection(api: Api, call: Call) -> Response:
    listing = list_options(call)
    choice = choice_of(call, listing)
    options = options_of(call)
    page = page_of(api, call, choice, listing)
    for row in page.rows:
        try:
            await delete_object(api, call, row.key.rpartition("/")[2], options)
        except ApiError as error:
            if error.code != 404:  # Somebody else was quicker: it is gone, as asked.
                raise
    gone = [rendered_item(call.served, row.value) for row in page.rows]
    kind = {"kind": call.served.list_kind, "apiVersion": call.served.api_version, "metadata": page.meta}
    return respond(call, 200, encode(kind)[:-1] + b',"items":[' + b",".join(gone) + b"]}")


async def delete_object(api: Api, call: Call, name: str, options: Options) -> tuple[Row, bool]:
    """Deletes, or marks for deletion; the object's last state, and whether it is gone."""
    served = call.served
    key = served.key(call.namespace, name)
    checked = False
    while True:
        row = api.store.newest(key)
        if row is None:
            raise not_found(served.group, served.plural, name)
        obj = loaded(call, row)
        _check_preconditions(call, name, obj, options)
        if not checked:
            asked = attributes(call, "DELETE", None, obj)
            asked.name, asked.dry_run = name, options.dry_run
            await api.admission.validate(asked)
            checked = True
            continue  # Admission may have taken its time: decide on what is there now.
        try:
            return await _decide(api, call, row, obj, options)
        except StaleError:
            continue


def _check_preconditions(call: Call, name: str, obj: Object, options: Options) -> None:
    metadata, served = obj["metadata"], call.served
    if options.uid is not None and options.uid != metadata["uid"]:
        why = f"Precondition failed: UID in precondition: {options.uid}, UID in object meta: {metadata['uid']}"
        raise conflict(served.group, served.plural, name, why)
    if options.version is not None and options.version != metadata["resourceVersion"]:
        why = f"Precondition failed: ResourceVersion in precondition: {options.version}, "
        why += f"ResourceVersion in object meta: {metadata['resourceVersion']}"
        raise conflict(served.group, served.plural, name, why)


async def _decide(api: Api, call: Call, row: Row, obj: Object, options: Options) -> tuple[Row, bool]:
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp"):
        call.served.strategy.prepare_delete(obj)
    grace = grace_of(call, obj, options)
    finalizers = _finalizers(call, metadata, options)
    held = bool(finalizers) or (_has_spec_finalizers(call) and bool(obj.get("spec", {}).get("finalizers")))
    if not held and not grace:
        if options.dry_run:
            return row, True
        return await api.store.remove(row.key, lambda revision: stored(obj, revision), expected=row), True
    before = {key: metadata.get(key) for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")}
    _mark(api, call, obj, grace, finalizers)
    after = {key: metadata.get(key) for key in before}
    if before == after:
        return row, False
    if options.dry_run:
        return Row(row.revision, row.key, row.created, stored(obj, row.revision)), False
    return await api.store.put(row.key, lambda revision: stored(obj, revision), expected=row), False


def _has_spec_finalizers(call: Call) -> bool:
    return not call.served.group and call.served.plural == "namespaces"


def _mark(api: Api, call: Call, obj: Object, grace: int, finalizers: list[str]) -> None:
    """Notes on the object that it is to go, and when."""
    metadata = obj["metadata"]
    known = metadata.get("deletionGracePeriodSeconds")
    if not metadata.get("deletionTimestamp"):
        if metadata.get("generation"):
            metadata["generation"] += 1
        metadata["deletionTimestamp"] = timestamp(api.clock() + timedelta(seconds=grace))
        metadata["deletionGracePeriodSeconds"] = grace
    elif known is not None and grace < known:  # A second delete can only hasten the first.
        metadata["deletionTimestamp"] = timestamp(api.clock() + timedelta(seconds=grace))
        metadata["deletionGracePeriodSeconds"] = grace
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if _has_spec_finalizers(call):
        obj.setdefault("status", {})["phase"] = "Terminating"


def grace_of(call: Call, obj: Object, options: Options) -> int:
    """Seconds a pod has to end by itself: none if it runs nowhere or has ended."""
    if call.served.group or call.served.plural != "pods":
        return 0
    spec, phase = obj.get("spec", {}), obj.get("status", {}).get("phase")
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    given = options.grace_period_s
    if given is None:
        given = spec.get("terminationGracePeriodSeconds", 30)
    return 1 if given < 0 else int(given)


def _finalizers(call: Call, metadata: Object, options: Options) -> list[str]:
    """The object's finalizers, with those by which garbage collection is told what to do with dependents."""
    present = list(metadata.get("finalizers") or [])
    policy = options.policy
    if policy is None:
        if ORPHAN in present or FOREGROUND in present:
            return present
        orphans = (call.served.group, call.served.plural) in _ORPHANS_BY_DEFAULT
        policy = "Orphan" if orphans else "Background"
    kept = [name for name in present if name not in (ORPHAN, FOREGROUND)]
    extra = {"Orphan": [ORPHAN], "Foreground": [FOREGROUND], "Background": []}[policy]
    return kept + extra
