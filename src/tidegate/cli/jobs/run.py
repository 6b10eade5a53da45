"""`tidegate run -- CMD`: a command as a queued Job; its place in line, its log, its exit status."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from tidegate.cli.arguments import whole
from tidegate.cli.errors import CommandError, UsageError
from tidegate.cli.queued.cluster import on_cluster, options

if TYPE_CHECKING:
    import asyncio

    from tidegate.cli.jobs.follow import Following
    from tidegate.cli.jobs.streams import UnheardError
    from tidegate.kube.client import Client

Json = dict[str, Any]
_INTERRUPTED = 130

_EXAMPLES = """examples:
  tidegate run -- python train.py                      # one cpu, in the Queue `default`
  tidegate run --cpu 4 --memory 8Gi --time 2h -- make  # says how long at most, so others know when they start
  tidegate run --pods 8 --min 1 -- ./sweep.sh          # begins with one pod, grows to eight; $JOB_COMPLETION_INDEX
  tidegate run --detach -- ./nightly.sh                # then: tidegate logs -f NAME

Where nothing was set up, this machine becomes a cluster of its own; no other server is ever started or touched. The
first Ctrl-C cancels the Job. The exit status is the command's own.
"""


def register(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.epilog = _EXAMPLES
    command.usage = "tidegate run [options] -- CMD ..."
    add = command.add_argument
    add("--queue", metavar="NAME", help="the Queue (default: `default`)")
    add("--cpu", default="1", metavar="N", help="cpus of one pod (default: %(default)s)")
    add("--memory", metavar="1Gi", help="memory of one pod")
    add("--gpu", metavar="N", type=whole(0), help="GPUs of one pod")
    add("--pods", type=whole(1), default=1, metavar="N", help="how many pods run it (default: 1)")
    add("--min", type=whole(0), metavar="N", help="with how many it may start, growing as room comes (default: all)")
    add("--time", metavar="30m", help="how long it may run at most; it is stopped then")
    add("--priority-class", metavar="NAME", help="a PriorityClass: who is more urgent comes first")
    add("--image", default="host", help="image (default: host, the command as it is on this machine)")
    add("--env", action="append", default=[], metavar="NAME[=VALUE]", help="set a variable, or pass on one of yours")
    add("--name", metavar="NAME", help="name of the Job (default: after the command)")
    add("--detach", action="store_true", help="put it in line and return at once")
    options(command)
    add("words", nargs=argparse.REMAINDER, metavar="-- CMD", help="the command")
    command.set_defaults(run=_run)


def _run(told: argparse.Namespace) -> int:
    from tidegate.cli.jobs.checks import check_priority, check_queue
    from tidegate.cli.jobs.job import job

    words = told.words[1:] if told.words[:1] == ["--"] else told.words
    if not words:
        raise UsageError("There is no command to run. Write it after two dashes: tidegate run -- python train.py.")
    if told.min is not None and told.min > told.pods:
        raise UsageError(f"--min is {told.min}, and there are {told.pods} --pods. Ask for more, or start with fewer.")
    if told.output != "table" and not told.detach:
        raise UsageError("-o shows the Job that is made, and the command speaks itself here. Add --detach.")
    body = job(told, words)

    async def work(client: Client, namespace: str) -> int:
        await check_queue(client, namespace, told.queue or "default")
        await check_priority(client, told.priority_class)
        return await _put_in_line(client, namespace, body, told)

    return on_cluster(told, work, start=True)


async def _make(client: Client, namespace: str, body: Json) -> Json:
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import JOBS

    try:
        made: Json = await client.create(JOBS, body, namespace)
    except StatusError as refused:
        name = body["metadata"].get("name")
        if refused.code == 409 and name:
            free = f"`tidegate cancel {name}{_where(namespace)}` takes it away."
            raise CommandError(f"There is a job/{name} already. Choose another --name; {free}") from None
        raise
    return made


async def _put_in_line(client: Client, namespace: str, body: Json, told: argparse.Namespace) -> int:
    import asyncio

    from tidegate.cli.jobs.interrupts import Interrupts
    from tidegate.cli.queued.tables import document

    if not told.detach:
        # From before it is made: what is made and not cancelled would be left behind.
        with Interrupts() as interrupted:
            name = str((await _make(client, namespace, body))["metadata"]["name"])
            try:
                return await _attend(client, namespace, name, interrupted, several=told.pods > 1)
            except (asyncio.CancelledError, KeyboardInterrupt):  # The second Ctrl-C, wherever it was heard.
                print(f"\njob/{name} may go on; {_ends_it(namespace, name)}.", file=sys.stderr)
                raise
    made = await _make(client, namespace, body)
    name = str(made["metadata"]["name"])
    if told.output == "table":
        where = _where(namespace)
        print(f"job/{name} is in line. See `tidegate logs -f {name}{where}`, `tidegate why {name}{where}`.")
    else:
        print(document(made, told.output))
    return 0


async def _attend(client: Client, namespace: str, name: str, interrupted: asyncio.Event, *, several: bool) -> int:
    """Until it has ended, or was cancelled from here."""
    from tidegate.cli.jobs.follow import Following
    from tidegate.cli.jobs.interrupts import first
    from tidegate.cli.jobs.line import Line
    from tidegate.cli.jobs.streams import Streams, UnheardError

    line = Line(f"job/{name}")
    streams = Streams(client, namespace, several=several, query={"follow": "true"}, speaks=line.hush)
    async with Following(client, namespace, name) as followed:
        with line:
            line.say("is in line")
            while followed.outcome is None and not interrupted.is_set() and not streams.unheard.is_set():
                followed.changed.clear()
                streams.follow(followed.pods)
                line.say(followed.standing, runs=streams.begun)
                await first(followed.changes(), interrupted.wait(), streams.unheard.wait())
        if interrupted.is_set() and followed.outcome is None:
            streams.stop()
            return await _cancel(client, namespace, name)
        streams.follow(followed.pods)
        try:
            await streams.ended()
        except UnheardError as error:
            streams.stop()
            return await _unheard(client, namespace, name, error, is_over=followed.outcome is not None)
        return _exit_status(followed, name)


async def _cancel(client: Client, namespace: str, name: str) -> int:
    from tidegate.kube.resources import JOBS

    print(f"\nCancelling job/{name} …", file=sys.stderr, flush=True)
    try:
        await client.delete(JOBS, name, namespace)
    except OSError:
        later = f"{_ends_it(namespace, name)} once the server answers."
        raise CommandError(f"The server does not answer, so job/{name} is not cancelled. {later}") from None
    print(f"job/{name} is cancelled.", file=sys.stderr)
    return _INTERRUPTED


async def _unheard(client: Client, namespace: str, name: str, error: UnheardError, *, is_over: bool) -> int:
    """What it says cannot be shown here. With nobody to read it, it ends, as it would without a queue; where there is
    no room for its words, the work is worth more than they are."""
    if error.is_unread:
        if not is_over:
            await _cancel(client, namespace, name)
        raise BrokenPipeError
    goes_on = "" if is_over else f" It goes on; {_ends_it(namespace, name)}."
    see = f"See `tidegate logs {name}{_where(namespace)}`."
    raise CommandError(f"What job/{name} says cannot be written: {error}.{goes_on} {see}")


def _where(namespace: str) -> str:
    return "" if namespace == "default" else f" -n {namespace}"


def _ends_it(namespace: str, name: str) -> str:
    return f"`tidegate cancel {name}{_where(namespace)}` ends it"


def _exit_status(followed: Following, name: str) -> int:
    match followed.outcome:
        case "Complete":
            return 0
        case "Deleted":
            raise CommandError(f"job/{name} was cancelled by somebody else. Run it again if it is still wanted.")
    if followed.was_too_long:  # Its pods are taken away then: whether one is left to say how it ended is chance.
        raise CommandError(f"job/{name} ran as long as --time lets it, and was ended. Give it more.")
    if any((pod.get("status") or {}).get("phase") == "Failed" for pod in followed.pods):
        if followed.obstacle:
            print(f"tidegate: {followed.obstacle}.", file=sys.stderr)
        return followed.exit_code
    raise CommandError(f"job/{name} failed: {followed.failure}. Look at it with `kubectl describe job {name}`.")
