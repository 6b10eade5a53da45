"""`tidegate why NAME`: why a workload waits, shrank or was evicted, from its own status."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    from tidegate.kube.client import Client

Json = dict[str, Any]


_EXAMPLES = """examples:
  tidegate why train-x7k2p           # the name that `tidegate run` and `tidegate status` show
  tidegate why -n team-a job/etl
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    command.add_argument("name", metavar="NAME", help="a workload, or the application it stands for")
    options(command)
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.queued.tables import document

    async def find(client: Client, namespace: str) -> Json:
        from tidegate.cli.jobs.found import find_workload

        return await find_workload(client, namespace, told.name)

    workload = on_cluster(told, find)
    if told.output == "table":
        print("\n".join(explained(workload)))
    else:
        print(document({"metadata": {"name": workload["metadata"]["name"]}, **_parts(workload)}, told.output))
    return 0


def _parts(workload: Json) -> Json:
    return {"spec": workload["spec"], "status": workload.get("status") or {}}


def explained(workload: Json) -> list[str]:
    """What is known of it, in sentences with numbers."""
    from tidegate.cli.queued.tables import amounts

    status = workload.get("status") or {}
    meta = workload["metadata"]
    queue, state = workload["spec"].get("queue"), status.get("state", "Pending")
    lines = [f"{meta['namespace']}/{meta['name']}: {state}, in Queue {queue}"]
    for pod_set in workload["spec"]["podSets"]:
        lines.append("  " + _pod_set(pod_set, status))
    if waiting := status.get("waiting"):
        ahead = f"; {waiting['ahead']} before it in line" if waiting.get("ahead") else ""
        lines.append(f"It waits ({waiting['reason']}): {waiting.get('message', '')}{ahead}.")
        if waiting.get("shortBy"):
            lines.append(f"It would come in with this much more: {amounts(waiting['shortBy'])}.")
        if waiting.get("eta"):
            lines.append(f"It asks again at {waiting['eta']}.")
    for condition in status.get("conditions") or ():
        if condition["type"] in ("Evicted", "Shrunk", "Finished") and condition["status"] == "True":
            said = f": {condition['message']}" if condition.get("message") else ""
            lines.append(f"{condition['type']} at {condition['lastTransitionTime']} ({condition['reason']}){said}.")
    if requeue := status.get("requeue"):
        lines.append(f"Evicted {requeue['count']} times so far.")
    if status.get("state") == "Admitted" and not status.get("waiting"):
        lines.append("It has all it asked for.")
    if not status:
        lines.append("No operator has looked at it yet. Is one running? `tidegate operator`, or `tidegate up`.")
    return lines


def _pod_set(pod_set: Json, status: Json) -> str:
    has: Json = next((each for each in status.get("podSets") or () if each["name"] == pod_set["name"]), {})
    each = ", ".join(f"{text} {name}" for name, text in (pod_set.get("requests") or {}).items()) or "nothing"
    floor = pod_set.get("minCount", pod_set["count"])
    return (
        f"{pod_set['name']}: {has.get('granted', 0)} of {pod_set['count']} pods granted (starts with {floor}), "
        f"{has.get('running', 0)} there; {each} each"
    )
