"""`tidegate simulate`: Scenario files in, timelines and tables out. What they mean is the simulator's to say."""

from __future__ import annotations

import argparse
from pathlib import Path

from tidegate.cli.arguments import whole
from tidegate.cli.queued.cluster import options

_EXAMPLES = """examples:
  tidegate simulate queues-test.yaml              # what happens when, and whether it is as expected
  tidegate simulate --from-cluster                # when does everybody who waits start?
  tidegate simulate --from-cluster --runs 10m     # the same, if pods run ten minutes where they do not say
  tidegate simulate --from-cluster what-if.yaml   # and if this happened: a node more, a job, another quota
  tidegate simulate --trace jobs.csv --capacity cpu=64 --policy drf --policy fifo
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    command.add_argument("files", nargs="*", type=Path, metavar="FILE", help="Scenario files (YAML)")
    live = "begin with the cluster as it is now; the steps of the FILEs count from here"
    command.add_argument("--from-cluster", action="store_true", help=live)
    runs = "with --from-cluster: how long pods run whose workload does not say so"
    command.add_argument("--runs", metavar="10m", help=runs)
    command.add_argument("--seed", type=whole(0), default=0, metavar="N", help="seed of all chance (default: 0)")
    command.add_argument("--plot", type=Path, metavar="OUT.svg", help="draw allocated against deserved over time")
    trace = "play the jobs of a CSV file (submit, duration, cpu, memory, user), in the FILEs' worlds or on --capacity"
    command.add_argument("--trace", type=Path, metavar="JOBS.csv", help=trace)
    command.add_argument("--capacity", metavar="cpu=64,memory=256Gi", help="what a --trace without FILE runs on")
    policy = "let all ClusterQueues be served by this policy; several times to compare policies side by side"
    command.add_argument("--policy", action="append", default=[], metavar="NAME", help=policy)
    command.add_argument("--timeline", action="store_true", help="show what happened of long runs as well")
    options(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.simulate.command import simulate

    return simulate(told)
