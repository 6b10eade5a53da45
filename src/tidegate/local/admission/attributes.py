"""What admission is asked about: one write, before it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tidegate.kube.wire import Object
from tidegate.local.access.users import User
from tidegate.local.apiserver.served import Served

Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(slots=True)
class Attributes:
    """`obj` may be replaced by mutating admission; `old` is what is stored now (absent on CREATE)."""

    operation: Operation
    served: Served
    namespace: str
    name: str
    subresource: str
    user: User
    obj: Object | None
    old: Object | None = None
    dry_run: bool = False
    options: Object = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    ask: Callable[[dict[str, str]], tuple[bool, str]] = lambda _: (False, "")
    """Whether the user may do something else, for expressions that want to know."""
    requested: Served | None = None
    """What the request was for, if `served` is another version of it."""
