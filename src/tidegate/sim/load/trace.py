"""Jobs recorded elsewhere, from CSV: submit, duration, cpu, memory, user; pods and priority where the file has them.

The first line names the columns. Where it does not, and begins with a job, they are taken in this order, or as the
trace numbers them: what clusters publish has often no such line.

Times become whole seconds from the first job on: submissions are rounded down, durations up. Amounts are exact.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, count, islice
from pathlib import Path

from tidegate.model.kinds.queue import QueueSpec
from tidegate.model.kinds.scenario import TimeUnit, Trace
from tidegate.model.problems import Problem
from tidegate.model.quantity import Quantity
from tidegate.model.resources import Resources
from tidegate.sim.scenario.source import Fault, MalformedError
from tidegate.sim.world import Application, PodGroup, World

_PARTS = {TimeUnit.S: 1, TimeUnit.MS: 1000, TimeUnit.US: 1_000_000}
_NEEDED = ("submit", "cpu", "memory", "user")
_OTHERS = ("duration", "end", "pods", "priority")
_IN_ORDER = ("submit", "duration", "cpu", "memory", "user", "pods", "priority")
"""Of a file that does not name its columns."""
_SEPARATORS = ",;\t|"
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][+-]?[0-9]{1,2})?", re.ASCII)
_MOST_FAULTS = 20

Row = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Job:
    """One line of a trace."""

    at: int
    seconds: int
    requests: Resources
    user: str
    pods: int
    priority: int


def read_jobs(trace: Trace, path: Path) -> list[Job]:
    """The jobs of a trace in order of time; MalformedError with what is wrong in the file, by line and column."""
    reader = _Reader(trace, path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            jobs = [job for job in reader.jobs(lines) if job is not None]
    except UnicodeDecodeError:
        raise MalformedError(Fault(str(path), 1, Problem((), "is not UTF-8 text; save it as such"))) from None
    except OSError as error:
        what = (error.strerror or "cannot be read").lower()
        raise MalformedError(Fault(str(path), 1, Problem((), f"cannot be read ({what}); check its name"))) from None
    if reader.faults:
        raise MalformedError(*reader.faults)
    if not jobs:
        raise MalformedError(Fault(str(path), 1, Problem((), "has no jobs; add a line for each below the first")))
    jobs.sort(key=lambda job: job.at)
    first = jobs[0].at
    return [Job(job.at - first, job.seconds, job.requests, job.user, job.pods, job.priority) for job in jobs]


class _Reader:
    """Reads line by line and goes on after a fault, up to a number nobody would read through."""

    def __init__(self, trace: Trace, path: Path) -> None:
        self.trace = trace
        self.file = str(path)
        self.faults: list[Fault] = []
        self.names = {part: str(getattr(trace.columns, part)) for part in (*_NEEDED, *_OTHERS)}
        self.there: set[str] = set()
        """The columns the file has."""

    def jobs(self, lines: Iterator[str]) -> Iterator[Job | None]:
        blank: list[str] = []
        for first in lines:
            if first.strip():
                break
            blank.append(first)
        else:
            first = ""
        separator = max(_SEPARATORS, key=first.count)
        reader: csv.DictReader[str] = csv.DictReader(
            chain(blank, [first], lines), skipinitialspace=True, delimiter=separator
        )
        try:
            names = next(csv.reader([first], skipinitialspace=True, delimiter=separator), [])
            by_place = self._by_place(names)
            reader.fieldnames = by_place or names
            if not self._knows_its_columns(reader.fieldnames):
                return
            for number, row in enumerate(reader if by_place else islice(reader, 1, None)):
                if number == self.trace.most or len(self.faults) >= _MOST_FAULTS:
                    return
                yield self._job(row, reader.line_num)
        except csv.Error as error:
            self.faults.append(Fault(self.file, reader.line_num, Problem((), f"is not CSV ({error}); correct it")))

    def _by_place(self, cells: Sequence[str]) -> Sequence[str] | None:
        """What the columns are called in a file whose first line is a job; None if that line names them."""
        numbered = self.names["submit"].isdecimal()
        named = {name.strip().casefold() for name in self.names.values()}
        if not numbered and not named.isdisjoint(cell.strip().casefold() for cell in cells):
            return None
        at = int(self.names["submit"]) - 1 if numbered else 0
        if not 0 <= at < len(cells) or not _NUMBER.fullmatch(cells[at].strip()):
            return None
        return [str(number) for number in range(1, len(cells) + 1)] if numbered else _IN_ORDER[: len(cells)]

    def _knows_its_columns(self, header: Sequence[str]) -> bool:
        """Find the columns as the file writes them; a fault if some are not there, or twice, when nobody can tell which
        is meant."""
        plain = [name.strip().casefold() for name in header]
        by_name = dict(zip(plain, header, strict=True))
        found = {part: by_name.get(name.strip().casefold()) for part, name in self.names.items()}
        self.names.update({part: name for part, name in found.items() if name is not None})
        self.there = {part for part, name in found.items() if name is not None}
        missing = [self.names[part] for part in _NEEDED if part not in self.there]
        if not self.there & {"duration", "end"}:
            missing.insert(1, f"{self.names['duration']} (or {self.names['end']})")
        twice = [
            self.names[part] for part in sorted(self.there) if plain.count(self.names[part].strip().casefold()) > 1
        ]
        if missing:
            columns = ", ".join(missing)
            told = f"has no column {columns}; name the columns in its first line, or in spec.trace.columns"
            self.faults.append(Fault(self.file, 1, Problem((), told)))
        elif twice:
            told = f"has the column {', '.join(twice)} twice; remove or rename one"
            self.faults.append(Fault(self.file, 1, Problem((), told)))
        return not (missing or twice)

    def _job(self, row: Row, line: int) -> Job | None:
        try:
            return Job(
                at=int(self._seconds(row, "submit")),
                seconds=-int(-self._duration(row) // 1),
                requests=self._requests(row),
                user=self._cell(row, "user"),
                pods=self._whole(row, "pods", 1, least=1),
                priority=self._whole(row, "priority", 0, least=-(2**31)),
            )
        except _CellError as error:
            self.faults.append(Fault(self.file, line, Problem((error.column,), error.message)))
            return None

    def _cell(self, row: Row, part: str) -> str:
        cell = (row.get(self.names[part]) or "").strip()
        if not cell:
            raise _CellError(self.names[part], "is empty; fill it in, or remove the line")
        return cell

    def _number(self, row: Row, part: str) -> Fraction:
        cell = self._cell(row, part)
        if not _NUMBER.fullmatch(cell):
            raise _CellError(self.names[part], f'"{cell}" is not a number; write one, e.g. 90')
        number = Fraction(cell)
        if number < 0:
            raise _CellError(self.names[part], f'"{cell}" is below zero; write 0 or more')
        return number

    def _seconds(self, row: Row, part: str) -> Fraction:
        return self._number(row, part) / _PARTS[self.trace.time_unit]

    def _duration(self, row: Row) -> Fraction:
        if "duration" in self.there:
            return self._seconds(row, "duration")
        ran = self._seconds(row, "end") - self._seconds(row, "submit")
        if ran < 0:
            raise _CellError(self.names["end"], f"is before {self.names['submit']}; correct one of them")
        return ran

    def _requests(self, row: Row) -> Resources:
        """Of one pod. Traces leave out what was not recorded; one that took nothing at all is a mistake."""
        written = [part for part in ("cpu", "memory") if (row.get(self.names[part]) or "").strip()]
        return Resources({part: self._amount(row, part) for part in written or ["cpu"]})

    def _amount(self, row: Row, part: str) -> int:
        cell = self._cell(row, part)
        if not _NUMBER.fullmatch(cell):
            try:
                return Quantity.parse(cell).nano
            except ValueError as error:
                raise _CellError(self.names[part], str(error)) from None
        return -int(-self._number(row, part) * self.trace.units.of(part) // 1)

    def _whole(self, row: Row, part: str, default: int, *, least: int) -> int:
        cell = (row.get(self.names[part]) or "").strip()
        if not cell:
            return default
        if not re.fullmatch(r"-?[0-9]{1,9}", cell, re.ASCII) or int(cell) < least:
            raise _CellError(self.names[part], f'"{cell}" is not a whole number of at least {least}; write one')
        return int(cell)


class _CellError(Exception):
    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column
        self.message = message


def enter_trace(trace: Trace, jobs: list[Job], world: World) -> None:
    """Let the jobs of a trace arrive, each user at a Queue."""
    queues: dict[str, str] = {}
    for user in dict.fromkeys(job.user for job in jobs):
        queues[user] = trace.queues.get(user) or _own_queue(user, queues.values(), world)
    _enter(enumerate(jobs, 1), queues, world)


def _enter(left: Iterator[tuple[int, Job]], queues: Mapping[str, str], world: World) -> None:
    """One job ahead, so that the agenda stays small."""
    found = next(left, None)
    if found is not None:
        number, job = found
        event: Callable[[], None] = partial(_arrive, number, job, queues, left, world)
        world.agenda.enter(job.at, event)


def _arrive(number: int, job: Job, queues: Mapping[str, str], left: Iterator[tuple[int, Job]], world: World) -> None:
    queue = queues[job.user]
    group = PodGroup("main", job.pods, job.pods, requests=job.requests, runs=job.seconds)
    name = f"{queue.partition('/')[0]}/job{number:06}"
    world.submit(
        Application(name=name, queue=queue, created=world.now, pod_groups=[group], priority=job.priority, user=job.user)
    )
    _enter(left, queues, world)


def _own_queue(user: str, others: Collection[str], world: World) -> str:
    """A Queue for a user who was given none. Names are made such as Kubernetes would take them, no two alike."""
    namespace = re.sub(r"[^a-z0-9-]+", "-", user.lower()).strip("-") or "user"
    names = (f"{namespace}{suffix}/default" for suffix in chain([""], (f"-{number}" for number in count(2))))
    queue = next(name for name in names if name not in others)
    world.queues.setdefault(queue, QueueSpec())
    return queue
