"""`tidegate queue create|list|stop|resume`: the doors, and closing what is behind them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.arguments import amounts as amounts_of
from tidegate.cli.arguments import label, whole
from tidegate.cli.errors import CommandError
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
_MOST_WEIGHT = 1_000_000


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    verbs = command.add_subparsers(dest="verb", metavar="VERB", required=True)
    create = _verb(verbs, "create", "make a Queue", "create default -n team-a --create-namespace",
                   "create research --weight 2 --limit cpu=8 --limit memory=32Gi")  # fmt: skip
    create.add_argument("name", metavar="NAME", type=label("Queue"), help="of the Queue, in its namespace")
    create.add_argument("--cluster-queue", metavar="NAME", help="where it leads (default: root)")
    part = "its part among its neighbours (default: 1)"
    create.add_argument("--weight", type=whole(1, _MOST_WEIGHT), metavar="N", help=part)
    create.add_argument(
        "--limit", action="append", default=[], metavar="cpu=8", help="hard cap; several times if needed"
    )
    create.add_argument("--create-namespace", action="store_true", help="make the namespace, too, if it is not there")
    listing = _verb(verbs, "list", "show the Queues of a namespace", "list", "list -A")
    listing.add_argument("-A", "--all-namespaces", action="store_true", help="show the Queues of all namespaces")
    stop = _verb(verbs, "stop", "admit nothing new behind a ClusterQueue", "stop root", "stop root --drain")
    stop.add_argument("name", metavar="CLUSTERQUEUE", help="which, e.g. root")
    stop.add_argument("--drain", action="store_true", help="take back what runs, too")
    resume = _verb(verbs, "resume", "open a ClusterQueue again", "resume root")
    resume.add_argument("name", metavar="CLUSTERQUEUE", help="which, e.g. root")
    for each in (create, listing, stop, resume):
        options(each)
    command.set_defaults(run=_run)


def _verb(verbs: Any, name: str, about: str, *examples: str) -> argparse.ArgumentParser:
    """A verb with its help."""
    lines = "".join(f"  tidegate queue {each}\n" for each in examples)
    described = f"{about[0].upper()}{about[1:]}."
    made: argparse.ArgumentParser = verbs.add_parser(
        name, help=about, description=described, epilog=f"examples:\n{lines}"
    )
    return made


def _run(told: argparse.Namespace) -> int:
    verb = {"create": _create, "list": _list, "stop": _stop, "resume": _stop}[told.verb]

    async def work(client: Client, namespace: str) -> str:
        return await verb(client, namespace, told)

    print(on_cluster(told, work))
    return 0


async def _create(client: Client, namespace: str, told: argparse.Namespace) -> str:
    from tidegate.cli.queued.namespaces import check_namespace, make_namespace
    from tidegate.cli.queued.tables import document
    from tidegate.controller.kinds import QUEUES
    from tidegate.kube.client import StatusError
    from tidegate.model.codec import decode, encode
    from tidegate.model.problems import ManifestError

    spec: Json = {"clusterQueue": told.cluster_queue} if told.cluster_queue else {}
    if told.weight is not None:
        spec["weight"] = told.weight
    if told.limit:
        spec["limits"] = amounts_of("--limit", told.limit)
    manifest = {"kind": "Queue", "metadata": {"name": told.name, "namespace": namespace}, "spec": spec}
    try:
        body = encode(decode(manifest))
    except ManifestError as error:
        raise CommandError(str(error)) from None
    await _check_cluster_queue(client, told.cluster_queue)
    if told.create_namespace:
        await make_namespace(client, namespace)
    try:
        made = await client.create(QUEUES, body)
    except StatusError as refused:
        if refused.code == 404:
            await check_namespace(client, namespace)
        if refused.code == 409:
            change = f"`kubectl edit queue {told.name} -n {namespace}` changes it."
            raise CommandError(f"Queue {namespace}/{told.name} already exists. {change}") from None
        raise
    return f"Queue {namespace}/{told.name} is made." if told.output == "table" else document(made, told.output)


async def _check_cluster_queue(client: Client, name: str | None) -> None:
    """A Queue that leads nowhere is a slip in a name, more often than a ClusterQueue that is to come."""
    from tidegate.controller.kinds import CLUSTER_QUEUES
    from tidegate.kube.client import StatusError

    if name is None:
        return
    try:
        await client.get(CLUSTER_QUEUES, name)
    except StatusError as refused:
        if refused.code == 404 and "not found" in refused.message:
            raise CommandError(await _unknown(client, name)) from None
        if refused.code != 403:  # Not everybody may ask.
            raise


async def _list(client: Client, namespace: str, told: argparse.Namespace) -> str:
    from tidegate.cli.queued.namespaces import check_namespace
    from tidegate.cli.queued.tables import amounts, document, table
    from tidegate.controller.kinds import QUEUES

    listed = (await client.list(QUEUES, None if told.all_namespaces else namespace)).items
    if not listed and not told.all_namespaces:
        await check_namespace(client, namespace)
    if told.output != "table":
        return document(listed, told.output)
    if not listed:
        return f"Namespace {namespace} has no Queue. Make one: `tidegate queue create default -n {namespace}`."
    rows = [("NAME", "CLUSTERQUEUE", "WEIGHT", "LIMITS", "ALLOCATED", "PENDING", "ADMITTED")]
    for queue in listed:
        spec, status = queue.get("spec") or {}, queue.get("status") or {}
        limits = ", ".join(f"{text} {name}" for name, text in (spec.get("limits") or {}).items()) or "-"
        counts = str(status.get("pendingWorkloads", "-")), str(status.get("admittedWorkloads", "-"))
        leads = str(spec.get("clusterQueue", "root"))
        meta = queue["metadata"]
        name = f"{meta['namespace']}/{meta['name']}" if told.all_namespaces else str(meta["name"])
        weight = str(spec.get("weight", 1))
        rows.append((name, leads, weight, limits, amounts(status.get("allocated")), *counts))
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
        raise CommandError(await _unknown(client, told.name, namespace)) from None
    words = {"None": "is open", "Hold": "admits nothing new", "HoldAndDrain": "gives back all it holds"}
    return f"ClusterQueue {told.name} {words[stop]}." if told.output == "table" else document(changed, told.output)


async def _unknown(client: Client, name: str, namespace: str = "") -> str:
    from tidegate.cli.near import did_you_mean
    from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES

    queues = (await client.list(QUEUES, namespace)).items if namespace else []
    for queue in queues:
        if queue["metadata"]["name"] == name:
            leads = (queue.get("spec") or {}).get("clusterQueue", "root")
            return f"{name} is a Queue, and ClusterQueues are stopped. The one behind it is {leads}."
    known = [str(each["metadata"]["name"]) for each in (await client.list(CLUSTER_QUEUES)).items]
    return f"There is no ClusterQueue {name}. {did_you_mean(name, known)}"
