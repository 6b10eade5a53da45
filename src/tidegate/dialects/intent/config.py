"""`queueconfig`: which scheduler a cluster has, and how jobs of each type are treated there. Strictly checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from tidegate.dialects.intent.gang import GangParameters, parse_parameters
from tidegate.model.problems import ManifestError, Path, Problem

DEFAULT = "default"
_TYPE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_KNOWN = ("scheduler", "jobs")
_OF_JOB = ("type", "gangscheduling", "allow-preemption")


@dataclass(frozen=True, slots=True)
class JobConfig:
    """How jobs of one type are treated."""

    type: str
    gang: GangParameters | None = None
    """Whether their pods start together; None: one by one."""
    allow_preemption: bool | None = None
    """Whether others may take their room; None: as the scheduler has it."""


@dataclass(frozen=True, slots=True)
class QueueConfig:
    """A scheduler and its job types. Without a list of types, every type has a queue of its own and is a gang."""

    scheduler: str
    jobs: tuple[JobConfig, ...] | None = None

    def job(self, job_type: str) -> JobConfig | None:
        """What is said of a type; None where it is not listed."""
        return next((job for job in self.jobs or () if job.type == job_type), None)

    def queue(self, job_type: str) -> str:
        """The tenant's queue for a type: its own, or `default` where types are listed and this one is not."""
        return job_type if self.jobs is None or self.job(job_type) else DEFAULT


def parse_queueconfig(content: object, *, scheduler: str = "") -> QueueConfig:
    """The configuration a file has, with or without `queueconfig:` around it; ManifestError with all that is wrong.

    `scheduler` is the one that was asked for; a file that names another is refused.
    """
    inner = content.get("queueconfig", content) if isinstance(content, Mapping) else content
    at: Path = ("queueconfig",)
    if not isinstance(inner, Mapping):
        raise ManifestError([Problem(at, "is not a mapping; write scheduler: and jobs:")])
    problems = list(_unknown(inner, _KNOWN, at))
    named = inner.get("scheduler", scheduler)
    if not isinstance(named, str) or not named:
        problems.append(Problem((*at, "scheduler"), "is missing; name the scheduler, e.g. yunikorn"))
    elif scheduler and named != scheduler:
        problems.append(Problem((*at, "scheduler"), f"is {named}, but {scheduler} was asked for; change one of them"))
    jobs, wrong = _jobs(inner.get("jobs"), (*at, "jobs"))
    problems += wrong
    if problems:
        raise ManifestError(problems)
    return QueueConfig(str(named), jobs)


def _jobs(raw: Any, at: Path) -> tuple[tuple[JobConfig, ...] | None, list[Problem]]:
    if raw is None:
        return None, []
    if not isinstance(raw, list | tuple):
        return None, [Problem(at, "is not a list; write each job type with a dash")]
    jobs: list[JobConfig] = []
    problems: list[Problem] = []
    for index, item in enumerate(raw):
        job, wrong = _job(item, (*at, index))
        problems += wrong
        if job is not None and any(job.type == other.type for other in jobs):
            problems.append(Problem((*at, index, "type"), f'"{job.type}" is there twice; remove one'))
        elif job is not None:
            jobs.append(job)
    return tuple(jobs), problems


def _job(raw: Any, at: Path) -> tuple[JobConfig | None, list[Problem]]:
    if not isinstance(raw, Mapping):
        return None, [Problem(at, "is not a mapping; write type: and what holds for it")]
    problems = list(_unknown(raw, _OF_JOB, at))
    job_type = raw.get("type")
    if not isinstance(job_type, str) or not _TYPE.fullmatch(job_type):
        how = "write at most 63 lower-case letters, digits and dashes, since a queue is named after it"
        problems.append(Problem((*at, "type"), f'"{job_type}" is not a job type; {how}'))
    preemption = raw.get("allow-preemption")
    if preemption is not None and not isinstance(preemption, bool):
        problems.append(
            Problem((*at, "allow-preemption"), f'"{preemption}" is neither true nor false; write one of them')
        )
    gang = None
    if (text := raw.get("gangscheduling")) is not None:
        try:
            if not isinstance(text, str):
                raise ValueError(f"{text} is not text; write key=value pairs in quotes")
            gang = parse_parameters(text)
        except ValueError as error:
            problems.append(Problem((*at, "gangscheduling"), str(error)))
    return (None, problems) if problems else (JobConfig(str(job_type), gang, preemption), [])


def _unknown(raw: Mapping[str, Any], known: tuple[str, ...], at: Path) -> Iterator[Problem]:
    for key in raw:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            remedy = f"did you mean {close[0]}?" if close else f"use {', '.join(known)}"
            yield Problem((*at, str(key)), f"is not known here; {remedy}")
