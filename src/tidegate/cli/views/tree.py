"""The queues as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def tree(cluster_queues: list[Json], queues: list[Json]) -> Iterator[tuple[int, Json]]:
    """Every node once, under its parent and by name; those whose parent does not exist come last."""
    above: dict[str, list[Json]] = {}
    names = {node["metadata"]["name"] for node in cluster_queues}
    for node in sorted([*cluster_queues, *queues], key=full_name):
        spec = node.get("spec") or {}
        parent = spec.get("parent", "") if node["kind"] == "ClusterQueue" else spec.get("clusterQueue", "root")
        above.setdefault(parent if parent in names else ("" if not parent else "?"), []).append(node)
    seen: set[str] = set()

    def below(parent: str, depth: int) -> Iterator[tuple[int, Json]]:
        for node in above.get(parent, ()):
            yield depth, node
            name = node["metadata"]["name"]
            if node["kind"] == "ClusterQueue" and name not in seen:
                seen.add(name)
                yield from below(name, depth + 1)

    yield from below("", 0)
    yield from below("?", 0)


def full_name(node: Json) -> str:
    """namespace/name, or the name alone."""
    meta = node["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])
