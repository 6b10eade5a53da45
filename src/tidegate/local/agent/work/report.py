"""Reporting a pod's status: only when it says something new, and never to a pod of the same name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidegate.kube.client import Client, StatusError
from tidegate.kube.resources import PODS
from tidegate.local.agent.work.folder import Work

Spec = Mapping[str, Any]


def overlaid(pod: Spec, sent: Mapping[str, Any] | None) -> Spec:
    """The pod with the status last sent: the copy that came by watch may be older. An end said by others stands."""
    status = pod.get("status") or {}
    if sent is None or status.get("phase") in ("Succeeded", "Failed"):
        return pod
    ours = {each["type"]: each for each in sent["conditions"]}
    others = [each for each in status.get("conditions") or [] if each["type"] not in ours]
    return {**pod, "status": {**status, **sent, "conditions": [*ours.values(), *others]}}


async def report(client: Client, pod: Spec, work: Work, status: dict[str, Any]) -> None:
    """Patches the status if it differs from what the server has. A pod that has gone needs no status."""
    if status == work.sent or _says(pod.get("status") or {}, status):
        return
    meta = pod["metadata"]
    try:
        patch = {"metadata": {"uid": meta["uid"]}, "status": _replacing(pod.get("status") or {}, status)}
        await client.patch(PODS, meta["name"], patch, meta["namespace"], type="strategic", subresource="status")
    except StatusError as error:
        if error.code not in (404, 409):
            raise
    work.sent = status


def _replacing(present: Mapping[str, Any], status: dict[str, Any]) -> dict[str, Any]:
    """The status as a patch: addresses are merged by value, so other ones than before must be told to replace them."""
    others = [key for key in ("podIPs", "hostIPs") if present.get(key) not in (None, status.get(key)) and key in status]
    return status | {key: [*status[key], {"$patch": "replace"}] for key in others}


def _says(present: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Whether the server's status holds all of ours already."""
    if any(present.get(key) != value for key, value in status.items() if key != "conditions"):
        return False
    there = {each["type"]: each for each in present.get("conditions") or []}
    keys = ("status", "reason", "message")
    return all(
        each["type"] in there and all(there[each["type"]].get(key) == each[key] for key in keys)
        for each in status["conditions"]
    )
