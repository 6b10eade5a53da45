"""What `tidegate render` does with its arguments."""

from __future__ import annotations

import argparse
from typing import Any

from tidegate.cli.errors import CommandError, UsageError
from tidegate.cli.installed.own_kinds import kinds_of
from tidegate.cli.render.documents import Json, content, documents, show
from tidegate.cli.render.jobs import rendered_jobs, submission
from tidegate.dialects import Fate, Note, QueueConfig, dialect_named, parse_queueconfig
from tidegate.dialects.queues import TARGETS, QueueTree, drifts, parse_tree


def render_command(told: argparse.Namespace) -> int:
    if told.check is not None and not told.queues:
        told.usage_error("--check compares queue trees; add --queues")
    if not told.files and not told.queues:
        told.usage_error("the following arguments are required: FILE")
    if not told.scheduler and told.config is None:
        told.usage_error("name the scheduler with --for, or give a --config that does")
    try:
        config = _config(told)
        _check_arguments(told, config)
        return _rendered(told, config)
    except ValueError as error:
        raise CommandError(_lines(error)) from None


def _lines(error: ValueError) -> str:
    """Dialects, kinds and manifests all say what is wrong and what to do, one line each."""
    return str(error).replace("\n", "\n  ")


def _config(told: argparse.Namespace) -> QueueConfig:
    if told.config is None:
        return QueueConfig(told.scheduler)
    return parse_queueconfig(content(told.config), scheduler=told.scheduler)


def _check_arguments(told: argparse.Namespace, config: QueueConfig) -> None:
    """What is wrong with the command itself is said before any file of objects is read."""
    try:
        dialect_named(config.scheduler)
        submission(told)
    except ValueError as error:
        raise UsageError(_lines(error)) from None
    if told.queues and config.scheduler not in TARGETS:
        raise UsageError(f"{config.scheduler} has no queues to render. Use one of {', '.join(TARGETS)}.")


def _rendered(told: argparse.Namespace, config: QueueConfig) -> int:
    given = documents(told.files) if told.files else _live(told)
    if not given:
        where = "The files have no objects" if told.files else "The cluster has no queues"
        raise CommandError(f"{where}. Give manifests with apiVersion and kind.")
    tree = parse_tree(given)
    if told.queues:
        return _queues(told, config.scheduler, tree)
    kinds = kinds_of(told.kinds)
    queues, said = _beside_jobs(config.scheduler, tree)
    jobs, notes = rendered_jobs(told, config, tree, kinds, given)
    show([*queues, *jobs], [*said, *notes], output=told.output, explain=told.explain)
    return 0


def _live(told: argparse.Namespace) -> list[Json]:
    from tidegate.cli.render.live import queues_of_cluster

    return queues_of_cluster(told)


def _queues(told: argparse.Namespace, scheduler: str, tree: QueueTree) -> int:
    if not tree.nodes:
        raise CommandError("The files have no queues. Give ClusterQueues and Queues.")
    rendering = TARGETS[scheduler](tree)
    if told.check is None:
        show(rendering.objects, rendering.notes, output=told.output, explain=told.explain)
        return 0
    found = drifts(scheduler, rendering.objects, documents([told.check]))
    for drift in found:
        print(drift)
    if not found:
        print(f"{told.check} says what the queues say.")
    return 1 if found else 0


def _beside_jobs(scheduler: str, tree: QueueTree) -> tuple[list[Any], list[Note]]:
    """The queues that stand in the same files as the jobs; they come first."""
    if not tree.nodes:
        return [], []
    if scheduler not in TARGETS:
        return [], [Note(Fate.DROPPED, "queues", f"{scheduler} has none; the queue tree is left out")]
    rendering = TARGETS[scheduler](tree)
    return list(rendering.objects), list(rendering.notes)
