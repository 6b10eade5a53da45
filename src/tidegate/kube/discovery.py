"""Which resources a server has, and finding one by the word that people use for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from tidegate.kube.client import Client
from tidegate.kube.wire import Object, Resource

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


@dataclass(frozen=True, slots=True)
class Served:
    """One resource as the server tells of it."""

    resource: Resource[Object]
    singular: str = ""
    short_names: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()

    def is_called(self, word: str) -> bool:
        """Whether `word` (lower case) means this: its plural, singular, kind or a short name, perhaps with the group
        or version and group after a dot."""
        name, _, suffix = word.partition(".")
        names = (self.resource.plural, self.singular, self.resource.kind.lower(), *self.short_names)
        group, version = self.resource.group, self.resource.version
        return name in names and suffix in ("", group, f"{version}.{group}" if group else version)


async def served_resources(client: Client) -> list[Served]:
    """Everything the server has, without subresources; the core group first, then in the server's own order."""
    core, groups = await asyncio.gather(
        client.raw("GET", "/api", accept=_AGGREGATED), client.raw("GET", "/apis", accept=_AGGREGATED)
    )
    if core.get("kind") == groups.get("kind") == "APIGroupDiscoveryList":
        return [served for answer in (core, groups) for group in answer["items"] for served in _aggregated(group)]
    return await _one_by_one(client, core, groups)


async def find_resource(client: Client, word: str) -> Resource[Object]:
    """The resource that `word` means: `pods`, `Pod`, `po`, `deployments.apps`, `jobs.v1.batch`. LookupError if none."""
    for served in await served_resources(client):
        if served.is_called(word.lower()):
            return served.resource
    raise LookupError(f"The server has no resource called {word!r}. See `kubectl api-resources`.")


def _aggregated(group: Object) -> list[Served]:
    name = (group.get("metadata") or {}).get("name") or ""
    return [
        Served(
            Resource(
                name,
                version["version"],
                entry["resource"],
                entry["responseKind"]["kind"],
                entry.get("scope") == "Namespaced",
            ),
            entry.get("singularResource") or "",
            tuple(entry.get("shortNames") or ()),
            tuple(entry.get("verbs") or ()),
        )
        for version in group.get("versions") or []
        for entry in version.get("resources") or []
        if entry.get("responseKind")
    ]


async def _one_by_one(client: Client, core: Object, groups: Object) -> list[Served]:
    versions = [("", version) for version in core.get("versions") or []]
    for group in groups.get("groups") or []:
        # The preferred version comes first, so that a word without a version means that one.
        preferred = (group.get("preferredVersion") or {}).get("version")
        names = sorted((entry["version"] for entry in group["versions"]), key=lambda name: name != preferred)
        versions += [(group["name"], name) for name in names]
    answers = await asyncio.gather(*(_of_version(client, group, version) for group, version in versions))
    return [served for answer in answers for served in answer]


async def _of_version(client: Client, group: str, version: str) -> list[Served]:
    path = f"/apis/{group}/{version}" if group else f"/api/{version}"
    answer: dict[str, Any] = await client.raw("GET", path)
    return [
        Served(
            Resource(group, version, entry["name"], entry["kind"], bool(entry.get("namespaced"))),
            entry.get("singularName") or "",
            tuple(entry.get("shortNames") or ()),
            tuple(entry.get("verbs") or ()),
        )
        for entry in answer.get("resources") or []
        if "/" not in entry["name"]
    ]
