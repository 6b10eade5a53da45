"""`status --watch`: drawn anew whenever something changed; on a terminal in place, else one picture after the other."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tidegate.cli.jobs.interrupts import Interrupts, first
from tidegate.cli.views.rows import QUEUE_HEADING, WORKLOAD_HEADING, Row, Seen, is_over, queue_rows, workload_rows

if TYPE_CHECKING:
    from tidegate.kube.client import Client
    from tidegate.kube.informer import Informer

Json = dict[str, Any]
_TOGETHER_S = 0.2
"""Changes this close to one another are one picture."""
_AGES_S = 5.0
"""How often ages are drawn anew when nothing happens."""
_WIDE, _LEAST_WIDE = ("WHY", "NOTE"), 20
"""Columns of sentences, and how much of one is worth showing."""
_SAY_LEAST = ("KIND", "SHARE", "USED", "QUEUE", "RUNNING", "AGE", "DESERVED", "ADMITTED", "NOTE", "WHY", "ALLOCATED")
_COLOURS = {"Admitted": "green", "Pending": "yellow", "Evicted": "red", "Inactive": "dim", "Finished": "dim"}


@dataclass(frozen=True, slots=True)
class Scope:
    """What is watched: of which namespace, or of all; with the tree above the Queues; with what has finished."""

    namespace: str | None
    tree: bool
    finished: bool


async def watch(client: Client, scope: Scope, text: Callable[[Seen], str]) -> None:
    """Until Ctrl-C. `text` is how it looks where there is no terminal."""
    from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
    from tidegate.kube.informer import Informer

    informers: dict[str, Informer[Json]] = {
        "queues": Informer(client, QUEUES, scope.namespace),
        "workloads": Informer(client, WORKLOADS, scope.namespace),
    }
    if scope.tree:
        informers["cluster_queues"] = Informer(client, CLUSTER_QUEUES)
    changed = asyncio.Event()
    tasks = []
    for informer in informers.values():
        informer.on_change(lambda old, new: changed.set())
        tasks.append(asyncio.create_task(informer.run()))
    try:
        with Interrupts() as stopped:
            for informer in informers.values():
                await first(informer.synced(), stopped.wait())
            with _screen(text, finished=scope.finished) as draw:
                await _draw_changes(informers, draw, changed, stopped)
    finally:
        for task in tasks:
            task.cancel()


async def _draw_changes(
    informers: dict[str, Informer[Json]], draw: Callable[[Seen], None], changed: asyncio.Event, stopped: asyncio.Event
) -> None:
    while not stopped.is_set():
        changed.clear()
        draw(Seen(**{name: list(informer.all()) for name, informer in informers.items()}))
        ages = [asyncio.sleep(_AGES_S)] if sys.stdout.isatty() else []
        await first(changed.wait(), stopped.wait(), *ages)
        await first(stopped.wait(), asyncio.sleep(_TOGETHER_S))


@contextlib.contextmanager
def _screen(text: Callable[[Seen], str], *, finished: bool) -> Iterator[Callable[[Seen], None]]:
    if not sys.stdout.isatty():
        yield lambda seen: print(f"{datetime.now(UTC):%H:%M:%S}\n{text(seen)}\n", flush=True)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(highlight=False)
    with Live(console=console, auto_refresh=False, screen=True) as live:
        yield lambda seen: live.update(_drawn(seen, console.size, finished=finished), refresh=True)


def _drawn(seen: Seen, size: tuple[int, int], *, finished: bool) -> Any:
    """As much as the terminal has room for: columns that say least are left out first, then the last workloads."""
    from rich.console import Group
    from rich.text import Text

    width, height = size
    listed = [each for each in seen.workloads if finished or not is_over(each)]
    queues, workloads = queue_rows(seen), workload_rows(listed, datetime.now(UTC))
    room = max(1, height - len(queues) - 5)
    over, cut = len(seen.workloads) - len(listed), max(0, len(workloads) - room)
    foot = [f"{datetime.now():%H:%M:%S}", "Ctrl-C ends", *([f"{cut} more below"] if cut else [])]
    foot += [f"{over} finished left out (--all)"] if over else []
    parts = [_table(*fitting(QUEUE_HEADING, queues, width)), Text("")]
    if listed:
        parts += [_table(*fitting(WORKLOAD_HEADING, workloads[:room], width)), Text("")]
    return Group(*parts, Text(" · ".join(foot), style="dim", no_wrap=True, overflow="ellipsis"))


def fitting(heading: Row, rows: list[Row], width: int) -> tuple[Row, list[Row]]:
    """Without the columns that say least, as many as have to go."""
    kept = list(range(len(heading)))

    def needed(column: int) -> int:
        longest = max(len(row[column]) for row in [heading, *rows])
        return min(longest, _LEAST_WIDE) if heading[column] in _WIDE else longest

    for name in _SAY_LEAST:
        if sum(map(needed, kept)) + 2 * (len(kept) - 1) <= width:
            break
        kept = [column for column in kept if heading[column] != name or not column]
    return tuple(heading[column] for column in kept), [tuple(row[column] for column in kept) for row in rows]


def _table(heading: Row, rows: list[Row]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in heading:
        wide = name in _WIDE
        table.add_column(name, no_wrap=True, overflow="ellipsis", ratio=1 if wide else None)
    for row in rows:
        table.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in row))
    return table
