"""Informers: a local copy of a collection that follows the server and never loses a deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from tidegate.kube.client import Client
from tidegate.kube.wire import Resource

T = TypeVar("T")

Change = Callable[[T | None, T | None], None]
"""Called with (old, new): old is None when it appeared, new is None when it went."""


class Informer(Generic[T]):
    """List, then watch, for ever. Objects are shared and read-only; keys are (namespace, name), "" if cluster-wide."""

    def __init__(self, client: Client, resource: Resource[T], namespace: str | None = None, *, labels: str = "",
                 fields: str = "", indexes: dict[str, Callable[[T], Iterable[str]]] | None = None) -> None:
        raise NotImplementedError

    def on_change(self, handler: Change[T]) -> None:
        """Handlers run in the order events came, in the loop, and must not block. Register before `run`."""
        raise NotImplementedError

    def get(self, name: str, namespace: str = "") -> T | None:
        raise NotImplementedError

    def all(self) -> Iterable[T]:
        raise NotImplementedError

    def by(self, index: str, key: str) -> list[T]:
        """Objects whose index function gave `key`, in no particular order."""
        raise NotImplementedError

    async def run(self) -> None:
        """Follows the server until cancelled; survives every fault of the network and of the watch protocol."""
        raise NotImplementedError

    async def synced(self) -> None:
        """Returns once the first full list has been delivered to the handlers."""
        raise NotImplementedError
