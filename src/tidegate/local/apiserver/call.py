"""`Call`: one request understood, on its way through the verbs."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.kube.wire import Request
from tidegate.local.access.users import User
from tidegate.local.apiserver.routes import Route
from tidegate.local.apiserver.served import Served

_TRUE = frozenset(["1", "t", "T", "true", "True", "TRUE"])


@dataclass(slots=True)
class Call:
    request: Request
    user: User
    verb: str
    route: Route
    served: Served
    now: str
    """The time of this request, as it is written into objects."""
    warnings: list[str] = field(default_factory=list)
    applying: bool = False
    """A server-side apply, which settles who owns which field by itself."""

    @property
    def query(self) -> dict[str, str]:
        return self.request.query

    @property
    def namespace(self) -> str:
        return self.route.namespace

    @property
    def name(self) -> str:
        return self.route.name

    @property
    def subresource(self) -> str:
        return self.route.subresource

    @property
    def dry_run(self) -> bool:
        return "dryRun" in self.query  # Its value has been checked with the other options.

    @property
    def pretty(self) -> bool:
        return self.query.get("pretty", "") in _TRUE

    @property
    def field_manager(self) -> str:
        """Who is recorded as owner of what this request writes."""
        if given := self.query.get("fieldManager", ""):
            return given
        agent = self.request.headers.get("user-agent", "").split("/")[0]
        if not agent.isprintable():
            agent = "".join(filter(str.isprintable, agent))
        return agent[:128] or "unknown"

    @property
    def validation(self) -> str:
        """What becomes of fields the kind does not have: Ignore, Warn or Strict."""
        return self.query.get("fieldValidation", "") or "Warn"
