"""`tidegate status`: the tree of queues, with what each deserves, holds and uses."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]
_HEADING = ("QUEUE", "DESERVED", "ALLOCATED", "USED", "SHARE", "PENDING", "ADMITTED", "NOTE")


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    from tidegate.cli.queued.cluster import options

    options(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.cluster import on_cluster
    from tidegate.cli.queued.tables import document, table

    nodes = on_cluster(told, _read)
    if told.output == "table":
        print(table([_HEADING, *(_row(depth, node) for depth, node in tree(*nodes))]))
    else:
        listed = [*nodes[0], *nodes[1]]
        print(
            document(
                [{"kind": n["kind"], "metadata": _named(n), "status": n.get("status")} for n in listed], told.output
            )
        )
    return 0


async def _read(client: Client, namespace: str) -> tuple[list[Json], list[Json]]:
    from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES

    return (await client.list(CLUSTER_QUEUES)).items, (await client.list(QUEUES)).items


def tree(cluster_queues: list[Json], queues: list[Json]) -> Iterator[tuple[int, Json]]:
    """Every node once, under its parent and by name; those whose parent does not exist come last."""
    above: dict[str, list[Json]] = {}
    names = {node["metadata"]["name"] for node in cluster_queues}
    for node in sorted([*cluster_queues, *queues], key=_name):
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


def _name(node: Json) -> str:
    meta = node["metadata"]
    return f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else str(meta["name"])


def _named(node: Json) -> Json:
    return {key: node["metadata"][key] for key in ("namespace", "name") if node["metadata"].get(key)}


def _row(depth: int, node: Json) -> tuple[str, ...]:
    from tidegate.cli.queued.tables import amounts

    status = node.get("status") or {}
    notes = [
        each.get("message") or each["reason"] for each in status.get("conditions") or () if each["status"] == "False"
    ]
    return (
        "  " * depth + _name(node),
        amounts(status.get("deserved")),
        amounts(status.get("allocated")),
        amounts(status.get("used")),
        str(status.get("share", "-")),
        str(status.get("pendingWorkloads", "-")),
        str(status.get("admittedWorkloads", "-")),
        "; ".join(notes),
    )
