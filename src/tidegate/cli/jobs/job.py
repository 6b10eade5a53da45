"""A command as a Job."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

from tidegate.cli.errors import CommandError, UsageError

Json = dict[str, Any]
_KEPT_S = 7 * 24 * 3600
"""How long a Job of ours is kept once it has ended."""


def job(told: argparse.Namespace, words: list[str]) -> Json:
    """The Job of a command."""
    meta: Json = {"name": _named(told.name, told.pods)} if told.name else {"generateName": f"{_stem(words[0])}-"}
    meta["labels"] = {"tidegate.dev/queue": told.queue or "default"}
    if told.priority_class:
        meta["labels"]["tidegate.dev/priority-class"] = told.priority_class
    if told.min is not None:
        meta["annotations"] = {"tidegate.dev/min-count": str(told.min)}
    spec: Json = {
        "suspend": True,
        "parallelism": told.pods,
        "completions": told.pods,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "ttlSecondsAfterFinished": _KEPT_S,
        "template": {"spec": {"restartPolicy": "Never", "containers": [_container(told, words)]}},
    }
    if told.time is not None:
        spec["activeDeadlineSeconds"] = seconds(told.time)
    return {"metadata": meta, "spec": spec}


def _named(name: str, pods: int) -> str:
    """As it was given. Its pods are called after it, each with its number."""
    longest = 63 - len(f"-{pods - 1}")
    if len(name) > longest or not re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", name):
        said = f"Use up to {longest} lower-case letters, digits and dashes; dashes neither first nor last."
        raise UsageError(f'--name: "{name}" cannot be a Job\'s name. {said}')
    return name


def _amount(option: str, text: str) -> str:
    from tidegate.model.quantity import Quantity

    try:
        if Quantity.parse(text) >= Quantity(0):
            return text
    except ValueError as error:
        raise UsageError(f"{option}: {error}.") from None
    raise UsageError(f"{option}: {text} is less than nothing. Write what one pod needs.")


def _stem(word: str) -> str:
    from tidegate.model.jobs import fit_name

    return fit_name(Path(word).name)[:40]


def _container(told: argparse.Namespace, words: list[str]) -> Json:
    stated = {
        "cpu": ("--cpu", told.cpu),
        "memory": ("--memory", told.memory),
        "nvidia.com/gpu": ("--gpu", told.gpu and str(told.gpu)),
    }
    requests = {name: _amount(option, text) for name, (option, text) in stated.items() if text}
    limits = {name: text for name, text in requests.items() if name == "nvidia.com/gpu"}
    container: Json = {"name": "main", "image": told.image, "command": [_literal(word) for word in words]}
    container["resources"] = {"requests": requests} | ({"limits": limits} if limits else {})
    if told.image == "host":
        container["workingDir"] = _folder()
    if env := _env(told):
        container["env"] = env
    return container


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        raise CommandError("The folder you are in is gone, and the command would run there. Go to another.") from None


def _env(told: argparse.Namespace) -> list[Json]:
    """What was asked for; and on this machine the PATH, so that a command means what it means in this shell."""
    chosen = {"PATH": os.environ["PATH"]} if told.image == "host" and "PATH" in os.environ else {}
    for text in told.env:
        name, equals, value = text.partition("=")
        if not name:
            raise UsageError(f'--env: "{text}" has no name. Write --env NAME=VALUE.')
        if not equals and name not in os.environ:
            raise UsageError(f"{name} is not set here. Write --env {name}=VALUE, or set it.")
        chosen[name] = value if equals else os.environ[name]
    return [{"name": name, "value": _literal(value)} for name, value in chosen.items()]


def _literal(text: str) -> str:
    """Kubernetes replaces $(NAME) and takes $$ for $; what was typed here is meant as it is."""
    if not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text):
        shown = ascii(text.encode(errors="surrogateescape"))[1:]
        raise UsageError(f"{shown} is not UTF-8, and Kubernetes keeps nothing else. Put it in a file, and name that.")
    return text.replace("$", "$$")


def seconds(text: str) -> int:
    """A duration as people write it."""
    from tidegate.model.duration import Duration

    try:
        found = Duration.parse(text).seconds
    except ValueError as error:
        raise UsageError(f"--time: {error}.") from None
    if found < 1:
        raise UsageError(f"--time: {text} is no time. Write how long it may run, e.g. 30m.")
    return found
