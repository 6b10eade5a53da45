"""`tidegate cancel NAME…`: takes applications away, whether they wait or run; their pods and Workloads go with them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.errors import CommandError
from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]

_EXAMPLES = """examples:
  tidegate cancel train-x7k2p
  tidegate cancel -n team-a etl sweep     # several at once
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    command.add_argument("names", nargs="+", metavar="NAME", help="a workload, or the application it stands for")
    options(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.tables import document

    async def work(client: Client, namespace: str) -> list[Json]:
        from tidegate.cli.jobs.found import find_workload

        # All are found before any is taken away: a slip in one name is to cost nothing.
        found = [await find_workload(client, namespace, name) for name in told.names]
        return [await _cancel(client, workload) for workload in found]

    gone = on_cluster(told, work)
    if told.output != "table":
        print(document(gone, told.output))
        return 0
    for each in gone:
        print(f"{each['kind'].lower()}/{each['name']} is cancelled.")
    return 0


async def _cancel(client: Client, workload: Json) -> Json:
    """Takes away the application a Workload stands for; where it stands for itself, the Workload."""
    from tidegate.kube.client import StatusError

    meta, owner = workload["metadata"], workload["spec"].get("owner")
    namespace = meta["namespace"]
    try:
        if owner:
            await client.delete(await _resource(client, owner), owner["name"], namespace, uid=owner.get("uid"))
            return {"kind": owner["kind"], "name": owner["name"], "namespace": namespace}
        await _delete_alone(client, workload)
    except StatusError as refused:
        if refused.code == 404:
            raise CommandError(f"{meta['name']} is gone already. `tidegate status` shows what there is.") from None
        raise
    return {"kind": "Workload", "name": meta["name"], "namespace": namespace}


async def _resource(client: Client, owner: Json) -> Any:
    from tidegate.kube.discovery import served_resources

    for served in await served_resources(client):
        if served.resource.kind == owner["kind"] and served.resource.api_version == owner["apiVersion"]:
            return served.resource
    raise CommandError(f"The server no longer has the kind {owner['kind']}. Delete its Workload with kubectl.")


async def _delete_alone(client: Client, workload: Json) -> None:
    """A Workload without an application: a gang of pods made one by one, or one that somebody wrote."""
    from tidegate.cli.jobs.found import pods_of
    from tidegate.controller.kinds import WORKLOADS
    from tidegate.kube.resources import PODS

    namespace = workload["metadata"]["namespace"]
    for pod in await pods_of(client, workload):
        await client.delete(PODS, pod["metadata"]["name"], namespace)
    await client.delete(WORKLOADS, workload["metadata"]["name"], namespace)
