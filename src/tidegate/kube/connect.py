"""From nothing to a client: the server that kubectl would talk to, or the one that is named."""

from __future__ import annotations

from pathlib import Path

from tidegate.kube.access import Access
from tidegate.kube.client import Client
from tidegate.kube.config import load_access
from tidegate.kube.ratelimit import Rate, RateLimited
from tidegate.kube.transport import HttpTransport, Limits
from tidegate.kube.wire import Transport


def connect(
    access: Access | None = None,
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    limits: Limits | None = None,
    rate: Rate | None = None,
    user_agent: str = "tidegate",
) -> Client:
    """A client; nothing is sent yet. Raises AccessError when it is not clear where to, or as whom."""
    transport: Transport = HttpTransport(access or load_access(kubeconfig, context), limits=limits)
    if rate is not None:
        transport = RateLimited(transport, rate)
    return Client(transport, user_agent=user_agent)
