"""`tidegate simulate --from-cluster`: the live state read, and when everybody who waits would start."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tidegate.cli.errors import UsageError
from tidegate.cli.queued.cluster import on_cluster
from tidegate.cli.queued.tables import span
from tidegate.model.duration import Duration
from tidegate.scheduler import message
from tidegate.sim.live.adopting import Live
from tidegate.sim.live.starting import Start, endless, starts
from tidegate.sim.scenario.playing import Result

if TYPE_CHECKING:
    from tidegate.kube.client import Client

_MOST_NAMED = 3


def read_live(told: argparse.Namespace) -> Live:
    """The cluster that is meant, as it is now."""
    from tidegate.sim.live.reading import read_cluster

    runs = None
    if told.runs is not None:
        try:
            runs = max(1, Duration.parse(told.runs).seconds)
        except ValueError as error:
            raise UsageError(f"--runs: {error}.") from None

    async def work(client: Client, _: str) -> Live:
        return Live(await read_cluster(client), int(time.time()), runs)

    return on_cluster(told, work)


def expected(result: Result, namespace: str | None = None) -> list[str]:
    """For people: who starts when, in one namespace or in all, and who holds room without saying until when."""
    from tidegate.cli.simulate.tables import columns

    live = result.script.live
    assert live is not None
    there = live.snapshot
    counted = {"node": there.nodes, "Queue": there.queues, "workload": there.workloads}
    counts = ", ".join(f"{len(each)} {word}{'' if len(each) == 1 else 's'}" for word, each in counted.items())
    lines = [f"As of {datetime.fromtimestamp(live.now, UTC):%H:%M:%S} UTC: {counts}"]
    listed = _starts(result, live, namespace)
    if not listed:
        return [*lines, "", "Nobody waits."]
    rows: list[Sequence[str]] = [("WORKLOAD", "QUEUE", "STARTS", "WAITS FOR")]
    rows += [(one.name, one.queue, when(one), _reason(one)) for one in listed]
    return [*lines, "", *columns(rows), *_unknown(listed, live, result)]


def when(one: Start) -> str:
    """When it starts, from now."""
    if one.at is None:
        return "never so" if one.is_hopeless else "unknown"
    return f"in {span(one.at)}" if one.at else "now"


def _reason(one: Start) -> str:
    return f"{one.waiting.reason}: {message(one.waiting)}" if one.waiting else ""


def _unknown(listed: list[Start], live: Live, result: Result) -> list[str]:
    """Why some starts cannot be told."""
    holders = endless(live, result.world)
    if not holders or all(one.at is not None or one.is_hopeless for one in listed):
        return []
    named = ", ".join(holders[:_MOST_NAMED]) + (" and others" if len(holders) > _MOST_NAMED else "")
    return [
        "",
        f"Who waits for {named} cannot be told when: they do not say how long they run. Let them say so "
        "(`tidegate run --time`, activeDeadlineSeconds), or assume it here with --runs 10m.",
    ]


def _starts(result: Result, live: Live, namespace: str | None) -> list[Start]:
    listed = starts(live, result.world, result.plan)
    return [one for one in listed if namespace is None or one.name.partition("/")[0] == namespace]


def as_starts(result: Result, namespace: str | None = None) -> list[dict[str, Any]]:
    """For programs."""
    live = result.script.live
    assert live is not None
    found = []
    for one in _starts(result, live, namespace):
        at = None if one.at is None else datetime.fromtimestamp(live.now + one.at, UTC).isoformat()
        reason = None if one.waiting is None else {"reason": str(one.waiting.reason), "message": message(one.waiting)}
        found.append({"name": one.name, "queue": one.queue, "inSeconds": one.at, "at": at, "waiting": reason})
    return found
