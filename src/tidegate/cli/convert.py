"""`tidegate convert`: queues of another system as Tidegate's."""

from __future__ import annotations

import argparse

from tidegate.cli.queued.cluster import options

_EXAMPLES = """examples:
  tidegate convert --from kueue kueue.yaml > queues.yaml
  kubectl get clusterqueues.kueue.x-k8s.io -o yaml | tidegate convert --from kueue --explain -
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.add_argument("files", nargs="+", metavar="FILE", help="manifests (YAML or JSON); - reads standard input")
    command.add_argument(
        "--from", dest="source", required=True, choices=["kueue"], help="what the files are written for"
    )
    command.add_argument(
        "--explain", action="store_true", help="say what could not be carried over, and what became of it"
    )
    options(command, shows="yaml", asks=False)
    command.epilog = _EXAMPLES
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.errors import CommandError
    from tidegate.cli.render.documents import documents, show
    from tidegate.dialects.queues import from_kueue

    try:
        done = from_kueue(documents(told.files))
    except ValueError as error:
        raise CommandError(str(error).replace("\n", "\n  ")) from None
    if not done.objects:
        raise CommandError(
            "The files have no queues of Kueue's. Give ClusterQueues, LocalQueues, Cohorts or ResourceFlavors."
        )
    show(done.objects, done.notes, output=told.output, explain=told.explain)
    return 0
