"""`Call`: one request understood, on its way through the verbs."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidegate.kube.wire import Request
from tidegate.local.access.users import User
from tidegate.local.apiserver.routes import Route, is_true
from tidegate.local.apiserver.served import Served
from tidegate.local.errors import bad_request


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
        asked = self.query.get("dryRun")
        if asked is None or asked == "":
            return False
        if set(asked.split("\0")) != {"All"}:
            shown = ", ".join(f'"{value}"' for value in asked.split("\0"))
            raise bad_request(f'dryRun: Unsupported value: [{shown}]: supported values: "All"')
        return True

    @property
    def pretty(self) -> bool:
        return is_true(self.query.get("pretty", ""))

    @property
    def field_manager(self) -> str:
        """Who is recorded as owner of what this request writes."""
        given = self.query.get("fieldManager", "")
        if given:
            if len(given) > 128 or not given.isprintable():
                raise bad_request(f'fieldManager: Invalid value: "{given}": must be printable, at most 128 bytes')
            return given
        agent = self.request.headers.get("user-agent", "")
        return agent.split("/")[0][:128] or "unknown"

    @property
    def validation(self) -> str:
        """What becomes of fields the kind does not have: Ignore, Warn or Strict."""
        given = self.query.get("fieldValidation", "") or "Warn"
        if given not in ("Ignore", "Warn", "Strict"):
            listed = '"Ignore", "Strict", "Warn"'
            raise bad_request(f'fieldValidation: Unsupported value: "{given}": supported values: {listed}')
        return given
