"""`tidegate queue create|list|stop|resume`: the doors, and closing what is behind them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.errors import CommandError, UsageError
from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]

_EXAMPLES = """examples:
  tidegate queue create default -n team-a                # a door for a namespace
  tidegate queue create gpu --limit nvidia.com/gpu=4 --weight 2
  tidegate queue list -n team-a
  tidegate queue stop root                               # admit nothing new; --drain takes back what runs
  tidegate queue resume root
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    verbs = command.add_subparsers(dest="verb", metavar="VERB", required=True)
    create = verbs.add_parser("create", help="make a Queue", description="Make a Queue.")
    create.add_argument("name", metavar="NAME", help="of the Queue, in its namespace")
    create.add_argument("--cluster-queue", metavar="NAME", help="where it leads (default: root)")
    create.add_argument("--weight", type=int, metavar="N", help="its part among its neighbours (default: 1)")
    create.add_argument(
        "--limit", action="append", default=[], metavar="cpu=8", help="hard cap; several times if needed"
    )
    listing = verbs.add_parser(
        "list", help="show the Queues of a namespace", description="Show the Queues of a namespace."
    )
    stop = verbs.add_parser(
        "stop", help="admit nothing new behind a ClusterQueue", description="Admit nothing new behind a ClusterQueue."
    )
    stop.add_argument("name", metavar="CLUSTERQUEUE", help="which, e.g. root")
    stop.add_argument("--drain", action="store_true", help="take back what runs, too")
    resume = verbs.add_parser("resume", help="open a ClusterQueue again", description="Open a ClusterQueue again.")
    resume.add_argument("name", metavar="CLUSTERQUEUE", help="which, e.g. root")
    for each in (create, listing, stop, resume):
        options(each)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    verb = {"create": _create, "list": _list, "stop": _stop, "resume": _stop}[told.verb]

    async def work(client: Client, namespace: str) -> str:
        return await verb(client, namespace, told)

    print(on_cluster(told, work))
    return 0


async def _create(client: Client, namespace: str, told: argparse.Namespace) -> str:
    from tidegate.cli.queued.tables import document
    from tidegate.controller.kinds import QUEUES
    from tidegate.model.codec import decode, encode
    from tidegate.model.problems import ManifestError

    spec: Json = {"clusterQueue": told.cluster_queue} if told.cluster_queue else {}
    if told.weight is not None:
        spec["weight"] = told.weight
    if told.limit:
        spec["limits"] = dict(_limit(each) for each in told.limit)
    manifest = {"kind": "Queue", "metadata": {"name": told.name, "namespace": namespace}, "spec": spec}
    try:
        body = encode(decode(manifest))
    except ManifestError as error:
        raise CommandError(str(error)) from None
    made = await client.create(QUEUES, body)
    return f"Queue {namespace}/{told.name} is made." if told.output == "table" else document(made, told.output)


def _limit(text: str) -> tuple[str, str]:
    name, equals, amount = text.partition("=")
    if not (name and equals and amount):
        raise UsageError(f'"{text}" is not a limit. Write a resource and an amount, e.g. --limit cpu=8.')
    return name, amount


async def _list(client: Client, namespace: str, told: argparse.Namespace) -> str:
    from tidegate.cli.queued.tables import amounts, document, table
    from tidegate.controller.kinds import QUEUES

    listed = (await client.list(QUEUES, namespace)).items
    if told.output != "table":
        return document(listed, told.output)
    if not listed:
        return f"Namespace {namespace} has no Queue. Make one: `tidegate queue create default -n {namespace}`."
    rows = [("NAME", "CLUSTERQUEUE", "LIMITS", "ALLOCATED", "PENDING", "ADMITTED")]
    for queue in listed:
        spec, status = queue.get("spec") or {}, queue.get("status") or {}
        limits = ", ".join(f"{text} {name}" for name, text in (spec.get("limits") or {}).items()) or "-"
        counts = str(status.get("pendingWorkloads", "-")), str(status.get("admittedWorkloads", "-"))
        leads = str(spec.get("clusterQueue", "root"))
        rows.append((queue["metadata"]["name"], leads, limits, amounts(status.get("allocated")), *counts))
    return table(rows)


async def _stop(client: Client, namespace: str, told: argparse.Namespace) -> str:
    from tidegate.cli.queued.tables import document
    from tidegate.controller.kinds import CLUSTER_QUEUES
    from tidegate.kube.client import StatusError

    stop = "None" if told.verb == "resume" else ("HoldAndDrain" if told.drain else "Hold")
    try:
        changed = await client.patch(CLUSTER_QUEUES, told.name, {"spec": {"stop": stop}})
    except StatusError as refused:
        if refused.code != 404 or "not found" not in refused.message:
            raise
        raise CommandError(await _unknown(client, told.name)) from None
    words = {"None": "is open", "Hold": "admits nothing new", "HoldAndDrain": "gives back all it holds"}
    return f"ClusterQueue {told.name} {words[stop]}." if told.output == "table" else document(changed, told.output)


async def _unknown(client: Client, name: str) -> str:
    from tidegate.cli.near import did_you_mean
    from tidegate.controller.kinds import CLUSTER_QUEUES

    known = [str(each["metadata"]["name"]) for each in (await client.list(CLUSTER_QUEUES)).items]
    return f"There is no ClusterQueue {name}. {did_you_mean(name, known)}"
