"""What Kubernetes knows about its own kinds: defaults, validation, and what an update may change.

One package per API group, a `Strategy` per kind, found with `strategy_for`. Pure: objects in, field errors out. Nothing
here reads a clock, another object or the store, and nothing knows HTTP; names, uids, times, addresses and
resourceVersions are the server's to fill in before it asks.
"""

from tidegate.local.kinds.registry import strategy_for

__all__ = ["strategy_for"]
