"""The four patches of Kubernetes' API, as functions from objects to objects.

Every function takes decoded JSON, leaves its arguments as they are, shares what does not change, and refuses with the
`ApiError` that Kubernetes would answer. Nothing here reads requests, stores, defaults or validates objects.
"""

from tidegate.local.patch.apply import (
    Applier,
    FieldSet,
    identical,
    reset_fields,
    server_side_apply,
    settled,
    track_update,
)
from tidegate.local.patch.json_patch import json_patch
from tidegate.local.patch.merge_patch import merge_patch
from tidegate.local.patch.strategic import strategic_patch

__all__ = [
    "Applier",
    "FieldSet",
    "identical",
    "json_patch",
    "merge_patch",
    "reset_fields",
    "server_side_apply",
    "settled",
    "strategic_patch",
    "track_update",
]
