"""YuniKorn's task groups: one per role, sized as the pods will really be.

A pod that is larger than its placeholder loses its place in the gang.
"""

from __future__ import annotations

import re
from typing import Any

from tidegate.dialects.draft import Draft, Fate
from tidegate.dialects.errors import DialectError
from tidegate.dialects.names import fit
from tidegate.model.jobs import Form, PodSetShape, inside, pod_group
from tidegate.model.jobs.language.paths import sequence
from tidegate.model.jobs.pods.requests import amounts, requested
from tidegate.model.resources import NOTHING, Resources

_KUBERNETES_MEMORY = re.compile(r"[0-9]+[KMGTP]i")
_MOST_MEMBERS = 2**31 - 1
_PLACING = ("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")


def group_name(draft: Draft, shape: PodSetShape) -> str:
    """As the kind's own operator calls the group of these pods."""
    if shape.place is not None and shape.place.form is Form.SPARK:
        return f"spark-{shape.name}"
    group = pod_group(draft.entry, draft.obj)
    if group is not None:
        return fit(group.name)
    # Placeholders are named after their group, and Ray's groups need not be called like pods.
    return fit(shape.role) if draft.entry.group == "ray.io" else shape.name


def task_groups(draft: Draft) -> tuple[Draft, list[dict[str, Any]]]:
    """The groups of all roles that have members to wait for; none where there is nothing to wait for together."""
    group = pod_group(draft.entry, draft.obj)
    if draft.entry.kind == "Pod" and group is None:
        return draft, []
    groups: list[dict[str, Any]] = []
    for shape in draft.shapes:
        members = group.size if group else shape.gang
        if shape.place is not None and shape.place.form is Form.SPARK:
            _check_spark_memory(draft, shape)
        if not members:
            draft = draft.noted(
                Fate.CHANGED, f"gang of {shape.role}", "none of its pods is waited for, as its minimum is 0"
            )
            continue
        if members < shape.count and not group:
            draft = draft.noted(
                Fate.CHANGED,
                f"gang of {shape.role}",
                f"{members} of its {shape.count} pods are waited for, its minimum",
            )
        groups.append(_group(draft, shape, members))
    return draft, groups


def _group(draft: Draft, shape: PodSetShape, members: int) -> dict[str, Any]:
    if members > _MOST_MEMBERS:
        raise DialectError(f"{shape.role} has {members} pods, more than YuniKorn can count; lower its minimum")
    written = shape.written
    larger = shape.requests.upper(_as_yunikorn_counts(shape))
    if larger != shape.requests:
        written = larger.quantities()
    # YuniKorn counts pods itself and refuses a group that does so, too.
    least = {name: text for name, text in written.items() if name != "pods"}
    group = {"name": group_name(draft, shape), "minMember": members, "minResource": least}
    return group | _placing(draft, shape)


def _as_yunikorn_counts(shape: PodSetShape) -> Resources:
    """The most that starting a pod takes in YuniKorn's eyes: a container that starts first and stays is counted twice
    while it starts. Where it is larger than all that comes after it, the pod would be larger than its placeholder."""
    if shape.place is None or shape.place.form is Form.SPARK or shape.place.pod_content.get("resources"):
        return NOTHING
    pod, at = shape.place.pod_content, shape.place.pod
    staying, most = NOTHING, NOTHING
    for index, container in enumerate(sequence(pod.get("initContainers"), (*at, "initContainers"))):
        each = requested(container.get("resources"), (*at, "initContainers", index, "resources"))
        if container.get("restartPolicy") == "Always":
            staying += each
            most = most.upper(each + staying)
    return most + amounts(pod.get("overhead"), (*at, "overhead")) if most else NOTHING


def _placing(draft: Draft, shape: PodSetShape) -> dict[str, Any]:
    """Where the pods may run, so that placeholders wait where they will."""
    if shape.place is None:
        return {}
    pod = dict(shape.place.pod_content)
    if shape.place.form is Form.SPARK:
        at = shape.place.pod
        selectors = (inside(draft.obj, (*at[:-1], "nodeSelector")), inside(draft.obj, (*at, "nodeSelector")))
        pod = dict(inside(draft.obj, at)) | {"nodeSelector": {**selectors[0], **selectors[1]}}
    return {key: pod[key] for key in _PLACING if pod.get(key)}


def _check_spark_memory(draft: Draft, shape: PodSetShape) -> None:
    """Spark refuses Kubernetes' notation, and a gang for pods that can never start would only hold room."""
    assert shape.place is not None
    role = inside(draft.obj, shape.place.pod)
    for field in ("memory", "memoryOverhead"):
        if _KUBERNETES_MEMORY.fullmatch(str(role.get(field, ""))):
            at = ".".join(map(str, (*shape.place.pod, field)))
            raise DialectError(
                f'{at} "{role[field]}" is Kubernetes\' notation, which Spark does not read; write e.g. 1g'
            )
