"""Whatever happens to objects and wire, in the end the copy is the server's, and nobody was told nonsense."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kube.faultserver import Fault, FaultServer
from tests.kube.following import Witness, following, same


@dataclass(frozen=True)
class Change:
    act: str
    name: str


@dataclass(frozen=True)
class Scene:
    """Changes that the watch may see; then it breaks, and more changes happen before anybody looks again."""

    seen: list[Change]
    unseen: list[Change]
    forgets: bool
    """Whether the server has forgotten its history by then, so that only a list can tell."""
    watch_faults: list[Fault]
    list_faults: list[Fault]
    bookmark: bool


faults = st.builds(
    Fault,
    kind=st.sampled_from(["close", "gone", "reset", "truncated", "garbage", "hang", "status"]),
    after=st.integers(0, 4),
    status=st.sampled_from([403, 410, 429, 500, 503]),
)
changes = st.lists(
    st.builds(Change, act=st.sampled_from(["put", "put", "remove", "anew"]), name=st.sampled_from("abc")), max_size=5
)
scenes = st.builds(
    Scene,
    seen=changes,
    unseen=changes,
    forgets=st.booleans(),
    watch_faults=st.lists(faults, max_size=2),
    list_faults=st.lists(faults, max_size=1),
    bookmark=st.booleans(),
)


def change(server: FaultServer, wish: Change) -> None:
    held = ("default", wish.name) in server.objects
    if held and wish.act in ("remove", "anew"):
        server.remove(wish.name)
    if not (held and wish.act == "remove"):
        server.put(wish.name, n=str(server.version))


async def play(scene: Scene, server: FaultServer, witness: Witness) -> None:
    for wish in scene.seen:
        change(server, wish)
        await server.announce()
    # Mostly the copy catches up here, so that what follows happens to objects it holds; it need not.
    with suppress(TimeoutError):
        await witness.until(same(server, witness), within_s=0.2)
    server.watch_faults.extend(scene.watch_faults)
    server.list_faults.extend(scene.list_faults)
    server.bookmark_now = scene.bookmark
    server.drop_connections()
    for wish in scene.unseen:
        change(server, wish)
    if scene.forgets:
        server.compact()
    await server.announce()


def check_lives(witness: Witness) -> None:
    """Each uid appears once, then changes, then is gone at most once: no lost deletion, no double appearance."""
    lives: dict[str, list[str]] = {}
    for what, _, uid in witness.told:
        lives.setdefault(uid, []).append(what)
    for uid, life in lives.items():
        assert life[0] == "appeared", (uid, life)
        assert life.count("appeared") == 1, (uid, life)
        assert "gone" not in life[:-1], (uid, life)


async def live(story: list[Scene], watch_list: bool) -> None:
    server = FaultServer(watch_list=watch_list)
    async with following(server, idle_s=0.05, initial_idle_s=0.05) as (_, witness):
        for scene in story:
            await play(scene, server, witness)
        server.watch_faults.clear()
        server.list_faults.clear()
        server.put("last")
        await server.announce()
        await witness.until(same(server, witness))
        check_lives(witness)


@settings(max_examples=30, deadline=None)
@given(story=st.lists(scenes, min_size=1, max_size=4), watch_list=st.booleans())
def test_the_copy_ends_as_the_servers_and_every_handler_saw_a_consistent_story(
    story: list[Scene], watch_list: bool
) -> None:
    asyncio.run(live(story, watch_list))
