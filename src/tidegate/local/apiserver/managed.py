"""Managed fields, as the verbs need them: which schema, which manager, what a request cannot change."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.apiserver.call import Call
from tidegate.local.apiserver.fields import at
from tidegate.local.patch import Applier, FieldSet, reset_fields, server_side_apply, track_update


def managed_on_update(call: Call, obj: Object, old: Object | None) -> Any:
    """metadata.managedFields after this write; an apply has already settled them."""
    if call.applying:
        return obj["metadata"].get("managedFields") or []
    served = call.served
    tracked = track_update(
        old, obj, manager=call.field_manager, api_version=served.api_version, schema=served.whole_schema, now=call.now,
        subresource=call.subresource, reset=_reset(call),
    )  # fmt: skip
    entries = tracked["metadata"].get("managedFields") or []
    if call.subresource == "scale" and served.scale and old is not None:
        if not at(served.scale.spec_replicas.lstrip("."))(old):
            return old["metadata"].get("managedFields") or []  # Kubernetes loses sight of a size that was not there,
        # and of any other it does not say when it was set.
        entries = [{k: v for k, v in e.items() if k != "time" or e.get("subresource") != "scale"} for e in entries]
    return entries


def applied(call: Call, live: Object | None, config: Any, force: bool) -> Object:
    """The object after a server-side apply of `config`, not yet decoded."""
    served = call.served
    applier = Applier(
        manager=call.field_manager, force=force, now=call.now, schema=served.whole_schema,
        api_version=served.api_version, kind=served.kind, subresource=call.subresource, reset=_reset(call),
    )  # fmt: skip
    call.applying = True
    return server_side_apply(live, config, applier)


def _reset(call: Call) -> FieldSet:
    served = call.served
    has_status = "status" in served.subresources
    return reset_fields(served.group, served.kind, call.subresource, has_status=has_status, custom=served.custom)
