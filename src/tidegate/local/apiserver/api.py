"""`Api`: what every verb needs, put together once by the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from tidegate.local.apiserver.nodes import Nodes
from tidegate.local.apiserver.openapi import OpenApi
from tidegate.local.apiserver.registry import Registry
from tidegate.local.store import Store

if TYPE_CHECKING:
    from tidegate.local.access.access import Access
    from tidegate.local.admission.chain import Admission


def wall_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(eq=False)
class Api:
    store: Store
    registry: Registry
    access: Access
    admission: Admission
    openapi: OpenApi
    nodes: Nodes = field(default_factory=Nodes)
    clock: Callable[[], datetime] = wall_clock

    def now(self) -> str:
        """The time as objects carry it: UTC, whole seconds."""
        return timestamp(self.clock().replace(microsecond=0))


@lru_cache(maxsize=64)  # Asked for by every request, and the same for a whole second.
def timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
