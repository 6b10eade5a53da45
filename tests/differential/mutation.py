"""Random changes of good manifests, to hunt for answers nobody thought of. The same seed gives the same requests."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.differential.stories import GONE, TYPES, Step, Story, bases, changed

Json = Any

# Definitions come and go slowly and widgets need theirs; both have stories of their own.
KINDS = sorted(set(bases()) - {"crd", "widget"})
ODD = [
    None, "", " ", "a", "A", "a.b", "-", "a_b", "é", "x" * 64, "x" * 254, "0", "1", "-1", "1.5", "1e3", "100m", "1Gi",
    "true", 0, 1, -1, 2, 80, 65536, 2**31, 2**63, 1.5, True, False, [], [""], [None], {}, {"a": "b"}, {"": ""},
    "50%", "2020-01-01T00:00:00Z", "/abs/path", "../up", "http://a", "10.0.0.1",
]  # fmt: skip
QUERIES = ["", "", "", "?fieldValidation=Strict", "?fieldValidation=Warn", "?dryRun=All", "?fieldManager=me"]


def paths(value: Json, prefix: str = "") -> Iterator[str]:
    """Every field path of a manifest, parents before children."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        path = f"{prefix}{str(key).replace('.', '~')}"
        yield path
        yield from paths(item, f"{path}.")


def change(manifest: Json, chance: random.Random) -> dict[str, Json]:
    """One change: a field removed, given an odd value, doubled, or made up."""
    path = chance.choice([p for p in paths(manifest) if not p.startswith(("apiVersion", "kind"))])
    kind = chance.random()
    if kind < 0.15:
        return {path: GONE}
    if kind < 0.25:
        parent = path.rsplit(".", 1)[0] if "." in path else "metadata"
        return {f"{parent}.{chance.choice(['unknown', 'name', 'spec', 'type'])}": chance.choice(ODD)}
    return {path: chance.choice(ODD)}


def stories(seed: int, count: int) -> Iterator[Story]:
    """`count` stories: a changed manifest is created, or a good one created and then changed."""
    for number in range(count):
        chance = random.Random(f"{seed}/{number}")
        kind = chance.choice(KINDS)
        yield Story("random", f"{seed}/{number} {kind}", tuple(_steps(kind, chance)))


def _steps(kind: str, chance: random.Random) -> Iterator[Step]:
    base = bases()[kind]
    manifest = base["manifest"]
    wanted: dict[str, Json] = {}
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        wanted |= change(manifest, chance)
    query = chance.choice(QUERIES)
    one = f"{base['path']}/{manifest['metadata']['name']}"
    if chance.random() < 0.5:
        yield Step(method="POST", path=base["path"] + query, body=_changed(manifest, wanted))
        return
    yield Step(method="POST", path=base["path"], body=manifest)
    if chance.random() < 0.5:
        yield Step(method="PUT", path=one + query, body=_changed(manifest, wanted), ignore=TOUCHED)
    else:
        body = {path.split(".")[0]: _changed(manifest, wanted).get(path.split(".")[0]) for path in wanted}
        headers = {"Content-Type": TYPES[chance.choice(["merge", "strategic"])]}
        yield Step(method="PATCH", path=one + query, body=body, headers=headers, ignore=TOUCHED)
    yield Step(method="GET", path=one, ignore=TOUCHED)


# Controllers write these between our two requests.
TOUCHED = (
    *("status", "object.status", "spec.taints"),
    *(f"metadata.{key}" for key in ("resourceVersion", "annotations", "managedFields", "finalizers")),
)


def _changed(manifest: Json, wanted: dict[str, Json]) -> Json:
    result = manifest
    for path, value in wanted.items():
        try:
            result = changed(result, {path: value})
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # An earlier change took away what this one was to change.
            continue
    return result
