"""Rows of devices that are claimed rather than counted."""

from __future__ import annotations

from typing import Any

from tidegate.kube.wire import Object
from tidegate.local.tables.times import Since
from tidegate.local.tables.words import created, name_of, part


def claim(obj: Object, since: Since) -> list[Any]:
    status = part(obj, "status")
    states = ["deleted"] if "deletionTimestamp" in obj["metadata"] else []
    if status.get("allocation") is not None:
        states += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    return [name_of(obj), ",".join(states or ["pending"]), since(created(obj))]


def resource_slice(obj: Object, since: Since) -> list[Any]:
    spec = part(obj, "spec")
    where = (spec.get("nodeName") or "", spec.get("driver", ""), part(spec, "pool").get("name", ""))
    return [name_of(obj), *where, since(created(obj))]


def taint_rule(obj: Object, since: Since) -> list[Any]:
    taint = part(obj, "spec", "taint")
    added = since(taint["timeAdded"]) if taint.get("timeAdded") else ""
    told = [taint.get(key, "") for key in ("key", "value", "effect")]
    return [name_of(obj), *told, added, since(created(obj))]
