"""Where clusters before Kubernetes 1.35 differ from the embedded one, as admission in front of it.

The pods of a Job that ever started are what they are, whether it is held by now or not; and its controller does not
take back that it started when it is held.
"""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.admission.attributes import Attributes
from tidegate.local.errors import invalid, invalid_object


class Older:
    """The server and the controller of Jobs of an older cluster."""

    async def mutate(self, asked: Attributes) -> None:
        """What the controller says when it has held a Job, and nothing else, comes with another condition."""
        if asked.obj is None or asked.old is None or asked.served.plural != "jobs" or asked.subresource != "status":
            return
        said, before = asked.obj.get("status") or {}, asked.old.get("status") or {}
        if said.get("conditions") != before.get("conditions") and before.get("startTime"):
            asked.obj["status"] = {"startTime": before["startTime"], **said}

    async def validate(self, asked: Attributes) -> None:
        if asked.operation != "UPDATE" or asked.subresource or asked.served.plural != "jobs":
            return
        if asked.obj is None or asked.old is None or not (asked.old.get("status") or {}).get("startTime"):
            return
        if _template(asked.obj) != _template(asked.old):
            error = invalid("spec.template", _template(asked.obj), "field is immutable")
            raise invalid_object(asked.served.group, "Job", asked.name, [error])


def _template(job: Object) -> Object:
    template: Object = job["spec"]["template"]
    return template
