"""Taking Tidegate away. Nobody's work is left waiting for somebody who is gone.

1. It loses its rights, so that it puts nothing back;  2. webhooks and policy go: nothing more is held;  3. what is held
is let go as its owner wrote it, and gates are lifted;  4. the rest goes. What runs goes on; only kinds whose pods are
made behind a gate (a Deployment) roll over to pods without one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.controller.doors import dialect, hooks
from tidegate.controller.doors.keeping import RESOURCES as CONFIGURATIONS
from tidegate.controller.installation.deployment import NAME
from tidegate.controller.kinds import QUEUE_JOBS, WORKLOADS, served_kinds
from tidegate.kube import resources as r
from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.model.jobs import JobError, JobKind, Kinds, is_finished, is_suspended, with_suspend
from tidegate.model.kinds import GROUP, SERVED
from tidegate.workloads import GATE, SUBMITTER, WORKLOAD, restored, workload_name

Say = Callable[[str], None]
_PEOPLE = ("tidegate-admin", "tidegate-edit", "tidegate-view")
_GONE = (404, 409)


@dataclass(frozen=True, slots=True)
class Leaving:
    """What is to go."""

    namespace: str
    keep_held: bool = False
    """Whether what is held stays so, for another scheduler to take over."""
    definitions: bool = False
    """Whether the kinds go too, and with them every Queue, Workload and QueueJob, and the pods of QueueJobs."""


async def uninstall(client: Client, kinds: Kinds, how: Leaving, say: Say) -> None:
    await _delete(client, r.CLUSTERROLEBINDINGS, NAME, say)
    for resource in CONFIGURATIONS.values():
        for name in (hooks.NAME, dialect.NAME):
            await _delete(client, resource, name, say)
    await _delete(client, r.DEPLOYMENTS, NAME, say, how.namespace)
    if not how.keep_held:
        say(f"applications let go: {await let_go(client, kinds)}")
        say(f"pods let go: {await lift_gates(client)}")
    for name in (NAME, *_PEOPLE):
        await _delete(client, r.CLUSTERROLES, name, say)
    await _delete(client, r.NAMESPACES, how.namespace, say)
    if how.definitions:
        for kind in SERVED:
            await _delete(client, r.CRDS, f"{kind.definition.plural}.{GROUP}", say)


async def counted(client: Client) -> dict[str, int]:
    """How many objects of each of our kinds there are."""
    counts = {}
    for kind in SERVED:
        resource: Resource[Object] = Resource(GROUP, QUEUE_JOBS.version, kind.definition.plural, kind.__name__)
        try:
            counts[kind.__name__] = len((await client.list(resource)).items)
        except StatusError as absent:
            if absent.code != 404:
                raise
    return {name: count for name, count in counts.items() if count}


async def lift_gates(client: Client) -> int:
    """Pods that wait for us wait no more."""
    lifted = 0
    for pod in (await client.list(r.PODS)).items:
        gates = (pod.get("spec") or {}).get("schedulingGates") or []
        left = [gate for gate in gates if gate.get("name") != GATE]
        if left == gates:
            continue
        try:
            await client.update(r.PODS, {**pod, "spec": {**pod["spec"], "schedulingGates": left}})
            lifted += 1
        except StatusError as gone:
            if gone.code not in _GONE:
                raise
    return lifted


async def let_go(client: Client, kinds: Kinds) -> int:
    """Applications that we hold are as their owners wrote them, and run."""
    ours = await _held_by_us(client)
    changed = 0
    for served in await served_kinds(client, kinds):
        entry, resource = served.entry, served.resource
        if entry.group == GROUP or entry.makes is not None:
            continue
        for obj in (await client.list(resource)).items:
            try:
                wanted = _free(entry, obj, kinds.prefix(entry), ours)
            except JobError:
                continue
            if wanted != obj:
                changed += await _update(client, resource, wanted)
    return changed


async def _held_by_us(client: Client) -> dict[tuple[str, str], bool]:
    """By namespace and name of every Workload: whether its owner wants it to run."""
    try:
        found = (await client.list(WORKLOADS)).items
    except StatusError as absent:
        if absent.code != 404:
            raise
        return {}
    return {
        (str(each["metadata"]["namespace"]), str(each["metadata"]["name"])): each["spec"].get("active", True)
        is not False
        for each in found
    }


def _free(entry: JobKind, obj: Object, prefix: str, ours: dict[tuple[str, str], bool]) -> Object:
    meta = obj["metadata"]
    notes = meta.get("annotations") or {}
    key = (str(meta["namespace"]), str(notes.get(WORKLOAD) or workload_name(prefix, str(meta["name"]))))
    if key not in ours and SUBMITTER not in notes:
        return obj
    if entry.suspend is None:
        return dict(restored(obj))
    wants_to_run = ours.get(key, True) and not is_finished(entry, obj)
    held = is_suspended(entry, obj) and wants_to_run
    return dict(with_suspend(entry, restored(obj), False)) if held else obj


async def _update(client: Client, resource: Resource[Object], wanted: Object) -> int:
    try:
        await client.update(resource, wanted)
    except StatusError as refused:
        if refused.code not in _GONE:
            raise
        return 0
    return 1


async def _delete(
    client: Client, resource: Resource[Object], name: str, say: Say, namespace: str | None = None
) -> None:
    try:
        await client.delete(resource, name, namespace)
    except StatusError as absent:
        if absent.code != 404:
            raise
        return
    say(f"{resource.kind} {namespace + '/' if namespace else ''}{name}: deleted")
