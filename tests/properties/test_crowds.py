"""The laws where nearly everybody wants more than there is. The seeds are the same in every run: `make test` plays the
first of them, `make laws` ten thousand."""

from __future__ import annotations

import os

import pytest

from tests.properties.crowds import Crowd

EXAMPLES = int(os.environ.get("TIDEGATE_HISTORIES", "30"))
TOGETHER = 250


def laws_broken_by(seed: int) -> str | None:
    try:
        Crowd(seed).play()
    except AssertionError as error:
        return f"crowd {seed}: {error}"
    return None


@pytest.mark.parametrize("first", range(0, EXAMPLES, TOGETHER))
def test_every_plan_in_a_crowd_keeps_the_laws(first: int) -> None:
    seeds = range(first, min(first + TOGETHER, EXAMPLES))
    assert not [told for seed in seeds if (told := laws_broken_by(seed))]


@pytest.mark.parametrize(
    ("seed", "story"),
    [
        (518, "all growth was withdrawn where its last step would have been enough, and asked again"),
        (813, "what those below a node gave each other was thought to make it hold more"),
        (2980, "a floor that its own Queue had made room for lived on what others had given for growth that it took"),
        (4903, "growth beyond a due stayed, since what could have gone back had been taken for another"),
        (5413, "a queue under a limit that lost a pod did not grow elsewhere in the same plan"),
        (6756, "who gave way for growth was told that its pods were not wanted, as those of the other pod set"),
        (1284, "who got back part of what it lost was taken for one that got and lost, and the plan ended too early"),
        (4329, "what others gave was said to be given on while who has it needs it"),
        (9010, "what others gave for a floor, which went again as the plan went on, was told to be for that floor"),
        (9057, "who got back its own in the end had others give for what it had got meanwhile"),
        (10743, "what had been given on was given for another again after it was looked whether it could go back"),
        (11815, "who gave fairly was said to give by priority, to one whose priority is not higher"),
        (13040, "what a queue gave for another below its node was said to be given for one outside of it"),
        (13366, "inside a guarantee that others have, too, a share says nothing of who is below its due"),
        (15777, "one that got and lost something was left out of a plan, and got it by the next"),
        (15913, "pods that still leave for a lost node kept one from getting back what was not needed"),
        (16177, "who got back what had been taken from it was left out as if it had got and lost something"),
        (16448, "what had to go and could stay in the end lifted a queue above its due, for which a whole floor went"),
        (18833, "with the last step of two went what others had given for the first"),
        (20712, "who took from one on hold let the due of others sink, and they took by the old one in the same pass"),
        (24605, "who had more than its due of what is promised twice, and less of all together, was taken from"),
        (
            25529,
            "who could take from others once its own had given was not asked again when those grew beyond their due",
        ),
        (1016, "what was left of a floor let a queue grow beyond its due, whose other gift could have gone back"),
        (1033, "a queue on hold was shrunk, wanted less, and so others deserved more in the next plan"),
        (1043, "a step over two flavors was taken from one that had just grown: its old pod was moved for nothing"),
        (1092, "what was withdrawn once might be had after all, and was taken by the next plan"),
        (1377, "what its own Queue gave was said to be for another, as if in one Queue"),
    ],
)
def test_crowds_that_once_did(seed: int, story: str) -> None:
    assert not laws_broken_by(seed), story
