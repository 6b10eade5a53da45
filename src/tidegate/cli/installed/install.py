"""`tidegate install`: kinds, rights and the operator, on the cluster of the kubeconfig."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate import __version__
from tidegate.cli.errors import CommandError
from tidegate.cli.installed import own_kinds

if TYPE_CHECKING:
    from tidegate.controller.installation.deployment import Choice
    from tidegate.kube.client import Client
    from tidegate.model.jobs import Kinds

IN = "tidegate-system"


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    options(command, output=False)
    add = command.add_argument
    add("--dry-run", action="store_true", help="print what would be put there, as YAML, and put nothing")
    add("--manage", choices=["labelled", "all"], default="labelled", help="rule in namespaces labelled "
        "tidegate.dev/managed=true, or in all but the system's (default: %(default)s)")  # fmt: skip
    add("--image", default=f"tidegate:{__version__}", metavar="NAME", help="image to run (default: %(default)s)")
    add("--replicas", type=int, default=2, metavar="N", help="how many run; one of them leads (default: %(default)s)")
    add("--wait", type=float, default=120, metavar="SECONDS", help="how long to wait until it runs (default: "
        "%(default)g; 0: not at all)")  # fmt: skip
    own_kinds.register(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    if told.replicas < 1:
        raise CommandError("--replicas is below 1. Give a whole number of replicas.")
    choice, kinds = _choice(told), own_kinds.kinds_of(told.kinds)
    if told.dry_run:
        from tidegate.controller.installation.objects import everything

        print(documents(everything(kinds, choice)), end="")
        return 0
    from tidegate.cli.queued.cluster import on_cluster

    async def work(client: Client, namespace: str) -> int:
        return await _install(client, kinds, choice, told.wait)

    return on_cluster(told, work)


def _choice(told: argparse.Namespace) -> Choice:
    from tidegate.controller.installation.deployment import Choice

    return Choice(
        told.image,
        namespace=told.namespace or IN,
        everywhere=told.manage == "all",
        replicas=told.replicas,
        kinds=tuple(path.read_text() for path in told.kinds if path.is_file()),
    )


async def _install(client: Client, kinds: Kinds, choice: Choice, wait_s: float) -> int:
    from tidegate.controller.installation.arriving import available, install

    await install(client, kinds, choice, lambda line: print(line, flush=True))
    if wait_s > 0:
        print(f"waiting for a replica in {choice.namespace} …", flush=True)
        if not await available(client, choice, wait_s):
            raise CommandError(
                f"No replica was ready within {wait_s:g} s. Look at `kubectl -n {choice.namespace} get pods,events`."
            )
    print("Tidegate is installed." if wait_s > 0 else "Tidegate is installed; its operator starts now.")
    if not choice.everywhere:
        print("It rules where you say so: kubectl label namespace NAME tidegate.dev/managed=true")
    return 0


def documents(objects: list[Any]) -> str:
    """YAML documents, one after the other, with shared parts written out."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return "".join(
        "---\n" + yaml.dump(each, Dumper=Dumper, sort_keys=False, width=118, allow_unicode=True) for each in objects
    )
