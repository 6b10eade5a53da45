"""Plays stories on both servers and says where their answers part."""

from __future__ import annotations

import difflib
import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.differential.player import Answer, Player
from tests.differential.stories import Story
from tests.harness import Cluster

ACCEPTED = Path(__file__).parent / "accepted.yaml"


@dataclass(frozen=True, slots=True)
class Difference:
    """One request that two servers answered differently."""

    story: Story
    number: int
    real: Answer
    embedded: Answer

    def __str__(self) -> str:
        request = self.story.steps[self.number]
        sent = json.dumps(request.body)[:600] if request.body is not None else ""
        lines = [f"{self.story} [request {self.number + 1}]", f"  {self.real.request} {sent}"]
        if request.changed is not None:
            lines.append(f"  with {dict(request.changed)}")
        before, after = (json.dumps(a.shown, indent=1, sort_keys=True).splitlines() for a in (self.real, self.embedded))
        lines += [f"    {line}" for line in difflib.unified_diff(before, after, "real", "embedded", n=2, lineterm="")]
        lines += [f"    real says:     {self.real.message}", f"    embedded says: {self.embedded.message}"]
        return "\n".join(lines)


def accepted() -> dict[str, str]:
    """Reasons by request (`theme: story [request N]`) for the differences we accept."""
    listed = yaml.safe_load(ACCEPTED.read_text()) or []
    return {entry["request"]: entry["reason"] for entry in listed}


def play(story: Story, *, real: Cluster, embedded: Cluster) -> tuple[list[Answer], list[Answer]]:
    """The answers of both servers to one story, played at the same time in namespaces of the same name."""
    namespace = f"d-{secrets.token_hex(3)}"
    with ThreadPoolExecutor(2) as pool:
        playing = [pool.submit(play_one, story, cluster, namespace) for cluster in (real, embedded)]
        return playing[0].result(), playing[1].result()


def play_one(story: Story, cluster: Cluster, namespace: str = "") -> list[Answer]:
    """The answers of one server to one story."""
    try:
        return Player(cluster, namespace or f"d-{secrets.token_hex(3)}").play(story)
    finally:
        cluster.close()


def differences(story: Story, *, real: Cluster, embedded: Cluster) -> Iterator[Difference]:
    """Requests of `story` answered differently, but for those we accept."""
    known = accepted()
    for number, (one, other) in enumerate(zip(*play(story, real=real, embedded=embedded), strict=True)):
        if one.shown != other.shown and f"{story} [request {number + 1}]" not in known:
            yield Difference(story, number, one, other)


def messages(story: Story, *, real: Cluster, embedded: Cluster) -> Iterator[str]:
    """Error messages worded differently: not compared, but good to know."""
    for one, other in zip(*play(story, real=real, embedded=embedded), strict=True):
        if one.message != other.message:
            yield f"{one.request}\n    real:     {one.message}\n    embedded: {other.message}"
