"""`tidegate operator`: the controllers against any Kubernetes, one leading at a time."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    options(command, output=False)
    command.add_argument(
        "--manage", choices=["labelled", "all"], default="labelled",
        help="rule in namespaces labelled tidegate.dev/managed=true, or in all but the system's (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--lease-namespace",
        default="kube-system",
        metavar="NAME",
        help="where the leader's lease is (default: %(default)s)",
    )
    taken_over = "how soon another operator takes over when the leader dies (default: %(default)s)"
    command.add_argument("--lease-seconds", type=int, default=15, metavar="N", help=taken_over)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    import logging

    from tidegate.cli.queued.cluster import on_cluster

    if told.lease_seconds < 1:
        raise CommandError("--lease-seconds is below 1. Give a whole number of seconds.")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")

    async def work(client: Client, namespace: str) -> int:
        from tidegate.assembly import lead

        everywhere = told.manage == "all"
        await lead(client, namespace=told.lease_namespace, everywhere=everywhere, lease_s=told.lease_seconds)
        return 0

    return on_cluster(told, work)
