"""Namespaces as commands meet them: one that does not exist is told of, with what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate.cli.errors import CommandError

if TYPE_CHECKING:
    from tidegate.kube.client import Client


async def check_namespace(client: Client, name: str) -> None:
    """CommandError where there is no such namespace, as far as one may know."""
    from tidegate.cli.near import did_you_mean
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import NAMESPACES

    try:
        await client.get(NAMESPACES, name)
    except StatusError as refused:
        if refused.code != 404:  # Not everybody may ask.
            return
        try:
            known = [str(each["metadata"]["name"]) for each in (await client.list(NAMESPACES)).items]
        except StatusError:
            known = []
        near = did_you_mean(name, known)
        make = f"`tidegate queue create default -n {name} --create-namespace` makes it, with a Queue."
        raise CommandError(f"There is no namespace {name}. {near if near.startswith('Did') else make}") from None


async def make_namespace(client: Client, name: str) -> None:
    """It is there afterwards, whether it was before or not."""
    from tidegate.kube.client import StatusError
    from tidegate.kube.resources import NAMESPACES

    try:
        await client.create(NAMESPACES, {"metadata": {"name": name}})
    except StatusError as refused:
        if refused.code != 409:
            raise
