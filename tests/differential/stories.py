"""Stories: short sequences of requests, read from the case files.

A case file is a list of stories. A story plays in a fresh namespace, `$NS` in any text, and is one of:

    steps:  requests one by one; `do: METHOD path`, where `pods/x?limit=1` stands for the full path of that resource
    try:    changes to the manifest `base`, each sent as a POST under a name of its own
    change: changes to the manifest `base`, each made to a freshly created object with PUT

A change maps field paths (`spec.containers.0.image`, dots in a key written as `~`) to new values; `<gone>` removes the
field. Of a step, `save: {x: metadata.uid}` makes `$x` of the answer, `until: {status.phase: Active}` asks again until
it is so, `ignore: [path]` leaves out what is rightly different, `as: jane` impersonates.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Json = Any
GONE = "<gone>"
CASES = Path(__file__).parent / "cases"

TYPES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "yaml": "application/yaml",
}
_META = "application/json;g=meta.k8s.io;v=v1;as="
ACCEPTS = {
    "table": f"{_META}Table",
    "partial": f"{_META}PartialObjectMetadata",
    "partials": f"{_META}PartialObjectMetadataList",
    "yaml": "application/yaml",
    "discovery": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request, before its variables are filled in."""

    method: str
    path: str
    body: Json = None
    headers: Mapping[str, str] = field(default_factory=dict)
    save: Mapping[str, str] = field(default_factory=dict)
    until: Mapping[str, Json] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    # The body of the last answer with these changes is sent instead of `body`.
    changed: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """Steps that belong together."""

    theme: str
    name: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return f"{self.theme}: {self.name}"


@functools.cache
def bases() -> dict[str, dict[str, Json]]:
    """Good manifests by short name, each with the `path` of its collection."""
    loaded: dict[str, dict[str, Json]] = yaml.safe_load((CASES.parent / "bases.yaml").read_text())
    return loaded


@functools.cache
def collections() -> dict[str, str]:
    """Full paths by plural name."""
    return {base["path"].rsplit("/", 1)[1]: base["path"] for base in bases().values()}


def full_path(short: str) -> str:
    """`pods/x?limit=1` written out."""
    if short.startswith("/"):
        return short
    ends = [at for at in (short.find("/"), short.find("?")) if at >= 0]
    plural = short[: min(ends)] if ends else short
    return collections()[plural] + short[len(plural) :]


def changed(manifest: Json, changes: Mapping[str, Json]) -> Json:
    """A copy of `manifest` with each path set to its value, or removed."""
    result = copy.deepcopy(manifest)
    for path, value in changes.items():
        *parents, last = (part.replace("~", ".") for part in path.split("."))
        at = result
        for part in parents:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        if value == GONE:
            at.pop(int(last) if isinstance(at, list) else last, None)
        elif isinstance(at, list):
            at[int(last) : int(last) + 1] = [value]
        else:
            at[last] = value
    return result


def load(only: str = "") -> list[Story]:
    """Every story of every case file whose theme or name contains `only`, in file order."""
    found = []
    for file in sorted(CASES.glob("*.yaml")):
        for raw in yaml.safe_load(file.read_text()):
            story = Story(file.stem, raw["story"], tuple(_steps(raw)))
            if only.lower() in str(story).lower():
                found.append(story)
    return found


def _steps(raw: Mapping[str, Json]) -> Iterator[Step]:
    for step in raw.get("before", ()):
        yield _step(step)
    for step in raw.get("steps", ()):
        yield _step(step)
    query = raw.get("query", "")
    for number, changes in enumerate(raw.get("try", ())):
        yield Step(method="POST", path=_base(raw)["path"] + query, body=_numbered(raw, number, changes))
    for number, changes in enumerate(raw.get("change", ())):
        base, manifest = _base(raw), _numbered(raw, number, {})
        yield Step(method="POST", path=base["path"], body=manifest)
        one = f"{base['path']}/{manifest['metadata']['name']}"
        ignore = tuple(raw.get("ignore", ()))
        yield Step(method="PUT", path=one + query, changed=_without_version(raw, changes), ignore=ignore)


def _base(raw: Mapping[str, Json]) -> Mapping[str, Json]:
    return bases()[raw["base"]]


def _numbered(raw: Mapping[str, Json], number: int, changes: Mapping[str, Json]) -> Json:
    manifest = copy.deepcopy(_base(raw)["manifest"])
    manifest["metadata"]["name"] += f"-{number}"
    return changed(changed(manifest, raw.get("given", {})), changes)


def _without_version(raw: Mapping[str, Json], changes: Mapping[str, Json]) -> Mapping[str, Json]:
    # Controllers may touch the object between the two requests; where that is a danger, the version is left out.
    return changes if raw.get("versioned") else {"metadata.resourceVersion": GONE, **changes}


def _step(raw: Mapping[str, Json]) -> Step:
    method, path = raw["do"].split(" ", 1)
    headers = dict(raw.get("headers", {}))
    if "type" in raw:
        headers["Content-Type"] = TYPES.get(raw["type"], raw["type"])
    if "accept" in raw:
        headers["Accept"] = ACCEPTS.get(raw["accept"], raw["accept"])
    if "as" in raw:
        headers["Impersonate-User"] = raw["as"]
    body = raw.get("body")
    if "base" in raw:
        body = changed(bases()[raw["base"]]["manifest"], raw.get("set", {}))
    if "pad" in raw:
        body = changed(body, {raw["pad"]["at"]: "x" * raw["pad"]["bytes"]})
    return Step(
        method=method,
        path=full_path(path),
        body=body,
        headers=headers,
        save=raw.get("save", {}),
        until=raw.get("until", {}),
        ignore=tuple(raw.get("ignore", ())),
        changed=raw.get("changed"),
    )
