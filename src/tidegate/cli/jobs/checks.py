"""Slips in names, told before anything is made: what is made with them would wait, or run, as nobody meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client


async def check_queue(client: Client, namespace: str, name: str) -> None:
    """Where nobody knows queues, or this one, a Job in line would wait for ever."""
    from tidegate.cli.near import did_you_mean
    from tidegate.cli.queued.namespaces import check_namespace
    from tidegate.controller.kinds import QUEUES

    known = {str(queue["metadata"]["name"]) for queue in (await client.list(QUEUES, namespace)).items}
    if name not in known:
        await check_namespace(client, namespace)
        near = did_you_mean(name, known)
        make = f"`tidegate queue create {name} -n {namespace}` makes it."
        raise CommandError(f"Namespace {namespace} has no Queue {name}. {near or make}")


async def check_priority(client: Client, name: str | None) -> None:
    """A slip in its name would be no priority at all, without a word."""
    from tidegate.cli.near import did_you_mean
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import PRIORITYCLASSES

    if name is None:
        return
    try:
        known = [str(each["metadata"]["name"]) for each in (await client.list(PRIORITYCLASSES)).items]
    except StatusError:  # Not everybody may ask.
        return
    if name not in known:
        raise CommandError(f"There is no PriorityClass {name}. {did_you_mean(name, known)}")
