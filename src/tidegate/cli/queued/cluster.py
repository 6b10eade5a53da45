"""Which server a command means, and talking to it with errors as sentences."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tidegate.cli.arguments import label
from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client
    from tidegate.local.machine import Machine

T = TypeVar("T")
Work = Callable[["Client", str], Awaitable[T]]


def options(command: argparse.ArgumentParser, *, shows: str = "table", asks: bool = True) -> None:
    """What every command takes, also one that asks no server: one set of options fits them all."""
    where = command.add_argument_group("which server, and how to show it" if asks else "as everywhere")
    told = ("namespace (default: that of the kubeconfig, or `default`)", "kubeconfig file to use",
            "context of the kubeconfig to use") if asks else ("no server is asked here", ) * 3  # fmt: skip
    where.add_argument("-n", "--namespace", metavar="NAME", type=label("namespace"), help=told[0])
    where.add_argument("--kubeconfig", type=Path, metavar="FILE", help=told[1])
    where.add_argument("--context", metavar="NAME", help=told[2])
    output(where, shows)


def output(command: argparse._ActionsContainer, shows: str = "table") -> None:
    """For people, or for programs."""
    command.add_argument("-o", "--output", choices=["table", "json", "yaml"], default=shows,
                         help="how to show it: table, json or yaml (default: %(default)s)",
                         metavar="FORM")  # fmt: skip


def on_cluster(
    told: argparse.Namespace, work: Work[T], *, start: bool = False, own: bool = True, stays: bool = False
) -> T:
    """What `work` gives, done on the server that is meant; with `start`, on this machine where there is none. Without
    `own`, this machine's server is meant only where the kubeconfig says so: what is put on a cluster is put there. For
    work that `stays`, a loop that takes longer to load and costs less to run."""
    import asyncio

    from tidegate.kube.access import AccessError
    from tidegate.kube.answers import StatusError

    try:
        connected = _connected(told, work, start=start, own=own)
        if not stays:
            return asyncio.run(connected)
        from tidegate.kube import loops

        return loops.run(connected)
    except StatusError as refused:
        raise CommandError(_refusal(refused)) from None
    except AccessError as error:
        raise CommandError(str(error)) from None
    except BrokenPipeError:  # Of our own output; what the client meets has no such name.
        raise
    except (ConnectionError, TimeoutError) as error:
        raise CommandError(_unanswered(error)) from None


def _unanswered(error: OSError) -> str:
    import ssl

    why, cause = str(error).rstrip(".") or type(error).__name__, error.__cause__
    if isinstance(getattr(cause, "certificate_error", None), ssl.SSLError):
        return f"The server's certificate is not trusted ({why}). Give its `certificate-authority` in the kubeconfig."
    return f"The server does not answer ({why}). Is it running? `tidegate up` starts one."


_REMEDIES = {
    401: "Look at the user's credentials in the kubeconfig.",
    403: "Ask for that right, or name another --context or -n.",
    429: "It has too much to do; try again.",
    503: "It is not ready; try again.",
}


def _refusal(refused: Exception) -> str:
    code, message = getattr(refused, "code", 0), getattr(refused, "message", str(refused)).rstrip(".")
    if code == 404 and ("could not find the requested resource" in message or "page not found" in message):
        return (
            "The server does not know Tidegate's kinds. Put them there with `tidegate install`; on this machine, "
            "`tidegate down` and `tidegate up`."
        )
    return f"The server refused: {message}. {_REMEDIES.get(code, '')}".rstrip()


async def _connected(told: argparse.Namespace, work: Work[T], *, start: bool, own: bool) -> T:
    from tidegate.kube.config import load_access
    from tidegate.kube.connect import connect

    access = load_access(_kubeconfig(told, start=start) if own else told.kubeconfig, told.context)
    client = connect(access, user_agent="tidegate-cli")
    try:
        return await work(client, told.namespace or access.namespace)
    finally:
        await client.close()


def _kubeconfig(told: argparse.Namespace, *, start: bool) -> Path | None:
    """A file that is named; else that of this machine's own server, if it runs; else kubectl's. This machine's is
    started where it is asked for and nothing says that another is meant."""
    from tidegate.cli.machine import own_machine

    named: Path | None = told.kubeconfig
    if named is not None or told.context:
        return named
    machine, listed = own_machine(), os.environ.get("KUBECONFIG")
    # What `tidegate up` told to export; the machine may have been stopped since.
    is_own = bool(listed) and Path(str(listed)).expanduser().resolve() == machine.kubeconfig
    if listed and not is_own:
        return None
    if machine.running("control-plane"):
        _awaited(machine)
        return machine.kubeconfig
    elsewhere = Path("~/.kube/config").expanduser().exists() or os.environ.get("KUBERNETES_SERVICE_HOST")
    return _started() if start and (is_own or not elsewhere) else None


def _awaited(machine: Machine) -> None:
    from tidegate.local.machine import MachineError

    try:
        machine.await_ready()
    except MachineError as error:
        raise CommandError(str(error)) from None


def _started() -> Path:
    """The kubeconfig of this machine's server, which is started."""
    import time

    from tidegate.cli.machine import own_machine
    from tidegate.local.machine import MachineError

    machine, began = own_machine(), time.monotonic()
    try:
        machine.up()
    except MachineError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}. Mend it, or name a server.") from None
    took_s = time.monotonic() - began
    print(f"Made this machine a cluster in {took_s:.1f} s; `tidegate down` stops it.", file=sys.stderr)
    return machine.kubeconfig
