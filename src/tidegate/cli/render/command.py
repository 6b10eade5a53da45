"""What `tidegate render` does with its arguments."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from tidegate.cli.errors import CommandError
from tidegate.cli.render.documents import Json, content, documents, show
from tidegate.dialects import Fate, Note, QueueConfig, Submission, dialect_named, parse_queueconfig, render
from tidegate.dialects.queues import TARGETS, QueueRendering, QueueTree, drifts, parse_tree
from tidegate.dialects.queues.to_volcano import queue_name
from tidegate.dialects.queues.to_yunikorn import queue_path
from tidegate.dialects.queues.tree import is_queue_object
from tidegate.dialects.referred import find_referred
from tidegate.model.jobs import Kinds, builtin, parse_kinds

_QUEUE = "tidegate.dev/queue"


def render_command(told: argparse.Namespace) -> int:
    if told.check is not None and not told.queues:
        told.usage_error("--check compares queue trees; add --queues")
    if not told.files and not told.queues:
        told.usage_error("the following arguments are required: FILE")
    if not told.scheduler and told.config is None:
        told.usage_error("name the scheduler with --for, or give a --config that does")
    try:
        return _rendered(told)
    except ValueError as error:
        # Dialects, kinds and manifests all say what is wrong and what to do, one line each.
        raise CommandError(str(error).replace("\n", "\n  ")) from None


def _rendered(told: argparse.Namespace) -> int:
    config = _config(told)
    dialect_named(config.scheduler)
    given = documents(told.files) if told.files else _live(told)
    tree = parse_tree(given)
    if told.queues:
        return _queues(told, config.scheduler, tree)
    kinds = builtin()
    for file in told.kinds:
        kinds = kinds.with_more(parse_kinds(content(file)))
    objects, notes = _all(told, config, tree, kinds, given)
    show(objects, notes, output=told.output, explain=told.explain)
    return 0


def _live(told: argparse.Namespace) -> list[Json]:
    from tidegate.cli.render.live import queues_of_cluster

    return queues_of_cluster(told.kubeconfig, told.context)


def _config(told: argparse.Namespace) -> QueueConfig:
    if told.config is None:
        return QueueConfig(told.scheduler)
    return parse_queueconfig(content(told.config), scheduler=told.scheduler)


def _queues(told: argparse.Namespace, scheduler: str, tree: QueueTree) -> int:
    if not tree.nodes:
        raise CommandError("The files have no queues. Give ClusterQueues and Queues.")
    rendering = _tree(scheduler, tree)
    if told.check is None:
        show(rendering.objects, rendering.notes, output=told.output, explain=told.explain)
        return 0
    found = drifts(scheduler, rendering.objects, documents([told.check]))
    for drift in found:
        print(drift)
    if not found:
        print(f"{told.check} says what the queues say.")
    return 1 if found else 0


def _tree(scheduler: str, tree: QueueTree) -> QueueRendering:
    if scheduler not in TARGETS:
        raise CommandError(f"{scheduler} has no queues to render. Use one of {', '.join(TARGETS)}.")
    return TARGETS[scheduler](tree)


def _all(
    told: argparse.Namespace, config: QueueConfig, tree: QueueTree, kinds: Kinds, given: list[Json]
) -> tuple[list[Any], list[Note]]:
    """Queues first, then every job with what belongs to it; what is neither is handed on as it is."""
    objects: list[Any] = []
    notes: list[Note] = []
    if tree.nodes and config.scheduler in TARGETS:
        rendering = _tree(config.scheduler, tree)
        objects, notes = list(rendering.objects), list(rendering.notes)
    elif tree.nodes:
        notes.append(Note(Fate.DROPPED, "queues", f"{config.scheduler} has none; the queue tree is left out"))
    others = [obj for obj in given if not is_queue_object(obj)]
    strangers = [obj for obj in others if kinds.find(obj) is None]
    if strangers and len(strangers) == len(given):
        kinds.of(strangers[0])
    for obj in others:
        if obj in strangers:
            objects.append(obj)
            notes.append(Note(Fate.CHANGED, str(obj.get("kind")), "it is no job, and is handed on as it is"))
            continue
        obj = _in_namespace(obj, told.namespace)  # noqa: PLW2901
        referred = find_referred(kinds.of(obj), obj, strangers)
        done = render(obj, _submission(told, config.scheduler, tree, obj), config, kinds=kinds, referred=referred)
        objects += done.objects
        notes += [note for note in done.notes if note not in notes]
    return objects, notes


def _in_namespace(obj: Json, namespace: str) -> Json:
    metadata = obj.get("metadata")
    if not namespace or (isinstance(metadata, dict) and metadata.get("namespace")):
        return obj
    return obj | {"metadata": {**(metadata or {}), "namespace": namespace}}


def _submission(told: argparse.Namespace, scheduler: str, tree: QueueTree, obj: Json) -> Submission:
    groups = tuple(group for group in told.groups.split(",") if group)
    submission = Submission(
        organisation=told.organisation,
        user=told.user,
        groups=groups,
        job_type=told.job_type,
        resource_type=told.resource_type,
        queue=told.queue,
        id=told.id,
    )
    if told.queue or told.organisation or told.job_type:
        return submission
    return replace(submission, queue=_door(scheduler, tree, obj))


def _door(scheduler: str, tree: QueueTree, obj: Json) -> str:
    """The queue of an object whose Queue is in the same files, as the scheduler will know it."""
    metadata = obj.get("metadata") or {}
    named = (metadata.get("labels") or {}).get(_QUEUE) or "default"
    wanted = (metadata.get("namespace") or "default", named)
    door = next((d for d in tree.doors if (d.metadata.namespace or "default", d.metadata.name) == wanted), None)
    if door is None:
        return ""
    return {"yunikorn": queue_path, "volcano": queue_name}.get(scheduler, lambda _, door: door.metadata.name)(
        tree, door
    )
