"""ClusterQueues that would be no tree: one that is its own ancestor, alone or by way of others."""

from __future__ import annotations

from collections.abc import Callable

from tidegate.kube.wire import Object

_MOST_LEVELS = 64

Find = Callable[[str], Object | None]


def what_is_wrong(obj: Object, find: Find) -> str | None:
    """One sentence why a ClusterQueue cannot have this parent, one what to do; None where it can."""
    name = str((obj.get("metadata") or {}).get("name") or "")
    path, above = [name], _parent(obj)
    while above is not None:
        path.append(above)
        if above == name:
            way = " → ".join(path)
            return f"spec.parent: ClusterQueue {name} would be its own ancestor ({way}); choose another parent"
        if len(path) > _MOST_LEVELS:
            return f"spec.parent: the tree would have more than {_MOST_LEVELS} levels; choose a parent nearer the root"
        node = find(above)
        above = _parent(node) if node is not None else None
    return None


def _parent(obj: Object) -> str | None:
    stated = (obj.get("spec") or {}).get("parent")
    return str(stated) if stated else None
