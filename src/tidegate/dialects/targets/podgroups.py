"""PodGroups, which Volcano and the scheduler plugins of Kubernetes have in common: how many pods must start together,
and what they need in all."""

from __future__ import annotations

from typing import Any

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.errors import DialectError
from tidegate.dialects.intent.policy import scheduling_policy
from tidegate.dialects.names import dns_name
from tidegate.model.jobs import PodSetShape, inside, pod_group
from tidegate.model.resources import NOTHING, Resources

_MOST_MEMBERS = 2**31 - 1


def pod_group_name(draft: Draft) -> str:
    """As the kind's own operator would call it, so that there are not two."""
    group = pod_group(draft.entry, draft.obj)
    if group is not None:
        return dns_name(group.name, "the pod group")
    if not draft.name:
        raise DialectError("the object has no name, and its PodGroup needs one; give it metadata.name")
    if draft.entry.group == "ray.io":
        return dns_name(f"ray-{draft.name}-pg", "the pod group")
    if draft.entry.group == "kubeflow.org":
        return dns_name(draft.name, "the pod group")
    return dns_name(f"{draft.name}-pg", "the pod group")


def members(draft: Draft) -> int:
    """How many pods must start together. Pods that others make do not count: nothing could start."""
    group = pod_group(draft.entry, draft.obj)
    if group is not None:
        return group.size
    if draft.entry.kind == "StatefulSet" and inside(draft.obj, ("spec",)).get("podManagementPolicy") != "Parallel":
        return 1  # Each pod is made once the one before it runs.
    total = sum(shape.floor for shape in draft.shapes if not shape.later)
    wanted = scheduling_policy(draft).members or total
    if wanted > _MOST_MEMBERS:
        raise DialectError(f"{wanted} pods are more than a PodGroup can count; lower the minimum")
    return wanted


def resources(draft: Draft) -> dict[str, Any]:
    """What the gang needs in all: as the object says, or counted."""
    stated = scheduling_policy(draft).resources
    return dict(stated) if stated else _counted(draft).quantities()


def _counted(draft: Draft) -> Resources:
    """With what comes later, so that the gang does not stall half-way."""
    group = pod_group(draft.entry, draft.obj)
    if group is not None:
        return sum((shape.containers * group.size for shape in draft.shapes), NOTHING)
    left = members(draft) if scheduling_policy(draft).members else _MOST_MEMBERS
    total = NOTHING
    for shape in draft.shapes:
        count = min(_reserved(shape), left)
        left -= count
        total += shape.containers * count
    return total


def _reserved(shape: PodSetShape) -> int:
    return shape.gang if shape.later else shape.floor


def by_role(draft: Draft) -> dict[str, int]:
    """Members by role; empty where every pod is a member anyway, or there is one role only."""
    waited = [shape for shape in draft.shapes if not shape.later]
    if len(waited) < 2 or all(shape.floor == shape.count for shape in waited) or scheduling_policy(draft).members:
        return {}
    return {shape.name: shape.floor for shape in waited if shape.floor}


def metadata(draft: Draft, name: str) -> dict[str, Any]:
    """Beside the object, and gone with it where the object has a uid already."""
    result: dict[str, Any] = {"name": name} | ({"namespace": draft.namespace} if draft.namespace else {})
    own = inside(draft.obj, ("metadata",))
    if own.get("uid"):
        owner = {key: draft.obj.get(key) for key in ("apiVersion", "kind")}
        result["ownerReferences"] = [{**owner, "name": own.get("name"), "uid": own["uid"]}]
    return result


def noted_owner(draft: Draft) -> Draft:
    """What the reader should know of the PodGroup: who deletes it, and which pods it does not wait for."""
    if pod_group(draft.entry, draft.obj) is None:
        draft = draft.sharing_noted()
    waited, wanted = members(draft), sum(shape.count for shape in draft.shapes)
    if waited < wanted and pod_group(draft.entry, draft.obj) is None:
        draft = draft.noted(
            Fate.CHANGED, "gang", f"{waited} of {wanted} pods are waited for; the rest start when they can"
        )
    if inside(draft.obj, ("metadata",)).get("uid"):
        return draft
    return draft.noted(
        Fate.NEEDS, "PodGroup", "it is not owned by the object, which has no uid yet; delete it with the object"
    )
