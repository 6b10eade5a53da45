"""`tidegate render`: objects and queue trees in the words of another scheduler. What the words are is the dialects' to
say."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli.queued.cluster import output

_EXAMPLES = """examples:
  tidegate render --for kueue job.yaml                       # the same job for Kueue
  tidegate render --for yunikorn --explain spark.yaml        # and what could not be carried over
  tidegate render --queues --for volcano queues.yaml         # the tree of queues
  tidegate render --queues --for yunikorn --check live.yaml  # where a scheduler's own configuration differs
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    files = "manifests (YAML or JSON); - reads standard input; with --queues and none, the cluster's own queues"
    command.add_argument("files", nargs="*", metavar="FILE", help=files)
    known = "kueue, yunikorn, volcano, scheduler-plugins, tidegate, or one that an installed package offers"
    command.add_argument("--for", dest="scheduler", metavar="SCHEDULER", default="", help=f"the scheduler: {known}")
    command.add_argument("--config", type=Path, metavar="FILE", help="a queueconfig: scheduler, job types, gangs")
    command.add_argument("--kinds", type=Path, action="append", default=[], metavar="FILE", help="kinds of your own")
    who = command.add_argument_group("who submits what")
    who.add_argument("--organisation", "--organization", default="", metavar="NAME", help="the tenant")
    who.add_argument("--user", default="", metavar="NAME", help="the person")
    who.add_argument("--groups", default="", metavar="A,B", help="the person's groups, with commas between them")
    who.add_argument(
        "--job-type", default="", metavar="TYPE", help="ray, spark, … (default: that of the object's kind)"
    )
    who.add_argument("--resource-type", default="", metavar="TYPE", help="first part of the application id")
    who.add_argument("--id", default="", metavar="ID", help="what makes the application id unique")
    who.add_argument("--queue", default="", metavar="QUEUE", help="the queue, in the scheduler's own words")
    command.add_argument("-n", "--namespace", default="", metavar="NAME", help="namespace of objects that name none")
    command.add_argument("--queues", action="store_true", help="render the queue tree only")
    command.add_argument(
        "--check", type=Path, metavar="FILE", help="with --queues: say where this configuration differs"
    )
    command.add_argument(
        "--explain", action="store_true", help="say what could not be carried over, and what became of it"
    )
    output(command, "yaml")
    command.add_argument("--kubeconfig", type=Path, metavar="FILE", help="the cluster whose queues are meant")
    command.add_argument("--context", metavar="NAME", help="the context of the kubeconfig")
    command.epilog = _EXAMPLES
    command.set_defaults(run=_run, usage_error=command.error)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.render.command import render_command

    return render_command(told)
