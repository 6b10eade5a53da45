"""`tidegate uninstall`: takes the operator away and lets go what waits; what runs goes on running."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidegate.cli.errors import CommandError
from tidegate.cli.installed import own_kinds
from tidegate.cli.installed.install import IN, Say, teller

if TYPE_CHECKING:
    from tidegate.kube.client import Client
    from tidegate.model.jobs import Kinds

_ABOUT = """\
examples:
  tidegate uninstall                 # keeps queues and Workloads
  tidegate uninstall --keep-held     # for another scheduler to take over what waits
  tidegate uninstall --crds --yes    # everything, for good

Webhooks and policy go first: nothing more is held. Applications that wait are let go as their owners wrote them,
and gates of pods are lifted: all of it starts at once, as far as the cluster has room. What runs goes on running.
Queues, ClusterQueues and Workloads stay, unless --crds is given as well."""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    command.epilog = _ABOUT
    options(command)
    add = command.add_argument
    add("--keep-held", action="store_true", help="leave applications held and pods gated, for another scheduler")
    add("--crds", action="store_true", help="the kinds too, with every Queue, Workload and QueueJob there is")
    add("--yes", action="store_true", help="with --crds: do it without asking")
    own_kinds.register(command)
    command.set_defaults(run=_run, installed_in=IN)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.cluster import on_cluster

    kinds = own_kinds.kinds_of(told.kinds)
    say, told_of = teller(told.output)

    async def work(client: Client, _: str) -> None:
        await _uninstall(client, kinds, told, say)

    on_cluster(told, work, own=False)
    if told.output == "table":
        kept = "" if told.crds else " Its kinds and your queues are kept; --crds --yes deletes them."
        print(f"Tidegate is uninstalled.{kept}")
    else:
        from tidegate.cli.queued.tables import document

        print(document({"uninstalled": told_of}, told.output))
    return 0


async def _uninstall(client: Client, kinds: Kinds, told: argparse.Namespace, say: Say) -> None:
    from tidegate.controller.installation.leaving import Leaving, counted, uninstall

    if told.crds and not told.yes:
        there = ", ".join(f"{count} {name}" for name, count in (await counted(client)).items()) or "no objects"
        raise CommandError(f"--crds would delete {there} for good. Give --yes as well to do so.")
    how = Leaving(told.namespace or told.installed_in, keep_held=told.keep_held, definitions=told.crds)
    await uninstall(client, kinds, how, say)
