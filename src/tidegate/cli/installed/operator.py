"""`tidegate operator`: the controllers and webhooks against any Kubernetes; several may run, one of them leads."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate.cli.arguments import whole
from tidegate.cli.errors import CommandError, UsageError
from tidegate.cli.installed import own_kinds
from tidegate.cli.installed.log_lines import FORMATS

if TYPE_CHECKING:
    from tidegate.controller.replica import Doors, Settings
    from tidegate.dialects.webhook import NamespaceRule
    from tidegate.kube.client import Client
    from tidegate.kube.serve.listener import Bind


_EXAMPLES = """examples:
  tidegate operator --kubeconfig ~/.kube/config          # without webhooks: what is new is held once it is seen
  tidegate operator --webhook-url https://10.0.0.5:9443 --webhook-bind :9443
  tidegate operator --metrics-bind :8080 --log-format json   # -o json is the same; JSON lines are YAML, too

Several may run; one of them leads. SIGTERM or Ctrl-C ends it in order, and what runs goes on.
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    command.epilog = _EXAMPLES
    options(command)
    add = command.add_argument
    add("--manage", choices=["labelled", "all"], default="labelled", help="rule in namespaces labelled "
        "tidegate.dev/managed=true, or in all but the system's (default: %(default)s)")  # fmt: skip
    add("--lease-namespace", default="kube-system", metavar="NAME", help="its own namespace: of the lease, the "
        "certificates and the rules for dialects (default: %(default)s)")  # fmt: skip
    add("--lease-seconds", type=whole(1), default=15, metavar="N", help="how soon another operator takes over when the "
        "leader dies (default: %(default)s)")  # fmt: skip
    add("--webhook-service", metavar="NAMESPACE/NAME", help="serve webhooks that the API server finds behind this "
        "Service")  # fmt: skip
    add("--webhook-url", metavar="URL", help="serve webhooks that the API server finds at this https:// address")
    add("--webhook-bind", default="127.0.0.1:9443", metavar="HOST:PORT", help="where webhooks are served; :PORT for "
        "every address (default: %(default)s)")  # fmt: skip
    add(
        "--metrics-bind", metavar="HOST:PORT", help="where /metrics, /healthz and /readyz are served (default: nowhere)"
    )
    add("--dialects", type=Path, metavar="FILE", help="rules for the dialect webhook (default: the ConfigMap "
        "tidegate-dialects of its own namespace)")  # fmt: skip
    own_kinds.register(command)
    add("--log-format", choices=FORMATS, default="text", help="how log lines are written (default: %(default)s)")
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.installed.log_lines import start_logging
    from tidegate.cli.queued.cluster import on_cluster

    settings = _settings(told)
    start_logging(told.log_format if told.output == "table" else "json")

    async def work(client: Client, namespace: str) -> int:
        await _until_told_to_end(client, settings)
        return 0

    return on_cluster(told, work, own=False, stays=True)


async def _until_told_to_end(client: Client, settings: Settings) -> None:
    """SIGTERM ends it in order: requests under way are answered, and the lease is given back."""
    import asyncio
    import contextlib
    import signal

    from tidegate.assembly import operate

    running = asyncio.ensure_future(operate(client, settings))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await running
    except BaseExceptionGroup as several:
        raise _first(several) from several


def _first(raised: BaseException) -> BaseException:
    """What went wrong, of everything that ended because of it."""
    from tidegate.kube.serve.listener import ListenError

    while isinstance(raised, BaseExceptionGroup):
        raised = raised.exceptions[0]
    if isinstance(raised, ListenError):
        return CommandError(f"Nothing can be served at {raised}. Choose another --webhook-bind or --metrics-bind.")
    return raised


def _settings(told: argparse.Namespace) -> Settings:
    from tidegate.controller.replica import Settings

    return Settings(
        namespace=told.lease_namespace,
        everywhere=told.manage == "all",
        lease_s=told.lease_seconds,
        doors=_doors(told),
        health=_bind(told.metrics_bind, "--metrics-bind") if told.metrics_bind else None,
        dialects=_rules(told.dialects) if told.dialects else None,
        kinds=own_kinds.kinds_of(told.kinds),
    )


def _doors(told: argparse.Namespace) -> Doors | None:
    from tidegate.controller.replica import Doors

    if told.webhook_service and told.webhook_url:
        raise UsageError("--webhook-service and --webhook-url say two places. Give one of them.")
    bind = _bind(told.webhook_bind, "--webhook-bind")
    if told.webhook_service:
        namespace, slash, name = told.webhook_service.partition("/")
        if not (namespace and slash and name):
            raise UsageError("--webhook-service is not NAMESPACE/NAME. Write it like tidegate-system/tidegate.")
        return Doors(bind, service=(namespace, name))
    if told.webhook_url:
        if not told.webhook_url.startswith("https://"):
            raise UsageError("--webhook-url is no https:// address. API servers call webhooks over TLS alone.")
        return Doors(bind, url=told.webhook_url)
    if told.dialects:
        raise UsageError("--dialects needs webhooks. Give --webhook-service or --webhook-url as well.")
    return None


def _bind(text: str, flag: str) -> Bind:
    from tidegate.kube.serve.listener import Bind

    try:
        return Bind.parse(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}. Write it like 127.0.0.1:9443, or :9443 for every address.") from None


def _rules(path: Path) -> Mapping[str, NamespaceRule]:
    from tidegate.controller.doors.dialect import parse_text
    from tidegate.model.problems import ManifestError

    try:
        return parse_text(path.read_text())
    except OSError as error:
        raise CommandError(f"--dialects: {path} cannot be read ({error.strerror}). Check the path.") from None
    except ManifestError as error:
        raise CommandError(f"--dialects: {path}: {error}") from None
