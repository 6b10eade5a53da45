"""The OpenAPI documents a server publishes: for kubectl's validation, `explain` and `apply`, and for generators.

Pure functions from what is served to plain data. Nothing here caches or answers requests; documents are up to a third
of a megabyte, so whoever serves them keeps the bytes.
"""

from tidegate.local.schema.openapi.documents import (
    openapi_hash,
    openapi_v2,
    openapi_v3,
    openapi_v3_index,
    openapi_v3_paths,
)
from tidegate.local.schema.openapi.gnostic import ASKED_AS, MEDIA_TYPE, openapi_v2_protobuf
from tidegate.local.schema.openapi.kinds import PublishedKind

__all__ = [
    "ASKED_AS",
    "MEDIA_TYPE",
    "PublishedKind",
    "openapi_hash",
    "openapi_v2",
    "openapi_v2_protobuf",
    "openapi_v3",
    "openapi_v3_index",
    "openapi_v3_paths",
]
