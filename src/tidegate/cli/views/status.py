"""`tidegate status`: the tree of queues, with what each deserves, holds and uses; and who runs and who waits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.errors import UsageError
from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    from tidegate.cli.views.rows import Seen
    from tidegate.kube.client import Client

Json = dict[str, Any]

_EXAMPLES = """examples:
  tidegate status                    # everything there is
  tidegate status -n team-a          # the Queues and workloads of one namespace
  tidegate status --watch            # as it changes, until Ctrl-C
  tidegate status -o json            # for programs: the objects with their statuses
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    command.add_argument("-w", "--watch", action="store_true", help="show it as it changes, until Ctrl-C")
    command.add_argument("-a", "--all", action="store_true", help="also workloads that have finished")
    options(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    if told.watch and told.output != "table":
        raise UsageError("--watch shows tables. Leave -o out, or --watch.")

    async def work(client: Client, usual: str) -> None:
        from tidegate.cli.queued.namespaces import check_namespace

        seen, namespace = await read(client, told.namespace, usual)
        if namespace is not None and not seen.queues:
            await check_namespace(client, namespace)
        if told.watch:
            from tidegate.cli.views.watching import Scope, watch

            scope = Scope(namespace, tree=bool(seen.cluster_queues), finished=told.all)
            await watch(client, scope, lambda seen: shown(seen, finished=told.all))
        else:
            _print(seen, told)

    on_cluster(told, work)
    return 0


async def read(client: Client, namespace: str | None, usual: str) -> tuple[Seen, str | None]:
    """What is shown, of one namespace or of all, and of which it is. A tenant who may not see all sees their own."""
    from tidegate.cli.views.rows import Seen
    from tidegate.controller.kinds import CLUSTER_QUEUES, QUEUES, WORKLOADS
    from tidegate.kube.client import StatusError

    try:
        queues = (await client.list(QUEUES, namespace)).items
    except StatusError as refused:
        if refused.code != 403 or namespace is not None:
            raise
        namespace = usual
        queues = (await client.list(QUEUES, namespace)).items
    try:
        cluster_queues = (await client.list(CLUSTER_QUEUES)).items
    except StatusError as refused:
        if refused.code != 403:
            raise
        cluster_queues = []
    return Seen(cluster_queues, queues, (await client.list(WORKLOADS, namespace)).items), namespace


def _print(seen: Seen, told: argparse.Namespace) -> None:
    from tidegate.cli.queued.tables import document

    if told.output == "table":
        print(shown(seen, finished=told.all))
        return
    listed = [*seen.cluster_queues, *seen.queues, *seen.workloads]
    print(document([_plain(each) for each in listed], told.output))


def _plain(obj: Json) -> Json:
    meta = {key: obj["metadata"][key] for key in ("namespace", "name") if obj["metadata"].get(key)}
    return {"kind": obj["kind"], "metadata": meta, "spec": obj.get("spec"), "status": obj.get("status")}


def shown(seen: Seen, *, finished: bool) -> str:
    """Both tables as text."""
    from datetime import UTC, datetime

    from tidegate.cli.queued.tables import table
    from tidegate.cli.views.rows import QUEUE_HEADING, WORKLOAD_HEADING, is_over, queue_rows, workload_rows

    parts = [table([QUEUE_HEADING, *queue_rows(seen)])]
    listed = [each for each in seen.workloads if finished or not is_over(each)]
    if listed:
        parts.append(table([WORKLOAD_HEADING, *workload_rows(listed, datetime.now(UTC))]))
    parts.append(_left_out(seen, listed))
    return "\n\n".join(part for part in parts if part)


def _left_out(seen: Seen, listed: list[Json]) -> str:
    over = len(seen.workloads) - len(listed)
    nothing = "" if listed else "Nothing runs and nothing waits. Put something in line: `tidegate run -- CMD`. "
    left = f"{over} finished {'is' if over == 1 else 'are'} left out; --all shows them." if over else ""
    return (nothing + left).strip()
