"""`tidegate logs NAME`: what the pods of a workload say."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.arguments import whole
from tidegate.cli.errors import CommandError
from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    from tidegate.cli.jobs.streams import Streams
    from tidegate.kube.client import Client

Json = dict[str, Any]

_EXAMPLES = """examples:
  tidegate logs train-x7k2p               # the name that `tidegate run` and `tidegate status` show
  tidegate logs -f train-x7k2p            # until it has ended; also before it has begun
  tidegate logs sweep --pod sweep-3-qq8vz # one pod of many
  tidegate logs sweep -o json             # a JSON object for every line: pod, line
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    command.add_argument("name", metavar="NAME", help="a workload, or the application it stands for")
    command.add_argument("-f", "--follow", action="store_true", help="go on until it has ended")
    command.add_argument("--pod", metavar="NAME", help="of this pod alone")
    command.add_argument("--tail", type=whole(0), metavar="N", help="the last lines of each pod alone")
    options(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    async def work(client: Client, namespace: str) -> int:
        return await _logs(client, namespace, told)

    return on_cluster(told, work)


async def _logs(client: Client, namespace: str, told: argparse.Namespace) -> int:
    from tidegate.cli.jobs.found import find_workload, pods_of
    from tidegate.cli.jobs.streams import Streams, UnheardError

    workload = await find_workload(client, namespace, told.name)
    asked = sum(int(each["count"]) for each in workload["spec"]["podSets"])
    query = {"follow": "true"} if told.follow else {}
    query |= {} if told.tail is None else {"tailLines": str(told.tail)}
    streams = Streams(client, namespace, several=asked > 1 and not told.pod, query=query, form=told.output)
    streams.follow(_chosen(await pods_of(client, workload), told.pod))
    try:
        if told.follow and not _is_over(workload):
            await _to_the_end(client, namespace, told, streams)
        await streams.ended()
    except UnheardError as error:
        if error.is_unread:
            raise BrokenPipeError from None
        raise CommandError(f"What it says cannot be written: {error}. Make room, or send it elsewhere.") from None
    if not streams.begun:
        raise CommandError(f"{told.name} has said nothing: no pod of it has begun. See `tidegate why {told.name}`.")
    return 0 if streams.is_whole else 1


async def _to_the_end(client: Client, namespace: str, told: argparse.Namespace, streams: Streams) -> None:
    """Follow every pod that comes, until it has ended or nobody hears it any more."""
    from tidegate.cli.jobs.found import find_workload, pods_of
    from tidegate.cli.jobs.interrupts import first
    from tidegate.cli.jobs.news import News
    from tidegate.controller.kinds import WORKLOADS
    from tidegate.kube.resources import PODS

    async with News(client, namespace, (WORKLOADS, ""), (PODS, "")) as news:
        while not streams.unheard.is_set():
            await first(news.come(), streams.unheard.wait())
            try:
                workload = await find_workload(client, namespace, told.name)
                pods = await pods_of(client, workload)
            except OSError:  # It goes on meanwhile, and so does this when the server is back.
                streams.waiting()
                continue
            except CommandError:
                await streams.ended()
                gone = f"{told.name} is gone: it was cancelled, or deleted, meanwhile. Nothing follows."
                raise CommandError(gone) from None
            streams.follow(_chosen(pods, told.pod))
            if _is_over(workload):
                return


def _chosen(pods: list[Json], name: str | None) -> list[Json]:
    if name is None:
        return pods
    from tidegate.cli.near import did_you_mean

    chosen = [pod for pod in pods if pod["metadata"]["name"] == name]
    if not chosen:
        near = did_you_mean(name, (str(pod["metadata"]["name"]) for pod in pods))
        raise CommandError(f"It has no pod {name}. {near or 'It has none at all just now.'}")
    return chosen


def _is_over(workload: Json) -> bool:
    return (workload.get("status") or {}).get("state") == "Finished"
