"""Which server a command means, and talking to it with errors as sentences."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client

T = TypeVar("T")
Work = Callable[["Client", str], Awaitable[T]]


def options(command: argparse.ArgumentParser, *, output: bool = True) -> None:
    """What every command takes that talks to a server."""
    command.add_argument("-n", "--namespace", help="namespace (default: that of the kubeconfig, or `default`)")
    command.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kubeconfig file to use")
    command.add_argument("--context", metavar="NAME", help="context of the kubeconfig to use")
    if output:
        command.add_argument(
            "-o", "--output", choices=["table", "json", "yaml"], default="table", help="how to show it (default: table)"
        )


def on_cluster(told: argparse.Namespace, work: Work[T], *, start: bool = False) -> T:
    """What `work` gives, done on the server that is meant; with `start`, on this machine where there is none."""
    from tidegate.kube.access import AccessError
    from tidegate.kube.answers import StatusError

    try:
        return asyncio.run(_connected(told, work, start=start))
    except StatusError as refused:
        raise CommandError(_refusal(refused)) from None
    except AccessError as error:
        raise CommandError(f"{error} Or start one on this machine: `tidegate up --queues`.") from None
    except OSError as error:
        raise CommandError(
            f"The server does not answer ({error}). Is it running? `tidegate up --queues` starts one."
        ) from None


def _refusal(refused: Exception) -> str:
    code, message = getattr(refused, "code", 0), getattr(refused, "message", str(refused)).rstrip(".")
    if code == 404 and ("could not find the requested resource" in message or "page not found" in message):
        return (
            "The server does not know Tidegate's kinds. Run `tidegate operator` against it, or `tidegate up --queues`."
        )
    return f"The server refused: {message}."


async def _connected(told: argparse.Namespace, work: Work[T], *, start: bool) -> T:
    from tidegate.kube.config import load_access
    from tidegate.kube.connect import connect

    access = load_access(_kubeconfig(told, start=start), told.context)
    client = connect(access, user_agent="tidegate-cli")
    try:
        return await work(client, told.namespace or access.namespace)
    finally:
        await client.close()


def _kubeconfig(told: argparse.Namespace, *, start: bool) -> Path | None:
    """A file that is named; else kubectl's, as far as something says so; else that of this machine's own server."""
    named: Path | None = told.kubeconfig
    if named is not None or told.context or os.environ.get("KUBECONFIG"):
        return named
    from tidegate.cli.up import WITH_OPERATOR
    from tidegate.local.machine import Machine, MachineError

    machine = Machine(Path("~/.tidegate").expanduser(), program=WITH_OPERATOR)
    if machine.running("control-plane"):
        return machine.kubeconfig
    if Path("~/.kube/config").expanduser().exists() or not start:
        return None
    try:
        machine.up()
    except (MachineError, OSError) as error:
        raise CommandError(str(error)) from None
    return machine.kubeconfig
