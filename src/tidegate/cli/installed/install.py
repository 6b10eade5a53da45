"""`tidegate install`: kinds, rights and the operator, on the cluster of the kubeconfig."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tidegate import __version__
from tidegate.cli.arguments import whole
from tidegate.cli.errors import CommandError
from tidegate.cli.installed import own_kinds

if TYPE_CHECKING:
    from tidegate.controller.installation.deployment import Choice
    from tidegate.kube.client import Client
    from tidegate.model.jobs import Kinds

Say = Callable[[str], None]
IN = "tidegate-system"

_EXAMPLES = """examples:
  tidegate install --dry-run | less                      # all that would be put there; -o json as one List
  tidegate install --image registry.example/tidegate:1   # may be repeated: what differs is changed
  tidegate install --manage all --context prod           # rule in every namespace but the system's
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    command.epilog = _EXAMPLES
    options(command)
    add = command.add_argument
    add("--dry-run", action="store_true", help="print what would be put there, as YAML, and put nothing")
    add("--manage", choices=["labelled", "all"], default="labelled", help="rule in namespaces labelled "
        "tidegate.dev/managed=true, or in all but the system's (default: %(default)s)")  # fmt: skip
    add("--image", default=f"tidegate:{__version__}", metavar="NAME", help="image to run (default: %(default)s)")
    add(
        "--replicas",
        type=whole(1),
        default=2,
        metavar="N",
        help="how many run; one of them leads (default: %(default)s)",
    )
    add("--wait", type=whole(0), default=120, metavar="SECONDS", help="how long to wait until it runs (default: "
        "%(default)s; 0: not at all)")  # fmt: skip
    own_kinds.register(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    choice, kinds = _choice(told), own_kinds.kinds_of(told.kinds)
    if told.dry_run:
        from tidegate.controller.installation.objects import everything

        print(_shown(everything(kinds, choice), told.output), end="")
        return 0
    from tidegate.cli.queued.cluster import on_cluster

    say, told_of = teller(told.output)

    async def work(client: Client, namespace: str) -> None:
        await _check_cluster(client)
        await _install(client, kinds, choice, told.wait, say)

    on_cluster(told, work, own=False)
    if told.output == "table":
        print("Tidegate is installed." if told.wait else "Tidegate is installed; its operator starts now.")
        if not choice.everywhere:
            print("It rules where you say so: kubectl label namespace NAME tidegate.dev/managed=true")
    else:
        from tidegate.cli.queued.tables import document

        print(document({"installed": told_of, "namespace": choice.namespace, "ready": bool(told.wait)}, told.output))
    return 0


def teller(form: str) -> tuple[Say, list[str]]:
    """Shows each line as it comes; for programs they are gathered, and people see them beside."""
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True, file=sys.stdout if form == "table" else sys.stderr)

    return say, lines


def _shown(objects: list[Any], form: str) -> str:
    if form != "json":
        return documents(objects)
    from tidegate.cli.queued.tables import document

    return document({"apiVersion": "v1", "kind": "List", "items": objects}, form) + "\n"


def _choice(told: argparse.Namespace) -> Choice:
    from tidegate.controller.installation.deployment import Choice

    return Choice(
        told.image,
        namespace=told.namespace or IN,
        everywhere=told.manage == "all",
        replicas=told.replicas,
        kinds=tuple(path.read_text() for path in told.kinds if path.is_file()),
    )


async def _check_cluster(client: Client) -> None:
    """One machine has its operator inside, and a second one would be in its way."""
    from tidegate.controller.bootstrap import is_inside

    if await is_inside(client):
        raise CommandError(
            "This server is one machine's own, made by `tidegate up`: queues are part of it, and there is nothing to "
            "install. Name a cluster with --context or --kubeconfig."
        )


async def _install(client: Client, kinds: Kinds, choice: Choice, wait_s: int, say: Say) -> None:
    from tidegate.controller.installation.arriving import available, install

    await install(client, kinds, choice, say)
    if not wait_s:
        return
    print(f"waiting for a replica in {choice.namespace}, at most {wait_s} s …", file=sys.stderr, flush=True)
    if not await available(client, choice, wait_s):
        raise CommandError(
            f"No replica was ready within {wait_s} s. Look at `kubectl -n {choice.namespace} get pods,events`."
        )


def documents(objects: list[Any]) -> str:
    """YAML documents, one after the other, with shared parts written out."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return "".join(
        "---\n" + yaml.dump(each, Dumper=Dumper, sort_keys=False, width=118, allow_unicode=True) for each in objects
    )
