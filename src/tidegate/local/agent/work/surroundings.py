"""What pods need of their node, as the work on them sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tidegate.local.agent.work.folder import Work

Spec = Mapping[str, Any]


class Surroundings(Protocol):
    """What the node knows that pods need: addresses, names, services, devices."""

    host_ip: str
    allocatable: Mapping[str, str]

    def address_for(self, pod: Spec) -> str: ...

    def keep(self, work: Work) -> None: ...

    def release(self, uid: str) -> None: ...

    def network_for(self, pod: Spec, address: str) -> dict[str, Any] | None: ...

    def write_names(self, pod: Spec, work: Work) -> None: ...

    def variables(self, pod: Spec, container: Spec) -> Mapping[str, str]: ...
