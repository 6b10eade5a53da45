"""Finding what a name means: a Workload, by its own name or by that of its application, and the pods it has."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]
_PATIENCE_S = 4.0
"""How long the operator is waited for: one that runs needs no second."""


async def find_workload(client: Client, namespace: str, name: str, *, looked_at: bool = False) -> Json:
    """The Workload that is meant: `etl`, `job/etl` or `job-etl`. CommandError with the nearest where there is none. A
    Job that was just made may have none yet, and its Workload no status: the operator is waited for, for a moment; also
    until it has `looked_at` it, where that is asked."""
    found = await _look(client, namespace, name)
    if found is None or (looked_at and not found.get("status")):
        found = await _awaited(client, namespace, name, looked_at=looked_at)
    if found is None:
        raise CommandError(await _unseen(client, namespace, name))
    return found


async def _awaited(client: Client, namespace: str, name: str, *, looked_at: bool) -> Json | None:
    """What has come of it when it is there, or when it was waited for long enough."""
    from tidegate.cli.jobs.news import News
    from tidegate.controller.kinds import WORKLOADS
    from tidegate.kube.resources import EVENTS, JOBS

    job = name.rpartition("/")[2]
    watched = (WORKLOADS, ""), (JOBS, f"metadata.name={job}"), (EVENTS, _not_queued_fields(job))
    found = None
    try:
        async with asyncio.timeout(_PATIENCE_S) as patience, News(client, namespace, *watched) as news:
            while found is None or (looked_at and not found.get("status")):
                await news.come()
                found = await _look(client, namespace, name)
    except TimeoutError:
        if not patience.expired():
            raise
    return found


async def _look(client: Client, namespace: str, name: str) -> Json | None:
    """The Workload that is meant; None where it may still come. CommandError where there is none, or several are."""
    from tidegate.controller.kinds import WORKLOADS

    listed = (await client.list(WORKLOADS, namespace)).items
    own = [one for one in listed if one["metadata"]["name"] == name]
    found = own or [one for one in listed if _is_called(one, name)]
    if len(found) > 1:
        names = ", ".join(sorted(one["metadata"]["name"] for one in found))
        raise CommandError(f"{name} is the name of several applications. Say which is meant: {names}.")
    if not found and not await _may_come(client, namespace, name):
        raise CommandError(await _unknown(client, namespace, name, listed))
    return found[0] if found else None


async def _unseen(client: Client, namespace: str, name: str) -> str:
    """Why a Job is not in line, as far as that can be told."""
    from tidegate.controller.kinds import QUEUES

    if not (await client.list(QUEUES, namespace)).items:
        make = f"`tidegate queue create default -n {namespace}` makes one."
        return f"{name} is a Job, and not in line: namespace {namespace} has no Queue. {make}"
    return (
        f"{name} is a Job, and not in line: no operator has seen it, or namespace {namespace} is not managed. Is one "
        f"running? `tidegate operator`, or `tidegate up`; `kubectl label namespace {namespace} "
        "tidegate.dev/managed=true` lets it rule there."
    )


async def _may_come(client: Client, namespace: str, name: str) -> bool:
    """Whether that is a Job of somebody's own of which nobody has said that it cannot be put in line. `tidegate run
    --detach` is over as soon as there is one."""
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import JOBS

    kind, _, name = name.rpartition("/")
    if kind not in ("", "job", "jobs"):
        return False
    try:
        job = await client.get(JOBS, name, namespace)
    except StatusError:
        return False
    return not job["metadata"].get("ownerReferences") and not await _not_queued(client, namespace, name)


def _is_called(workload: Json, name: str) -> bool:
    owner = workload["spec"].get("owner") or {}
    kind, slash, rest = name.rpartition("/")
    if not slash:
        return bool(owner.get("name") == name) or workload["metadata"]["name"] == f"podgroup-{name}"
    return owner.get("name") == rest and str(owner.get("kind", "")).lower() in (kind.lower(), kind.lower().rstrip("s"))


async def _unknown(client: Client, namespace: str, name: str, listed: list[Json]) -> str:
    from tidegate.cli.near import did_you_mean
    from tidegate.controller.kinds import WORKLOADS
    from tidegate.kube.client import StatusError

    if said := await _not_queued(client, namespace, name.rpartition("/")[2]):
        return said
    what = f"There is no workload {name} in namespace {namespace}."
    if near := did_you_mean(name, map(short_name, listed)):
        return f"{what} {near}"
    try:
        everywhere = (await client.list(WORKLOADS)).items
    except StatusError:
        everywhere = []
    for one in everywhere:
        if _is_called(one, name) or one["metadata"]["name"] == name:
            return f"{what} There is one in namespace {one['metadata']['namespace']}: add -n for it."
    return f"{what} `tidegate status` shows all there are."


async def _not_queued(client: Client, namespace: str, name: str) -> str:
    """What an application of that name was told, where it is there and could not be put in line."""
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import EVENTS

    try:
        found = (await client.list(EVENTS, namespace, fields=_not_queued_fields(name))).items
    except StatusError:  # Not everybody may read events.
        return ""
    last = max(found, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""), default=None)
    return f"{last['involvedObject']['kind']} {name} is not in line: {last['message']}." if last else ""


def _not_queued_fields(name: str) -> str:
    return f"involvedObject.name={name},reason=NotQueued"


def short_name(workload: Json) -> str:
    """As people call it: by its application, where it has one."""
    return str((workload["spec"].get("owner") or {}).get("name") or workload["metadata"]["name"])


async def pods_of(client: Client, workload: Json) -> list[Json]:
    """Its pods, by name; those that wait for it to be granted included."""
    from tidegate.kube.resources import PODS
    from tidegate.workloads import asks_as

    meta = workload["metadata"]
    listed = (await client.list(PODS, meta["namespace"])).items
    mine = [pod for pod in listed if asks_as(pod) == meta["name"]]
    return sorted(mine, key=lambda pod: str(pod["metadata"]["name"]))
