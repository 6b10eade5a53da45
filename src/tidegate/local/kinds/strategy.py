"""What one kind adds to the rules that all kinds share: its defaults, its validation, what an update may change.

A `Strategy` is told nothing about HTTP, storage or who asks; it is given whole objects as plain data and answers with
field errors. Objects passed to `default`, `prepare_*` are the caller's own copies and are changed in place; an `old`
object is never changed.
"""

from __future__ import annotations

from tidegate.kube.wire import Object
from tidegate.local.errors import FieldError


class Strategy:
    """The rules of a kind without rules: spec and status as they come, metadata checked by the server."""

    has_status = False
    """Whether `/status` exists: then a plain write cannot change `status`, and a status write nothing else."""

    generates_generation = True
    """Whether metadata.generation counts changes of what the user wants (everything but metadata and status)."""

    unconditional_update = True
    """Whether a PUT without resourceVersion is taken as 'whatever is there'."""

    creates_on_update = False
    """Whether a PUT of a name that does not exist creates it."""

    def default(self, obj: Object) -> None:
        """Fills in what the user left out. Runs on every decoded body, before admission."""

    def prepare_create(self, obj: Object) -> None:
        """Drops what a user may not say when creating, and makes what follows from the rest.

        Name, uid and creationTimestamp are there by now: some kinds are made of them (a Job's selector).
        """
        if self.has_status:
            obj.pop("status", None)

    def prepare_update(self, obj: Object, old: Object) -> None:
        """Puts back what a plain update may not change."""
        if self.has_status:
            obj.pop("status", None)
            if "status" in old:
                obj["status"] = old["status"]

    def prepare_status_update(self, obj: Object, old: Object) -> None:
        """Puts back everything but status (and the metadata a status write may touch)."""
        status = obj.get("status")
        metadata = obj.get("metadata", {})
        kept = dict(old)
        kept["metadata"] = metadata
        if status is None:
            kept.pop("status", None)
        else:
            kept["status"] = status
        obj.clear()
        obj.update(kept)

    def prepare_delete(self, obj: Object) -> None:
        """Puts on an object that is to go what must happen first: finalizers, conditions."""

    def validate_create(self, obj: Object) -> list[FieldError]:
        return []

    def validate_update(self, obj: Object, old: Object) -> list[FieldError]:
        return []

    def validate_status_update(self, obj: Object, old: Object) -> list[FieldError]:
        return []

    def subresource(self, name: str) -> Strategy | None:
        """The rules of another door to the same object, e.g. a pod's `resize`, if there is one: use its
        `prepare_update` and `validate_update`."""
        return None

    def warnings(self, obj: Object, old: Object | None) -> list[str]:
        """What is odd about a good object, told in Warning headers; `old` is None if it is new."""
        return []

    def name_errors(self, name: str) -> list[str]:
        """Why `name` cannot name such an object; most kinds want a DNS subdomain."""
        from tidegate.local.kinds.names import dns_subdomain

        return dns_subdomain(name)
