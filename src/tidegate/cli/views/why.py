"""`tidegate why NAME`: why a workload waits, shrank or was evicted, from its own status; and when it may start."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    from tidegate.cli.views.estimate import Estimate
    from tidegate.kube.client import Client

Json = dict[str, Any]
_NO_OPERATOR = "No operator has looked at it yet. Is one running? `tidegate operator`, or `tidegate up`."

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

    async def find(client: Client, namespace: str) -> tuple[Json, Estimate | None, str]:
        from tidegate.cli.jobs.found import find_workload
        from tidegate.cli.views.estimate import estimate

        workload = await find_workload(client, namespace, told.name, looked_at=True)
        if not _waits_to_start(workload):
            return workload, None, await _warning(client, workload)
        return workload, await estimate(client, namespace, workload["metadata"]["name"]), ""

    workload, start, warning = on_cluster(told, find)
    if told.output == "table":
        print("\n".join([*explained(workload), *([] if start is None else [starting(start)])]))
        if warning:
            print(warning)
    else:
        meta = {key: workload["metadata"][key] for key in ("namespace", "name")}
        shown: Json = {"metadata": meta, "spec": workload["spec"], "status": workload.get("status") or {}}
        if start is not None:
            shown["start"] = {"inSeconds": start.in_s, "unknownBecause": start.because or None}
        if warning:
            shown["warning"] = warning
        print(document(shown, told.output))
    return 0


def _waits_to_start(workload: Json) -> bool:
    return (workload.get("status") or {}).get("state") in ("Pending", "Evicted")


async def _warning(client: Client, workload: Json) -> str:
    """Why pods that are there do not start; else what its application was last warned of, where pods that may run are
    not there: a quota refuses them, say."""
    from tidegate.cli.jobs.follow import hindrance
    from tidegate.cli.jobs.found import pods_of
    from tidegate.cli.views.rows import is_over
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import EVENTS

    owner, pods = workload["spec"].get("owner"), (workload.get("status") or {}).get("podSets") or ()
    if not is_over(workload) and (hindered := hindrance(await pods_of(client, workload))):
        return f"{hindered[0].upper()}{hindered[1:].rstrip('.')}."
    if not owner or all(each["running"] >= each["granted"] - sum(each["held"].values()) for each in pods):
        return ""
    fields = f"involvedObject.uid={owner['uid']},type=Warning"
    try:
        found = (await client.list(EVENTS, workload["metadata"]["namespace"], fields=fields)).items
    except StatusError:  # Not everybody may read events.
        return ""
    last = max(found, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""), default=None)
    return f"Its pods are not there. Its {owner['kind']} says ({last['reason']}): {last['message']}" if last else ""


def starting(start: Estimate) -> str:
    """When it may start, in a sentence."""
    from datetime import datetime, timedelta

    from tidegate.cli.queued.tables import span

    if start.in_s is None:
        return f"When it starts cannot be told: {start.because}."
    if not start.in_s:
        return "It starts at once."
    at = datetime.now() + timedelta(seconds=start.in_s)
    return f"It starts in {span(start.in_s)} (at {at:%H:%M:%S}) or before, if nobody else comes."


def explained(workload: Json) -> list[str]:
    """What is known of it, in sentences with numbers."""
    status, meta = workload.get("status") or {}, workload["metadata"]
    queue, state = workload["spec"].get("queue"), status.get("state", "Pending")
    lines = [f"{meta['namespace']}/{meta['name']}: {state}, in Queue {queue}"]
    lines += ["  " + _pod_set(pod_set, status) for pod_set in workload["spec"]["podSets"]]
    lines += _waiting(status.get("waiting"), runs=state == "Admitted")
    for condition in status.get("conditions") or ():
        if condition["type"] in ("Evicted", "Shrunk", "Finished") and condition["status"] == "True":
            said = f": {condition['message']}" if condition.get("message") else ""
            lines.append(f"{condition['type']} at {condition['lastTransitionTime']} ({condition['reason']}){said}.")
    if requeue := status.get("requeue"):
        count = int(requeue["count"])
        lines.append(f"Evicted {'once' if count == 1 else f'{count} times'} so far.")
    if state == "Admitted" and not status.get("waiting"):
        lines.append("It was given all it asked for.")
    return lines if status else [*lines, _NO_OPERATOR]


def _waiting(waiting: Json | None, *, runs: bool) -> list[str]:
    """Why it waits, or waits for more, and what would let it in."""
    from tidegate.cli.queued.tables import amounts

    if not waiting:
        return []
    ahead = f"; {waiting['ahead']} before it in line" if waiting.get("ahead") else ""
    what, then = ("It waits for more pods", "grow") if runs else ("It waits", "come in")
    lines = [f"{what} ({waiting['reason']}): {waiting.get('message', '')}{ahead}."]
    if waiting.get("shortBy"):
        lines.append(f"It would {then} with this much more: {amounts(waiting['shortBy'])}.")
    if waiting.get("eta"):
        lines.append(f"It asks again at {waiting['eta']}.")
    return lines


def _pod_set(pod_set: Json, status: Json) -> str:
    has: Json = next((each for each in status.get("podSets") or () if each["name"] == pod_set["name"]), {})
    each = ", ".join(f"{text} {name}" for name, text in (pod_set.get("requests") or {}).items()) or "nothing"
    floor = pod_set.get("minCount", pod_set["count"])
    return (
        f"{pod_set['name']}: {has.get('granted', 0)} of {pod_set['count']} pods granted (starts with {floor}), "
        f"{has.get('running', 0)} there; {each} each"
    )
