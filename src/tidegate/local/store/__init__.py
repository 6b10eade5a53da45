"""The store: a log of revisions in SQLite, with compare-and-swap, watches and compaction.

It keeps bytes under keys and knows nothing of Kubernetes. One process owns the file; everything but the commit itself
runs on that process' event loop.
"""

from tidegate.local.store.kept import Kept
from tidegate.local.store.log import Change, CompactedError, Row
from tidegate.local.store.store import NotStoredError, StaleError, Store
from tidegate.local.store.subscription import Subscription

__all__ = ["Change", "CompactedError", "Kept", "NotStoredError", "Row", "StaleError", "Store", "Subscription"]
