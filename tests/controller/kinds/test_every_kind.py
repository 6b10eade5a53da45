"""Every kind of the table, from submission to its end, by its entry alone."""

from __future__ import annotations

import pytest

from tests.controller.house import House
from tests.controller.kinds.life import Life
from tests.harness import Cluster
from tests.model.jobs.samples import KINDS, sample
from tidegate.model.jobs import builtin

QUEUED = [kind for kind in KINDS if builtin().of(sample(kind)).makes is None]


@pytest.mark.parametrize("kind", QUEUED)
async def test_every_kind_is_admitted_runs_is_evicted_comes_back_and_ends(
    cluster: Cluster, house: House, kind: str
) -> None:
    life = Life(house, kind, real=cluster.name == "real")
    await life.begin()
    await life.runs()
    if kind != "Pod":  # A single pod that was taken away is nobody's to bring back.
        await life.evicted()
        await life.comes_back()
    await life.ends()
