"""Writing what a controller found out: the status of an object, and nothing else of it."""

from __future__ import annotations

from typing import TypeVar

from tidegate.kube.client import Client, StatusError
from tidegate.kube.wire import Object, Resource
from tidegate.local.controllers.objects import Meta, merge_patch

T = TypeVar("T")


async def write_status(
    client: Client, resource: Resource[T], metadata: Meta, *, old: Object, new: Object, more: Object | None = None
) -> T | None:
    """The object with its new status; None if it has changed or gone since it was read, which means: look again.

    The version read goes along, since a status that was computed from an older spec would lie. `more` is what is to
    change in the metadata by the same write.
    """
    version = {"resourceVersion": metadata.resource_version}
    patch = {"metadata": {**version, **(more or {})}, "status": merge_patch(old, new)}
    try:
        return await client.patch(resource, metadata.name, patch, metadata.namespace or None, subresource="status")
    except StatusError as error:
        if error.code in {404, 409}:
            return None
        raise


def is_namespace_ending(error: StatusError) -> bool:
    """Nothing can be created in a namespace that is being deleted, and nothing needs to be."""
    causes = (error.status.get("details") or {}).get("causes") or []
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
