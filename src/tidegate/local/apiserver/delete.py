"""DELETE: at once, after a grace period, or when finalizers let go."""

from __future__ import annotations

from datetime import datetime, timedelta

from tidegate.kube.wire import Object, Response
from tidegate.local.apiserver.answers import answer_data, answer_object, decode, encode, rendered_item, respond
from tidegate.local.apiserver.api import Api, timestamp
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.choice import choice_of
from tidegate.local.apiserver.delete_options import Options, options_of
from tidegate.local.apiserver.list import page_of
from tidegate.local.apiserver.list_options import list_options
from tidegate.local.apiserver.write import attributes, loaded, stored
from tidegate.local.errors import ApiError, conflict, not_found
from tidegate.local.store import Row, StaleError

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
_ORPHANS_BY_DEFAULT = {("", "replicationcontrollers"), ("batch", "jobs")}
"""Kinds whose dependents outlived them in the first versions of the API, and therefore still do."""


_RETURNED = {
    "": {"namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates", "resourcequotas",
         "serviceaccounts", "services"},
    "storage.k8s.io": {"csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"},
    "resource.k8s.io": {"deviceclasses", "devicetaintrules", "resourceclaims", "resourceclaimtemplates",
                        "resourceslices"},
}  # fmt: skip
"""Kinds whose deletion is answered with the object instead of a Status."""


async def delete(api: Api, call: Call) -> Response:
    options = options_of(call)
    row, gone = await delete_object(api, call, call.name, options)
    served = call.served
    if not gone:
        return answer_object(call, 202 if options.legacy_cascade else 200, row.value)
    if served.plural in _RETURNED.get(served.group, ()):
        return answer_object(call, 200, row.value)
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
            asked = attributes(api, call, "DELETE", None, obj)
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
        why = f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
        raise conflict(served.group, served.kind, name, f"{why}The object might have been deleted and then recreated")
    if options.version is not None and options.version != metadata["resourceVersion"]:
        why = f"the ResourceVersion in the precondition ({options.version}) does not match the ResourceVersion in "
        why += f"record ({metadata['resourceVersion']}). The object might have been modified"
        raise conflict(served.group, served.kind, name, why)


async def _decide(api: Api, call: Call, row: Row, obj: Object, options: Options) -> tuple[Row, bool]:
    metadata = obj["metadata"]
    if not metadata.get("deletionTimestamp"):
        call.served.strategy.prepare_delete(obj)
    grace = grace_of(call, obj, options)
    finalizers = _finalizers(call, metadata, options)
    held = bool(finalizers) or (_is_namespace(call) and bool(obj.get("spec", {}).get("finalizers")))
    if not held and grace is None:
        return await _remove(api, row, obj, options), True
    before = {key: metadata.get(key) for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")}
    _mark(api, call, obj, grace, finalizers)
    if before != {key: metadata.get(key) for key in before}:
        row = await _keep(api, row, obj, options)
    if held or metadata.get("deletionGracePeriodSeconds"):
        return row, False
    return await _remove(api, row, obj, options), True  # Its time is over as soon as it is marked.


async def _keep(api: Api, row: Row, obj: Object, options: Options) -> Row:
    if options.dry_run:
        return Row(row.revision, row.key, row.created, stored(obj, row.revision))
    return await api.store.put(row.key, lambda revision: stored(obj, revision), expected=row)


async def _remove(api: Api, row: Row, obj: Object, options: Options) -> Row:
    if options.dry_run:
        return row
    return await api.store.remove(row.key, lambda revision: stored(obj, revision), expected=row)


def _is_namespace(call: Call) -> bool:
    return not call.served.group and call.served.plural == "namespaces"


def _mark(api: Api, call: Call, obj: Object, grace: int | None, finalizers: list[str]) -> None:
    """Notes on the object that it is to go, and when."""
    metadata = obj["metadata"]
    known = metadata.get("deletionGracePeriodSeconds")
    if not metadata.get("deletionTimestamp"):
        metadata["deletionTimestamp"] = timestamp(api.clock() + timedelta(seconds=grace or 0))
        if not _ends_in_phases(call):
            metadata["deletionGracePeriodSeconds"] = grace or 0
            if metadata.get("generation"):
                metadata["generation"] += 1
    elif known and grace is not None and grace < known:  # A second delete can only hasten the first.
        begun = datetime.fromisoformat(metadata["deletionTimestamp"]) - timedelta(seconds=known)
        metadata["deletionTimestamp"] = timestamp(begun + timedelta(seconds=grace))
        metadata["deletionGracePeriodSeconds"] = grace
    if finalizers:
        metadata["finalizers"] = finalizers
    else:
        metadata.pop("finalizers", None)
    if _is_namespace(call):
        obj.setdefault("status", {})["phase"] = "Terminating"


def _ends_in_phases(call: Call) -> bool:
    """Namespaces and definitions know no grace: they are emptied first, by controllers of their own."""
    return _is_namespace(call) or call.served.kind == "CustomResourceDefinition"


def grace_of(call: Call, obj: Object, options: Options) -> int | None:
    """Seconds a pod has to end by itself: none if it runs nowhere or has ended. None for kinds without grace."""
    if call.served.group or call.served.plural != "pods":
        return None
    spec, phase, metadata = obj.get("spec", {}), obj.get("status", {}).get("phase"), obj["metadata"]
    given = options.grace_period_s
    if given is None:
        if metadata.get("deletionTimestamp"):
            return int(metadata.get("deletionGracePeriodSeconds") or 0)
        given = spec.get("terminationGracePeriodSeconds", 30)
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
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
